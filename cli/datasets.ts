/** `kgwalk datasets …`: importing, listing, describing and checking data sets. */
import type { Command } from 'commander';
import type { LinkManifest } from '../datasets/links/link-dataset.js';
import type { DialogueManifest } from '../datasets/dialogues/dialogue-dataset.js';
import type { QuestionManifest } from '../datasets/questions/question-manifest.js';
import { printDialogueStatistics } from './dialogues/dataset-tables.js';
import { printLinkStatistics } from './links/dataset-tables.js';
import { printJson, printLine, printTable, type Row } from './output.js';
import { registerCheck } from './datasets-check.js';
import { registerDemo } from './datasets-demo.js';
import { registerGet } from './datasets-get.js';
import type { ImportFlags } from './datasets-import.js';
import { printQuestionStatistics } from './questions/dataset-tables.js';

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
    .option('--name <name>', 'name to import under (default: the format)')
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
  const { listDialogueDatasets } = await import('../datasets/dialogues/dialogue-dataset.js');
  const { listQuestionDatasets } = await import('../datasets/questions/question-dataset.js');
  const { listLinkDatasets } = await import('../datasets/links/link-dataset.js');
  const all = [...listDialogueDatasets(), ...listQuestionDatasets(), ...listLinkDatasets()];
  const manifests = all.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (json) printJson(manifests);
  else if (manifests.length === 0)
    printLine('none; make one: kgwalk datasets demo; get one: kgwalk datasets get opendialkg');
  else printTable(manifests.map(rowOf));
}

function rowOf(manifest: DialogueManifest | QuestionManifest | LinkManifest): Row {
  if (!('kind' in manifest)) return dialogueRow(manifest);
  return manifest.kind === 'links' ? linkRow(manifest) : questionRow(manifest);
}

function linkRow({ name, splits, licence }: LinkManifest): Row {
  const { train, valid, test } = splits;
  return { name, holds: `links ${train.triples} / ${valid.triples} / ${test.triples}`, graphs: 'train', licence };
}

function dialogueRow({ name, splits, graphs, licence }: DialogueManifest): Row {
  const samples = Object.values(splits).map(({ paths }) => paths);
  return { name, holds: `paths ${samples.join(' / ')}`, graphs: Object.keys(graphs).join(', '), licence };
}

function questionRow({ name, subsets, labels, graphs, licence }: QuestionManifest): Row {
  const counts = Object.entries(subsets).map(([subset, { files }]) => {
    const questions = Object.values(files).reduce((sum, file) => sum + file.questions, 0);
    return `${subset} ${questions}`;
  });
  const holds = ['questions', counts.join(', '), ...labels.map((label) => `(${label})`)].join(' ');
  return { name, holds, graphs: Object.keys(graphs).join(', '), licence };
}

async function describeOne(text: string, { graph, json }: StatsFlags): Promise<void> {
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { loadQuestionDataset, parseDatasetName } = await import('../datasets/questions/question-dataset.js');
  const { name, subsets } = parseDatasetName(text);
  const kind = datasetKind(name);
  if (kind === 'links') {
    const { loadLinkDataset } = await import('../datasets/links/link-dataset.js');
    const { linkStatistics } = await import('../datasets/links/link-statistics.js');
    const statistics = linkStatistics(await loadLinkDataset(text));
    if (json) printJson(statistics);
    else printLinkStatistics(statistics);
    return;
  }
  if (kind === 'questions') {
    const { questionStatistics } = await import('../datasets/questions/question-statistics.js');
    const statistics = await questionStatistics(loadQuestionDataset(name), subsets);
    if (json) printJson(statistics);
    else printQuestionStatistics(statistics);
    return;
  }
  const { loadDialogueDataset } = await import('../datasets/dialogues/dialogue-dataset.js');
  const { dialogueStatistics } = await import('../datasets/dialogues/dialogue-statistics.js');
  const statistics = await dialogueStatistics(loadDialogueDataset(text), graph);
  if (json) printJson(statistics);
  else printDialogueStatistics(statistics);
}
