/** `kgwalk datasets …`: importing, listing, describing and checking data sets. */
import { type Command, Option } from 'commander';
import { importRelease, registerDemo, registerGet, shareOf } from './datasets-import.js';
import { printJson, printLine, printShown, printTable } from './output.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { LeakCheck } from '../tasks/task.js';

/** Adds the `datasets` commands to `program`. */
export function register(program: Command): void {
  const datasets = program.command('datasets').description('import, list, describe and check data sets');
  datasets
    .command('import <format>')
    .description(
      'import a release from its files; it replaces a data set of the same name once everything has been read. Formats: opendialkg, metaqa, pathquestion, webqsp, webquestions, mooc, rog (rows of RoG-webqsp and RoG-cwq), custom (your own triples and questions), triples (links split into train, valid and test, or a single file of triples)',
    )
    .requiredOption('--from <dir>', 'folder with the files of the release; for triples, a single file will do')
    .option(
      '--name <name>',
      'name to import it under (default: the format; for triples, the name of the folder or file)',
    )
    .option('--no-labels', 'custom RDF: keep labels as edges instead of using them as names and aliases')
    .option(
      '--separator <text>',
      'custom, triples: what separates fields: tab, comma, semicolon, bar, space or a text (default: looked for)',
    )
    .option(
      '--columns <letters>',
      'custom, triples: order of head, relation and tail, such as htr; a dot leaves a column out: .hrt (default: looked for)',
    )
    .option('--header <n>', 'custom, triples: lines before the first triple (default: looked for)', Number)
    .addOption(
      new Option(
        '--enclosed <marks>',
        'custom, triples: marks around names that are no part of them (default: looked for)',
      ).choices(['none', 'quotes', 'brackets']),
    )
    .option(
      '--skip-broken',
      'custom, triples, rog: leave broken lines out and count them by reason instead of refusing the data',
    )
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
    .action(importRelease);
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
  const rows = manifests.map(async (one) => (await loadTask(kindOf(one.name))).datasets!.listed(one as never));
  printTable(await Promise.all(rows));
}

async function describeOne(text: string, { graph, json }: { graph: string; json?: boolean }): Promise<void> {
  const { kindOf } = await import('../datasets/dataset.js');
  const { loadTask } = await import('../tasks/index.js');
  printShown(await (await loadTask(kindOf(text))).datasets!.statistics(text, { graph }), json);
}

interface CheckFlags {
  run?: string;
  split?: string;
  evaluations?: string;
  json?: boolean;
}

/** Adds `check` to the `datasets` commands. */
function registerCheck(datasets: Command): void {
  datasets
    .command('check <name>')
    .description(
      'compare files, hashes and counts with what was imported; with --run, check whether a split leaked into a run or an evaluation',
    )
    .option('--run <run>', 'a run, or the folder of an evaluation, whose sources to check')
    .option('--split <split>', 'with --run: the split that must be unseen (default: test; for an evaluation, its own)')
    .option(
      '--evaluations <dir>',
      'with --run: where evaluations outside run folders are kept (default: runs/evaluations)',
    )
    .option('--json', 'print the problems, or all that was found, as JSON')
    .action(check);
}

async function check(name: string, { run, split, evaluations, json = false }: CheckFlags): Promise<void> {
  const { checkDataset } = await import('../datasets/dataset.js');
  if (run !== undefined) {
    const found = await leaksInto(run, name, split, evaluations);
    printShown(found, json);
    return throwIfFound(found);
  }
  if (split !== undefined) {
    throw new WorkbenchError('usage', 'expected --run with --split, got --split alone', {
      hint: 'Without a run the whole data set is checked.',
    });
  }
  const { files, problems, notes } = await checkDataset(name);
  if (json) printJson({ name, problems, notes });
  if (problems.length > 0) {
    throw new WorkbenchError('data', problems.join('\n'), { hint: 'Import the data set again.' });
  }
  if (json) return;
  printLine(`${name}: ${files} files as imported`);
  notes.forEach(printLine);
}

/** @throws WorkbenchError `usage` for a name that is neither a run nor an evaluation */
async function leaksInto(of: string, name: string, split: string | undefined, evaluations: string | undefined) {
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { foundEvaluation } = await import('../evaluation/keep.js');
  const { loadTask } = await import('../tasks/index.js');
  const { findRun } = await import('../src/run/run-folder.js');
  const { runLeaks, evaluationLeaks } = (await loadTask(datasetKind(name))).datasets!;
  const found = findRun(of);
  if (found) return runLeaks(name, { run: found.run, evaluations }, split);
  const folder = foundEvaluation(of, evaluations, 'begun');
  if (folder !== undefined) return evaluationLeaks(name, folder, split);
  throw new WorkbenchError('usage', `expected a run or an evaluation, got "${of}", at --run`, {
    hint: 'The runs there are: `kgwalk runs list`.',
  });
}

/** @throws WorkbenchError `data` if a leak is found, or something has no provenance record */
function throwIfFound({ split, found, unknown }: LeakCheck): void {
  if (found.length > 0) {
    throw new WorkbenchError('data', `expected no trace of ${split}, got ${found.join('; ')}`, {
      hint: 'Scores on this split say less than they seem to.',
    });
  }
  if (unknown.length > 0) {
    throw new WorkbenchError(
      'data',
      `expected notes of what everything was made from, got none of ${unknown.join(', ')}`,
      { hint: 'Versions before this one kept none: train or evaluate again.' },
    );
  }
}
