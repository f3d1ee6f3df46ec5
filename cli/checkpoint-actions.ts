/** What `kgwalk checkpoint` does; a file of its own so that `--help` loads none of it. */
import { resolve } from 'node:path';
import { readCheckpoint, weightsOnly, writeCheckpoint } from '../checkpoints/checkpoint.js';
import { modelCard } from '../checkpoints/model-card.js';
import { readIndex, resolveCheckpoint } from '../checkpoints/store.js';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import { runsFolder } from '../src/run/locations.js';
import { openRun } from '../src/run/run-folder.js';
import { printJson, printLine, printTable } from './output.js';

/** Whether programs read the output. */
export interface JsonOption {
  json?: boolean;
}

/** Where an exported checkpoint goes. */
export interface ExportOptions extends JsonOption {
  to: string;
}

/** Figures of a checkpoint that the table shows: the first of its valid evaluation, and the loss. */
const listedMetrics = 4;

/** The checkpoints of a run, and which of them `best`, `last` and `clone` name. */
export function list(run: string, { json }: JsonOption): void {
  const { checkpoints, ...pointers } = readIndex(openRun(run, runsFolder()).folder);
  const names = Object.entries(pointers).map(([pointer, { name }]) => [pointer, name] as const);
  if (json) return printJson({ ...Object.fromEntries(names), checkpoints });
  printTable(
    checkpoints.map(({ name, phase, step, metrics }) => ({
      name,
      phase,
      step,
      ...Object.fromEntries(
        Object.entries(metrics)
          .slice(0, listedMetrics)
          .map(([key, value]) => [key, Number(value.toFixed(4))]),
      ),
      is: names.flatMap(([pointer, to]) => (to === name ? [pointer] : [])).join(' '),
    })),
  );
}

/** The model card of a checkpoint; its header and shapes as JSON. */
export function show(run: string, which: string, { json }: JsonOption): void {
  const { name, file } = resolveCheckpoint(openRun(run, runsFolder()).folder, which);
  const checkpoint = readCheckpoint(file);
  if (!json) return printLine(modelCard(name, checkpoint).trimEnd());
  const shapes = Object.entries(checkpoint.tensors).map(([tensor, { shape }]) => [tensor, shape]);
  printJson({ name, file, header: checkpoint.header, tensors: Object.fromEntries(shapes) });
}

/** Writes weights and header to a file of the user's, with the model card beside it. */
export function exportTo(run: string, which: string, { to, json }: ExportOptions): void {
  if (!to.endsWith('.safetensors')) {
    throw new WorkbenchError('usage', `expected a name that ends in .safetensors, got ${to}, at --to`);
  }
  const { name, file } = resolveCheckpoint(openRun(run, runsFolder()).folder, which);
  const checkpoint = weightsOnly(readCheckpoint(file, { finite: true }));
  const weights = resolve(to);
  const card = weights.replace(/\.safetensors$/, '.md');
  writeCheckpoint(weights, checkpoint);
  writeFileAtomic(card, modelCard(name, checkpoint));
  if (json) printJson({ weights, card });
  else [weights, card].forEach((path) => printLine(path));
}
