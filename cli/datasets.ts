/** `kgwalk datasets …`: importing, listing, describing and checking data sets. */
import type { Command } from 'commander';
import { registerCheck } from './datasets-check.js';
import { registerDemo } from './datasets-demo.js';
import { registerGet } from './datasets-get.js';
import type { ImportFlags } from './datasets-import.js';
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
      'read a release from its files; replaces a data set of the same name when all went well. Formats: opendialkg, metaqa, pathquestion, webqsp, webquestions, mooc, custom (your own triples and questions), triples (train, valid and test of links, or one file of triples)',
    )
    .requiredOption('--from <dir>', 'folder with the files of the release; of triples also one file')
    .option('--name <name>', 'name to import under (default: the format; of triples, the name of the folder or file)')
    .option('--no-labels', 'custom N-Triples: keep labels as edges instead of taking them as names and aliases')
    .option('--allow-overlap', 'triples: keep and count triples that stand in two splits, instead of refusing them')
    .option('--json', 'print the manifest as JSON')
    .action(async (format: string, flags: ImportFlags) =>
      (await import('./datasets-import.js')).importRelease(format, flags),
    );
  registerGet(datasets);
  registerDemo(datasets);
  datasets
    .command('list')
    .description('imported data sets')
    .option('--json', 'print the manifests as JSON')
    .action(listAll);
  datasets
    .command('stats <name>')
    .description(
      'sizes, difficulty, coverage; for questions (NAME or NAME/SUBSET) splits, templates and how far gold chains carry; for links hubs, answers and relations',
    )
    .option('--graph <graph>', 'which graph of dialogues', 'dialogue')
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
