/** `kgwalk checkpoint list|show|export`: the checkpoints of a run. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readCheckpoint, weightsOnly, writeCheckpoint } from '../checkpoints/checkpoint.js';
import { modelCard } from '../checkpoints/model-card.js';
import { readIndex, resolveCheckpoint } from '../checkpoints/store.js';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import { runsFolder } from '../src/run/locations.js';
import { openRun } from '../src/run/run-folder.js';
import { printJson, printLine, printTable } from './output.js';

interface JsonOption {
  json?: boolean;
}

const listedMetrics = ['eval/path@1', 'eval/target@1', 'eval/loss'];

export function register(program: Command): void {
  const command = program.command('checkpoint').description('list, show and export the checkpoints of a run');
  const which = ['[name]', 'best, last, clone, a step or a name of the list', 'best'] as const;
  command
    .command('list')
    .description('the checkpoints that were kept')
    .argument('<run>', 'name or folder of a run')
    .option('--json', 'as JSON')
    .action(list);
  command
    .command('show')
    .description('what a checkpoint is, was trained on and scores')
    .argument('<run>', 'name or folder of a run')
    .argument(...which)
    .option('--json', 'its header and the shapes of its tensors as JSON')
    .action(show);
  command
    .command('export')
    .description(
      'weights and header, without the state of training, as one safetensors file with a model card beside it',
    )
    .argument('<run>', 'name or folder of a run')
    .argument(...which)
    .requiredOption('--to <file>', 'where to write, ending in .safetensors')
    .option('--json', 'the paths as JSON')
    .action(exportTo);
}

function list(run: string, { json }: JsonOption): void {
  const { checkpoints, ...pointers } = readIndex(openRun(run, runsFolder()).folder);
  const names = Object.entries(pointers).map(([pointer, { name }]) => [pointer, name] as const);
  if (json) return printJson({ ...Object.fromEntries(names), checkpoints });
  printTable(
    checkpoints.map(({ name, phase, step, metrics }) => ({
      name,
      phase,
      step,
      ...Object.fromEntries(listedMetrics.map((key) => [key, metrics[key] && Number(metrics[key].toFixed(4))])),
      is: names.flatMap(([pointer, to]) => (to === name ? [pointer] : [])).join(' '),
    })),
  );
}

function show(run: string, which: string, { json }: JsonOption): void {
  const { name, file } = resolveCheckpoint(openRun(run, runsFolder()).folder, which);
  const checkpoint = readCheckpoint(file);
  if (!json) return printLine(modelCard(name, checkpoint).trimEnd());
  const shapes = Object.entries(checkpoint.tensors).map(([tensor, { shape }]) => [tensor, shape]);
  printJson({ name, file, header: checkpoint.header, tensors: Object.fromEntries(shapes) });
}

function exportTo(run: string, which: string, { to, json }: JsonOption & { to: string }): void {
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
