/** `kgwalk datasets get`: downloads a release, or the neighbourhoods of topics behind an endpoint, and imports it. */
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Release } from '../datasets/importer.js';
import { WorkbenchError } from '../src/run/errors.js';
import { kgwalkHome } from '../src/run/locations.js';
import { printable } from '../src/run/printable.js';
import { printJson, printLine, printNote } from './output.js';

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

/** Adds `datasets get`. */
export function registerGet(datasets: Command): void {
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
    const flag = alien.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new WorkbenchError('usage', `expected --${flag} with sparql:URL, got it with ${printable(wanted, 80)}`, {
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
  const { parseSparqlSource } = await import('../src/sparql/source.js');
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
  const { importRelease } = await import('./datasets-import.js');
  await importRelease(format, { from: folder, name: name ?? format, labels: true, ...(json && { json }) });
  if (!json) printLine(`\nThe files stay at ${folder}; they may be deleted.`);
}

function printSteps({ name, about, licence, page }: Release, steps: readonly string[]): void {
  printLine(`${name}: ${about} · licence: ${licence}`);
  printLine(`It cannot be downloaded by a program. Its page: ${page}`);
  for (const step of steps) printLine(`  ${step}`);
  printLine(`Then: kgwalk datasets import ${name} --from DIR`);
}
