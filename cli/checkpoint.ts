/** `kgwalk checkpoint list|show|export|import`: the checkpoints of a run. */
import { resolve, join } from 'node:path';
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine, printTable, printNote } from './output.js';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { repeatable } from './options.js';

type JsonOption = { json?: boolean };

interface ExportOptions extends JsonOption {
  to: string;
}

/** Adds `kgwalk checkpoint`. */
export function register(program: Command): void {
  const command = program
    .command('checkpoint')
    .description('list, show and export the checkpoints of a run; import a policy of Stable-Baselines3');
  const which = ['[name]', 'best, last, clone, a step or a name of the list', 'best'] as const;
  command
    .command('list')
    .description('list the checkpoints that were kept')
    .argument('<run>', 'name or folder of a run')
    .option('--json', 'as JSON')
    .action(list);
  command
    .command('show')
    .description('show what a checkpoint is, what it was trained on and how it scores')
    .argument('<run>', 'name or folder of a run')
    .argument(...which)
    .option('--tensors', 'show its tensors and their shapes as well')
    .option('--settings', 'show the settings it was trained with as well')
    .option('--json', 'print its header and tensor shapes as JSON')
    .action(show);
  command
    .command('export')
    .description(
      'write weights and header, without the training state, to a safetensors file with a model card next to it; or of llm-policy, an adapter that llama.cpp loads with the model',
    )
    .argument('<run>', 'name or folder of a run')
    .argument(...which)
    .requiredOption('--to <file>', 'where to write, ending in .safetensors, or for an adapter in .gguf')
    .option('--json', 'the paths as JSON')
    .action(exportTo);
  registerImport(command);
}

/** Checkpoints of a run, with the targets of `best`, `last` and `clone`. */
async function list(run: string, { json }: JsonOption): Promise<void> {
  const { readIndex } = await import('../checkpoints/store.js');
  const { checkpoints, ...pointers } = readIndex(await folderOf(run));
  const names = Object.entries(pointers).map(([pointer, { name }]) => [pointer, name] as const);
  if (json) return printJson({ ...Object.fromEntries(names), checkpoints });
  const keys = [...new Set(checkpoints.flatMap(({ metrics }) => Object.keys(metrics)))];
  const isLoss = (key: string) => key.endsWith('loss');
  const listed = [...keys.filter((key) => !isLoss(key)).slice(0, 3), ...keys.filter(isLoss)];
  printTable(
    checkpoints.map(({ name, phase, step, metrics }) => ({
      name,
      phase,
      step,
      ...Object.fromEntries(listed.map((key) => [key, metrics[key] && Number(metrics[key].toFixed(4))])),
      is: names.flatMap(([pointer, to]) => (to === name ? [pointer] : [])).join(' '),
    })),
  );
}

/** The model card of a checkpoint; its header and shapes as JSON. */
async function show(
  run: string,
  which: string,
  { json, tensors = false, settings = false }: JsonOption & { tensors?: boolean; settings?: boolean },
): Promise<void> {
  const { modelCard } = await import('../checkpoints/model-card.js');
  const { entry, ...checkpoint } = await checkpointOf(run, which);
  const { name, file } = entry;
  if (!json) return printLine(modelCard(name, checkpoint, { tensors, settings }).trimEnd());
  const shapes = Object.entries(checkpoint.tensors).map(([tensor, { shape }]) => [tensor, shape]);
  printJson({ name, file, header: checkpoint.header, tensors: Object.fromEntries(shapes) });
}

/** Writes weights and header to a user's file, with the model card next to it. */
async function exportTo(run: string, which: string, { to, json }: ExportOptions): Promise<void> {
  const adapter = to.endsWith('.gguf');
  if (!adapter && !to.endsWith('.safetensors')) {
    throw new WorkbenchError('usage', `expected a name that ends in .safetensors or .gguf, got ${to}, at --to`);
  }
  if (adapter) {
    const { exportAdapter } = await import('../agents/relation-walker/language/export-adapter.js');
    const written = resolve(to);
    exportAdapter(await folderOf(run), which, written);
    return json ? printJson({ adapter: written }) : printLine(written);
  }
  const { weightsOnly, writeCheckpoint } = await import('../checkpoints/checkpoint.js');
  const { frontMatter, modelCard } = await import('../checkpoints/model-card.js');
  const { writeFileAtomic } = await import('../src/run/files.js');
  const { entry, ...read } = await checkpointOf(run, which, { finite: true });
  const checkpoint = weightsOnly(read);
  const weights = resolve(to);
  const card = weights.replace(/\.safetensors$/, '.md');
  writeCheckpoint(weights, checkpoint);
  const licence = await licenceOf(checkpoint.header.config);
  writeFileAtomic(card, `${frontMatter(entry.name, checkpoint, licence)}\n${modelCard(entry.name, checkpoint)}`);
  if (json) printJson({ weights, card });
  else [weights, card].forEach((path) => printLine(path));
}

/** Licence of the data set in a checkpoint's settings, if it is imported here. */
async function licenceOf({ data }: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const { dataset } = (data ?? {}) as { dataset?: unknown };
  const { listDatasets } = await import('../datasets/dataset.js');
  const name = typeof dataset === 'string' ? dataset.split('/')[0] : undefined;
  return listDatasets().find((known) => known.name === name)?.licence;
}

async function folderOf(run: string): Promise<string> {
  const { openRun } = await import('../src/run/run-folder.js');
  return openRun(run).folder;
}

async function checkpointOf(run: string, which: string, options: { finite?: boolean } = {}) {
  const { readRunCheckpoint } = await import('../checkpoints/chain.js');
  return readRunCheckpoint(await folderOf(run), which, options);
}

type ImportFlags = { env: string; option: string[]; runDir?: string; json?: boolean };

function registerImport(checkpoint: Command): void {
  checkpoint
    .command('import')
    .description('import a policy as a run: sb3 (dense tanh layers of PPO and MaskablePPO)')
    .argument('<format>', 'sb3')
    .argument('<file>', 'safetensors, written by export_sb3 of clients/python')
    .requiredOption('--env <id>', 'environment that it was trained in, such as kgwalk/CartPole-v1')
    .option('--option <key=value>', 'an option of the environment, such as size=7; repeatable', repeatable, [])
    .option('--run-dir <dir>', 'the run’s folder; default runs/sb3-TIME-s0')
    .option('--json', 'the folder and the mean return as JSON')
    .action(importPolicy);
}

async function importPolicy(format: string, file: string, { env, option, runDir, json }: ImportFlags): Promise<void> {
  if (format !== 'sb3') throw new WorkbenchError('usage', `expected sb3, got ${format}, at checkpoint import`);
  const { importSb3 } = await import('../tasks/episodes/import-sb3.js');
  const { optionsOf } = await import('../serve/env/open-environment.js');
  const { runsFolder } = await import('../src/run/locations.js');
  const { runId } = await import('../src/run/run-folder.js');
  const folder = runDir === undefined ? join(runsFolder(), runId('sb3', 0)) : resolve(runDir);
  const options = optionsOf(option);
  const mean = await importSb3({
    ...{ file, folder },
    env: { id: env, ...(Object.keys(options).length > 0 && { options }) },
  });
  if (json) return printJson({ run: folder, return: mean });
  printLine(folder);
  const next = commandLine('evaluate', shownPath(folder), '--split', 'test');
  printNote(`return ${mean.toFixed(2)} on the episodes of valid\n${next}`);
}
