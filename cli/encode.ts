/** `kgwalk encode`: encodes the texts of a training run in advance. */
import type { Command } from 'commander';
import { printJson, printLine } from './output.js';
import { minutesOf, repeatable } from './options.js';
import type { TrainFlags } from './planned-runs.js';

type EncodeFlags = Pick<TrainFlags, 'model' | 'set' | 'seed' | 'maxMinutes' | 'json'> & {
  later?: boolean;
};

/** Adds `kgwalk encode`. */
export function register(program: Command): void {
  program
    .command('encode')
    .description('encode the texts of a training run in advance and cache their vectors')
    .argument('[preset]', 'a YAML file or the name of a built-in preset (default: opendialkg)')
    .option('--model <model>', 'text encoder, as for `kgwalk train`')
    .option('--set <key=value>', 'change a setting, such as data.graph=wide; repeatable', repeatable, [])
    .option('--seed <n>', 'the run’s seed')
    .option('--later', 'with per-step text: also encode all states after one step')
    .option('--max-minutes <n>', 'stop after this many minutes and keep the vectors', minutesOf)
    .option('--json', 'print JSON')
    .action(encode);
}

/** Texts per batch; bounds memory. */
const atOnce = 4096;

async function encode(preset: string | undefined, { later = false, ...flags }: EncodeFlags): Promise<void> {
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
      for (let from = 0; from < count; from += atOnce) {
        const batch = await texts(from, Math.min(from + atOnce, count));
        await encodeWithProgress(encoder, batch, { label: 'encode texts', progress, signal, ...options });
      }
      asked += count;
    }
    const { encodes, tokens } = encoder.counters;
    if (flags.json) return printJson({ texts: asked, encoded: encodes, tokens, encoder: encoder.id });
    printLine(`${asked} texts: ${encodes} encoded by ${encoder.name}, the others were cached`);
  } finally {
    await encoder.dispose();
  }
}
