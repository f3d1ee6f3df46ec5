/** `kgwalk datasets …`: importing, listing, describing and checking data sets. */
import { stderr } from 'node:process';
import type { Command } from 'commander';
import type { DatasetManifest } from '../datasets/manifest.js';
import type { QuestionManifest } from '../datasets/questions/question-manifest.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';
import { terminalProgress } from '../src/run/progress.js';
import { printDialogueImport, printDialogueStatistics } from './dialogues/dataset-tables.js';
import type { Row } from './output.js';
import { printJson, printLine, printTable } from './output.js';
import { registerDemo } from './datasets-demo.js';
import { printQuestionImport, printQuestionStatistics } from './questions/dataset-tables.js';

interface ImportFlags {
  from: string;
  name?: string;
  labels: boolean;
  json?: boolean;
}

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
      'read a release from its files; replaces a data set of the same name when all went well. Formats: opendialkg, metaqa, pathquestion, webqsp, webquestions, mooc, custom (your own triples and questions)',
    )
    .requiredOption('--from <dir>', 'folder with the files of the release')
    .option('--name <name>', 'name to import under (default: the format)')
    .option('--no-labels', 'custom N-Triples: keep labels as edges instead of taking them as names and aliases')
    .option('--json', 'print the manifest as JSON')
    .action(importDataset);
  registerDemo(datasets);
  datasets
    .command('list')
    .description('imported data sets')
    .option('--json', 'print the manifests as JSON')
    .action(listAll);
  datasets
    .command('stats <name>')
    .description(
      'sizes, difficulty, coverage; for questions (NAME or NAME/SUBSET) splits, templates and how far gold chains carry',
    )
    .option('--graph <graph>', 'which graph of dialogues', 'dialogue')
    .option('--json', 'print everything as JSON')
    .action(describeOne);
  datasets
    .command('check <name>')
    .description('compare files, hashes and counts with what was imported')
    .option('--json', 'print the problems as JSON')
    .action(checkOne);
}

async function importDataset(format: string, { from, name = format, labels, json }: ImportFlags): Promise<void> {
  const { questionImporters } = await import('../datasets/questions/importers.js');
  const options = { from, name, progress: terminalProgress(stderr) };
  if (format === 'opendialkg') {
    const { importOpenDialKg } = await import('../datasets/opendialkg/import.js');
    const manifest = await importOpenDialKg(options);
    if (json) printJson(manifest);
    else printDialogueImport(manifest);
    return;
  }
  const importer = Object.hasOwn(questionImporters, format) ? questionImporters[format] : undefined;
  if (!importer) {
    const formats = ['opendialkg', ...Object.keys(questionImporters)].join(', ');
    throw new WorkbenchError('usage', `expected a format (${formats}), got "${printable(format, 80)}"`, {
      hint: 'Other data in the shape of one of these: import it as that format, with --name NAME.',
    });
  }
  const manifest = await importer.run({ ...options, labels });
  if (json) printJson(manifest);
  else printQuestionImport(manifest);
}

async function listAll({ json }: { json?: boolean }): Promise<void> {
  const { listDatasets } = await import('../datasets/registry.js');
  const { listQuestionDatasets } = await import('../datasets/questions/question-registry.js');
  const manifests = [...listDatasets(), ...listQuestionDatasets()].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (json) printJson(manifests);
  else if (manifests.length === 0) printLine('none; import one: kgwalk datasets import opendialkg --from DIR');
  else printTable(manifests.map((manifest) => ('kind' in manifest ? questionRow(manifest) : dialogueRow(manifest))));
}

function dialogueRow({ name, splits, graphs, licence }: DatasetManifest): Row {
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
  const { datasetKind } = await import('../datasets/manifest-file.js');
  const { loadQuestionDataset, parseDatasetName } = await import('../datasets/questions/question-registry.js');
  const { name, subsets } = parseDatasetName(text);
  if (datasetKind(name) === 'questions') {
    const { questionStatistics } = await import('../datasets/questions/question-statistics.js');
    const statistics = await questionStatistics(loadQuestionDataset(name), subsets);
    if (json) printJson(statistics);
    else printQuestionStatistics(statistics);
    return;
  }
  const { loadDataset } = await import('../datasets/registry.js');
  const { datasetStatistics } = await import('../datasets/statistics.js');
  const statistics = await datasetStatistics(loadDataset(text), graph);
  if (json) printJson(statistics);
  else printDialogueStatistics(statistics);
}

async function checkOne(name: string, { json }: { json?: boolean }): Promise<void> {
  const { datasetKind } = await import('../datasets/manifest-file.js');
  const { files, problems } = await (datasetKind(name) === 'questions' ? checkQuestions(name) : checkDialogues(name));
  if (json) printJson({ name, problems });
  if (problems.length > 0) {
    throw new WorkbenchError('data', problems.join('\n'), { hint: 'Import the data set again.' });
  }
  if (!json) printLine(`${name}: ${files} files as imported`);
}

async function checkDialogues(name: string) {
  const { loadDataset } = await import('../datasets/registry.js');
  const { checkDataset } = await import('../datasets/check.js');
  const dataset = loadDataset(name);
  return { files: Object.keys(dataset.manifest.files).length, problems: await checkDataset(dataset) };
}

async function checkQuestions(name: string) {
  const { loadQuestionDataset } = await import('../datasets/questions/question-registry.js');
  const { checkQuestionDataset } = await import('../datasets/questions/check-question-dataset.js');
  const dataset = loadQuestionDataset(name);
  return { files: Object.keys(dataset.manifest.files).length, problems: await checkQuestionDataset(dataset) };
}
