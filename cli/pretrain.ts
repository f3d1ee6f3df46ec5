/** `kgwalk pretrain PRESET`: entity and relation vectors of a graph, kept for every run that fits them. */
import type { Command } from 'commander';
import { terminalProgress } from '../src/run/progress.js';
import { interruptSignal } from './interrupt.js';
import { printJson, printLine } from './output.js';
import { repeatable } from './repeatable.js';
import { addThreadsOption, threadsOf } from './threads.js';

interface PretrainFlags {
  set: string[];
  seed?: string;
  dataset?: string;
  graph?: string;
  threads?: string;
  json?: boolean;
}

/** Adds `pretrain` to `program`. */
export function register(program: Command): void {
  const command = program
    .command('pretrain')
    .description('train the vectors of a graph (TransE) that `train` and the transe baseline use')
    .argument('<preset>', 'name or YAML file of a preset')
    .option('--set <key=value>', 'override a setting, such as transe.dim=200; repeatable', repeatable, [])
    .option('--seed <n>', 'override the seed')
    .option('--dataset <name>', 'override data.dataset')
    .option('--graph <name>', 'override data.graph')
    .option('--json', 'print JSON');
  addThreadsOption(command, 'batches (transe.batchSize above 1) and validation').action(pretrain);
}

async function pretrain(preset: string, options: PretrainFlags): Promise<void> {
  const { set, seed, dataset, graph, json } = options;
  const threads = threadsOf(options.threads);
  const { loadPreset } = await import('../presets/index.js');
  const { loadDataset } = await import('../datasets/registry.js');
  const { pretrainEmbeddings } = await import('../trainers/transe/pretrain.js');
  const { dialogueTriples } = await import('../trainers/transe/dialogue-triples.js');
  const flags = { seed, 'data.dataset': dataset, 'data.graph': graph };
  const given = Object.entries(flags).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]));
  const settings = loadPreset(preset, [...set, ...given]);
  const data = loadDataset(settings.data.dataset);
  const walked = await data.loadGraph(settings.data.graph);
  const { file, reused, metrics, history } = await pretrainEmbeddings(walked, {
    settings: settings.transe,
    seed: settings.seed,
    exclude: dialogueTriples(data, walked),
    threads,
    progress: terminalProgress(),
    signal: interruptSignal(),
  });
  if (json) return printJson({ file, reused, epochs: history.length, metrics });
  printLine(`${reused ? 'kept from before' : `trained in ${history.length} epochs`}: ${file}`);
  if (metrics) {
    const shares = (['mrr', 'hits@1', 'hits@3', 'hits@10'] as const).map((key) => `${key} ${metrics[key].toFixed(3)}`);
    printLine(`held-out facts, filtered: ${shares.join('  ')}  (${metrics.n} queries)`);
  }
}
