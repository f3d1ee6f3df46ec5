/** `kgwalk datasets demo`: generates the demo world and imports it, or writes its files. */
import type { Command } from 'commander';
import { commandProgress } from './progress.js';
import { printJson, printLine, printShown } from './output.js';

type SizeFlags = Partial<Record<'seed' | 'entities' | 'triples' | 'dialogues' | 'questions', string>>;

interface DemoFlags extends SizeFlags {
  name: string;
  write?: string;
  json?: boolean;
}

/** Adds `datasets demo`. */
export function registerDemo(datasets: Command): void {
  datasets
    .command('demo')
    .description(
      'make a world of invented films, books, music, sports and places, and import it as two data sets: NAME (dialogues) and NAME-questions. Same seed, same bytes',
    )
    .option('--seed <n>', 'seed of everything (default 1)')
    .option('--entities <n>', 'roughly how many (default 3000; scaled to --triples if only that is given)')
    .option('--triples <n>', 'roughly how many, counting both directions (default 20000; scaled to --entities)')
    .option('--dialogues <n>', 'number, 0 for none (default 1200)')
    .option('--questions <n>', 'roughly how many, 0 for none (default 4000)')
    .option('--name <name>', 'name to import under', 'demo')
    .option('--write <dir>', 'write files for `datasets import opendialkg` and `custom` instead; triples are streamed')
    .option('--json', 'print the manifests as JSON')
    .action(makeDemo);
}

async function makeDemo({ name, write, json, ...flags }: DemoFlags): Promise<void> {
  const settings = await settingsOf(flags);
  const progress = commandProgress();
  if (write !== undefined) {
    const { writeDemoRelease } = await import('../datasets/demo/write-release.js');
    const line = progress('triples', settings.triples, 'triples');
    const written = writeDemoRelease(write, settings, { line });
    line.finish();
    if (json) printJson(written);
    else
      printLine(
        `wrote ${written.triples} triples, ${written.dialogues} dialogues and ${written.questions} questions to ${write}`,
      );
    return;
  }
  const { importDemo } = await import('../datasets/demo/import.js');
  const imported = await importDemo({ settings, name, progress });
  if (json) {
    printJson(imported);
    return;
  }
  const { loadTask } = await import('../tasks/index.js');
  if (imported.dialogues) printShown((await loadTask('dialogues')).imported(imported.dialogues as never));
  if (imported.dialogues && imported.questions) printLine();
  if (imported.questions) printShown((await loadTask('questions')).imported(imported.questions as never));
}

/** Settings from the flags; if only one size is given, the other keeps the demo's density. */
async function settingsOf({ seed, entities, triples, dialogues, questions }: SizeFlags) {
  const { demoSettings } = await import('../datasets/demo/schema.js');
  const { loadConfig } = await import('../src/run/config.js');
  const given = Object.entries({ seed, entities, triples, dialogues, questions });
  const overrides = given.flatMap(([key, text]) => (text === undefined ? [] : [`${key}=${text}`]));
  const settings = loadConfig(demoSettings, { overrides });
  if ((entities === undefined) === (triples === undefined)) return settings;
  const density = demoSettings.shape.triples.parse(undefined) / demoSettings.shape.entities.parse(undefined);
  const other =
    entities === undefined
      ? { entities: Math.max(200, Math.round(settings.triples / density)) }
      : { triples: Math.round(settings.entities * density) };
  return { ...settings, ...other };
}
