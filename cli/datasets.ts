/** `kgwalk datasets …`: importing, listing, describing and checking data sets. */
import type { Command } from 'commander';
import { registerCheck } from './datasets-check.js';
import { registerDemo } from './datasets-demo.js';
import { registerGet } from './datasets-get.js';
import { type ImportFlags, shareOf } from './datasets-import.js';
import { printJson, printLine, printShown, printTable } from './output.js';

interface StatsFlags {
  graph: string;
  json?: boolean;
}

/** Adds the `datasets` commands to `program`. */
export function register(program: Command): void {
  const datasets = program.command('datasets').description('import, list, describe and check data sets');
  datasets
    .command('import <format>')
    .description(
      'import a release from its files; it replaces a data set of the same name once everything has been read. Formats: opendialkg, metaqa, pathquestion, webqsp, webquestions, mooc, custom (your own triples and questions), triples (links split into train, valid and test, or a single file of triples)',
    )
    .requiredOption('--from <dir>', 'folder with the files of the release; for triples, a single file will do')
    .option(
      '--name <name>',
      'name to import it under (default: the format; for triples, the name of the folder or file)',
    )
    .option('--no-labels', 'custom RDF: keep labels as edges instead of using them as names and aliases')
    .option('--allow-overlap', 'triples: keep and count triples that occur in two splits instead of refusing them')
    .option(
      '--unseen <share>',
      'triples: draw this share of the entities, such as 0.33, into a separate data set, NAME-unseen, that shares relations alone: walkers and rules of NAME can be asked there',
      shareOf('--unseen'),
    )
    .option(
      '--unseen-relations <share>',
      'triples, with --unseen: draw this share of the relations apart, too; NAME has no triple of them, and NAME-unseen asks for them alone',
      shareOf('--unseen-relations'),
    )
    .option('--json', 'print the manifest as JSON')
    .action(async (format: string, flags: ImportFlags) =>
      (await import('./datasets-import.js')).importRelease(format, flags),
    );
  registerGet(datasets);
  registerDemo(datasets);
  datasets
    .command('list')
    .description('list the imported data sets')
    .option('--json', 'print the manifests as JSON')
    .action(listAll);
  datasets
    .command('stats <name>')
    .description(
      'show sizes, difficulty and coverage; for questions (NAME or NAME/SUBSET) also splits, templates and how far gold chains get; for links also hubs, answers and relations',
    )
    .option('--graph <graph>', 'for dialogues: which graph', 'dialogue')
    .option('--json', 'print everything as JSON')
    .action(describeOne);
  registerCheck(datasets);
}

async function listAll({ json }: { json?: boolean }): Promise<void> {
  const { loadTask } = await import('../tasks/index.js');
  const { kindOf, listDatasets } = await import('../datasets/dataset.js');
  const manifests = listDatasets().sort((a, b) => (a.name < b.name ? -1 : 1));
  if (json) return printJson(manifests);
  if (manifests.length === 0)
    return printLine('none; make one: kgwalk datasets demo; get one: kgwalk datasets get opendialkg');
  const rows = manifests.map(async (manifest) => (await loadTask(kindOf(manifest.name))).listed(manifest as never));
  printTable(await Promise.all(rows));
}

async function describeOne(text: string, { graph, json }: StatsFlags): Promise<void> {
  const { kindOf } = await import('../datasets/dataset.js');
  const { loadTask } = await import('../tasks/index.js');
  const task = await loadTask(kindOf(text));
  printShown(await task.statistics(text, { graph }), json);
}
