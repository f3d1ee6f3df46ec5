/** `kgwalk encode`: the texts of a training ahead of it, or a part of them. */
import type { Command } from 'commander';
import { type Shard, shardRange } from '../src/run/shards.js';
import { printJson, printLine } from './output.js';
import { addShardOption, minutesOf, repeatable } from './options.js';
import type { TrainFlags } from './planned-runs.js';

type EncodeFlags = Pick<TrainFlags, 'model' | 'set' | 'seed' | 'maxMinutes' | 'json'> & {
  shard?: Shard;
  later?: boolean;
};

/** Adds `kgwalk encode`. */
export function register(program: Command): void {
  const command = program
    .command('encode')
    .description('encode the texts of a training ahead of it; their vectors are kept, and the training finds them')
    .argument('[preset]', 'a YAML file or the name of a built-in preset (default: opendialkg)')
    .option('--model <model>', 'text encoder, as of `kgwalk train`')
    .option('--set <key=value>', 'change a setting, such as data.graph=wide; repeatable', repeatable, [])
    .option('--seed <n>', 'the run’s seed')
    .option('--later', 'where every state of a walk is read by itself: also those after one step, all that there are');
  addShardOption(command, 'encode the i-th of n parts of the texts: one of n machines (docs/models.md)')
    .option('--max-minutes <n>', 'stop after this many minutes; what was encoded is kept', minutesOf)
    .option('--json', 'print JSON')
    .action(encode);
}

/** Texts at once: what is in memory of them, with their vectors. */
const atOnce = 4096;

async function encode(preset: string | undefined, { shard, later = false, ...flags }: EncodeFlags): Promise<void> {
  const { plannedRuns } = await import('./planned-runs.js');
  const { taskOfSettings } = await import('../tasks/index.js');
  const { textLists } = await import('./training-texts.js');
  const { encodeWithProgress, openEncoder } = await import('../src/encoder/open-encoder.js');
  const { cacheFolder } = await import('../src/run/locations.js');
  const { terminalWork } = await import('./terminal.js');
  const [planned] = await plannedRuns(preset, flags);
  const { settings } = planned!;
  const plan = await (await taskOfSettings(settings)).plan(settings);
  const { progress, signal } = terminalWork(flags.maxMinutes);
  const encoder = await openEncoder(settings.encoder, { cacheFolder: cacheFolder() });
  try {
    let asked = 0;
    for (const { count, texts, options } of textLists(plan, settings, encoder, later)) {
      const [begin, end] = shard ? shardRange(count, shard) : [0, count];
      for (let from = begin; from < end; from += atOnce) {
        const own = await texts(from, Math.min(from + atOnce, end));
        await encodeWithProgress(encoder, own, { label: 'encode texts', progress, signal, ...options });
      }
      asked += end - begin;
    }
    const { encodes, tokens } = encoder.counters;
    if (flags.json) return printJson({ texts: asked, encoded: encodes, tokens, encoder: encoder.id });
    const part = shard ? ` of part ${shard.part}/${shard.of}` : '';
    printLine(`${asked} texts${part}: ${encodes} encoded by ${encoder.name}, the others were there`);
  } finally {
    await encoder.dispose();
  }
}
