/** `kgwalk datasets …`: importing, listing, describing, checking and removing data sets. */
import { type Command, Option } from 'commander';
import { printJson, printLine, printShown, printTable, printNote } from './output.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { LeakCheck } from '../tasks/task.js';
import { printable } from '../src/run/printable.js';
import { commandProgress } from './global-options.js';
import { addRemove } from './remove.js';
import { join } from 'node:path';
import type { AnyImportOptions } from '../datasets/importer.js';
import type { Release } from '../datasets/releases.js';
import { kgwalkHome } from '../src/run/locations.js';

/** Adds the `datasets` commands to `program`. */
export function register(program: Command): void {
  const datasets = program.command('datasets').description('import, list, describe, check and remove data sets');
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
    .option(
      '--unseen-from <path>',
      'triples: a second file or folder, of other entities and the same relations, becomes the data set NAME-unseen',
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
  addRemove(datasets, {
    argument: '<name>',
    about: 'name of an imported data set, as `kgwalk datasets list` shows it',
    description: 'delete an imported data set. Runs on it stay, but evaluate and ask need it',
    remove: async (name) => (await import('../datasets/imported-dataset.js')).removeDataset(name),
    isUsedBy: (name, { data }) => (data as { dataset?: unknown } | undefined)?.dataset === name,
  });
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

type CheckFlags = { run?: string; split?: string; evaluations?: string; json?: boolean };

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

interface ImportFlags extends Omit<AnyImportOptions, 'progress' | 'home'> {
  json?: boolean;
}

/** Imports a release and prints a summary. @throws WorkbenchError `usage` for an unknown format, and what its importer throws */
async function importRelease(format: string, { json, ...flags }: ImportFlags): Promise<void> {
  const { from, name, labels, ...given } = flags;
  const { importerOf, importers } = await import('../datasets/importers.js');
  const { loadTask } = await import('../tasks/index.js');
  const importer = importerOf(format);
  const options = Object.keys(labels === false ? { labels, ...given } : given) as (keyof typeof given)[];
  const idle = options.find((option) => !importer.takes?.includes(option));
  if (idle !== undefined) {
    const able = importers.filter(({ takes }) => takes?.includes(idle)).map((one) => one.name);
    const got = `got it with ${printable(format, 80)}`;
    throw new WorkbenchError('usage', `expected ${flagOf(idle)} with ${able.join(' or ')}, ${got}`, {
      hint: 'Releases are read as they are published.',
    });
  }
  if (given.unseenRelations !== undefined && given.unseen === undefined) {
    throw new WorkbenchError('usage', 'expected --unseen with --unseen-relations, got it alone', {
      hint: 'Relations are drawn apart with entities: --unseen 0.33 --unseen-relations 0.25.',
    });
  }
  if (given.unseenFrom !== undefined && given.unseen !== undefined) {
    throw new WorkbenchError('usage', 'expected --unseen or --unseen-from, got both', {
      hint: 'The one draws other entities, the other reads them.',
    });
  }
  const manifest = await importer.import({
    ...{ ...flags, name: name ?? importer.nameOf?.(from) ?? format, progress: commandProgress() },
  });
  printShown((await loadTask(importer.kind)).datasets!.imported(manifest as never), json);
}

const flagOf = (option: string) =>
  option === 'labels' ? '--no-labels' : `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** @throws WorkbenchError `usage` for anything but a number between 0 and 1 */
export const shareOf =
  (flag: string) =>
  (text: string): number => {
    const share = Number(text);
    if (text.trim() !== '' && share > 0 && share < 1) return share;
    throw new WorkbenchError('usage', `expected a share between 0 and 1, got "${printable(text, 80)}", at ${flag}`, {
      hint: `Such as ${flag} 0.33.`,
    });
  };

interface GetFlags {
  name?: string;
  import: boolean;
  json?: boolean;
  topics?: string;
  hops?: string;
  maxTails?: string;
  distractors?: string;
  maxEntities?: string;
  seed?: string;
}

const extractionFlags = ['topics', 'hops', 'maxTails', 'distractors', 'maxEntities', 'seed'] as const;

function registerGet(datasets: Command): void {
  datasets
    .command('get <release>')
    .description(
      'download a release and import it: opendialkg, pathquestion; for metaqa, webqsp and webquestions, say where to find them. An interrupted download continues where it stopped. With sparql:URL, cut the neighbourhoods of topics out of a graph behind an endpoint and import them as links (--topics, --name)',
    )
    .option('--name <name>', 'name to import it under (default: the release)')
    .option('--no-import', 'only download')
    .option('--topics <file>', 'sparql: names of the entities around which is cut, one a line')
    .option(
      '--hops <n>',
      'sparql: edges of all entities that are less than so many hops from a topic are taken, 1 to 4 (default: 2)',
    )
    .option('--max-tails <n>', 'sparql: tails of one relation of an entity that are taken at most (default: 1000)')
    .option('--distractors <n>', 'sparql: further topics, drawn from the rim of what was cut out (default: 0)')
    .option('--max-entities <n>', 'sparql: entities whose edges are asked for at most (default: 1000000)')
    .option('--seed <n>', 'sparql: seed of the distractors (default: 0)')
    .option('--json', 'print the manifest as JSON')
    .action(getRelease);
}

async function getRelease(wanted: string, flags: GetFlags): Promise<void> {
  const { json } = flags;
  if (wanted.startsWith('sparql:')) return extract(wanted, flags);
  const alien = extractionFlags.find((flag) => flags[flag] !== undefined);
  if (alien !== undefined) {
    const got = `got it with ${printable(wanted, 80)}`;
    throw new WorkbenchError('usage', `expected ${flagOf(alien)} with sparql:URL, ${got}`, {
      hint: 'A release is taken whole.',
    });
  }
  const { downloadRelease, releaseOf } = await import('../datasets/importers.js');
  const release = releaseOf(wanted);
  if (release.byHand) return json ? printJson(release) : printSteps(release, release.byHand);
  const { terminalWork } = await import('./terminal.js');
  printNote(`${release.name} from ${release.page}\nlicence: ${release.licence}`);
  const folder = await downloadRelease(release, terminalWork());
  await importFetched(release.name, folder, flags);
}

/** Downloads the neighbourhoods of topics behind an endpoint to `downloads/NAME`, and imports them. */
async function extract(text: string, flags: GetFlags): Promise<void> {
  const { topics: file, name } = flags;
  if (file === undefined || name === undefined) {
    const lacking = file === undefined ? '--topics FILE' : '--name NAME';
    throw new WorkbenchError('usage', `expected ${lacking} with sparql:URL, got none`, {
      hint: 'kgwalk datasets get sparql:URL --topics FILE --name NAME',
    });
  }
  const { wholeNumber } = await import('../tasks/flags.js');
  const hops = wholeNumber(flags.hops, '--hops', 1) ?? 2;
  if (hops > 4) throw new WorkbenchError('usage', `expected --hops of at most 4, got ${hops}`);
  const maxTails = flags.maxTails === undefined ? '' : `maxTails=${wholeNumber(flags.maxTails, '--max-tails', 1)}`;
  const { parseSparqlSource } = await import('../src/kg/sparql/source.js');
  const { extractLinks, readTopics } = await import('../datasets/links/extract-links.js');
  const { datasetFolder } = await import('../datasets/imported-dataset.js');
  const { terminalWork } = await import('./terminal.js');
  const source = parseSparqlSource(maxTails === '' ? text : `${text}${text.includes('#') ? '&' : '#'}${maxTails}`);
  const topics = readTopics(file);
  // Checks the name before any request.
  datasetFolder(name);
  const folder = join(kgwalkHome(), 'downloads', name);
  const { progress, signal } = terminalWork();
  await extractLinks({
    ...{ source, topics, hops, folder, progress, signal },
    distractors: wholeNumber(flags.distractors, '--distractors', 0) ?? 0,
    maxEntities: wholeNumber(flags.maxEntities, '--max-entities', 1) ?? 1_000_000,
    seed: wholeNumber(flags.seed, '--seed', 0) ?? 0,
  });
  await importFetched('triples', folder, flags);
}

/** Imports a downloaded folder, or prints its path. */
async function importFetched(format: string, folder: string, flags: GetFlags): Promise<void> {
  const { name, import: imported, json } = flags;
  if (!imported) return json ? printJson({ folder }) : printLine(folder);
  await importRelease(format, { from: folder, name: name ?? format, labels: true, json });
  if (!json) printLine(`\nThe files stay at ${folder}; they may be deleted.`);
}

function printSteps({ name, about, licence, page }: Release, steps: readonly string[]): void {
  printLine(`${name}: ${about} · licence: ${licence}`);
  printLine(`It cannot be downloaded by a program. Its page: ${page}`);
  for (const step of steps) printLine(`  ${step}`);
  printLine(`Then: kgwalk datasets import ${name} --from DIR`);
}

type SizeFlags = Partial<Record<'seed' | 'entities' | 'triples' | 'dialogues' | 'questions', string>>;

interface DemoFlags extends SizeFlags {
  name: string;
  write?: string;
  json?: boolean;
}

function registerDemo(datasets: Command): void {
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
  if (imported.dialogues) printShown((await loadTask('dialogues')).datasets!.imported(imported.dialogues as never));
  if (imported.dialogues && imported.questions) printLine();
  if (imported.questions) printShown((await loadTask('questions')).datasets!.imported(imported.questions as never));
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
