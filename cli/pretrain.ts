/** `kgwalk pretrain PRESET`: entity and relation vectors of a graph, reused by every run that they fit. */
import type { Command } from 'commander';
import { printShown } from './output.js';
import { addThreadsOption, repeatable } from './options.js';
import { threadsOf } from '../tasks/flags.js';

interface PretrainFlags {
  set: string[];
  seed?: string;
  dataset?: string;
  graph?: string;
  threads?: string;
  test?: boolean;
  json?: boolean;
}

/** Adds `pretrain` to `program`. */
export function register(program: Command): void {
  const command = program
    .command('pretrain')
    .description(
      'train the vectors of a graph that `train` and the baselines use: TransE; for link data also DistMult or ComplEx',
    )
    .argument('<preset>', 'name or YAML file of a preset')
    .option('--set <key=value>', 'override a setting, such as transe.dim=200; repeatable', repeatable, [])
    .option('--seed <n>', 'override the seed')
    .option('--dataset <name>', 'override data.dataset')
    .option('--graph <name>', 'override data.graph')
    .option('--test', 'for link data: print figures on test as well as on valid')
    .option('--json', 'print JSON');
  addThreadsOption(command, 'batches (transe.batchSize above 1) and validation').action(pretrain);
}

async function pretrain(preset: string, options: PretrainFlags): Promise<void> {
  const { set, seed, dataset, graph, test = false } = options;
  const { openPreset } = await import('../presets/index.js');
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { loadTask } = await import('../tasks/index.js');
  const { terminalWork } = await import('./terminal.js');
  const flags = { seed, 'data.dataset': dataset, 'data.graph': graph };
  const given = Object.entries(flags).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]));
  const settings = await openPreset(preset, [...set, ...given]);
  const task = await loadTask(datasetKind(settings.data.dataset));
  const threads = threadsOf(options.threads);
  printShown(await task.pretrain(settings, { threads, test, graph }, terminalWork()), options.json);
}
