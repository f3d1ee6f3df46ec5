/** Train, valid and test of link data, read or drawn, with consistency checks. */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { Rng } from '../../src/run/seeds.js';
import { type AnyImportOptions, firstFile, type ImportReport, requiredFile } from '../importer.js';
import { layoutOf, type TripleSettings } from '../triple-layout.js';
import type { LinkManifest } from './link-dataset.js';
import { LinkReader, type ReadTriples, TripleSet } from './read-triples.js';

export interface ReadSplits {
  train: ReadTriples;
  valid: ReadTriples;
  test: ReadTriples;
  overlaps: LinkManifest['overlaps'];
}

/**
 * Reads train, valid, test in this order, which numbers entities and relations.
 * @throws WorkbenchError `data` as `LinkReader.read`; for an empty split, a training graph of fewer than two entities, and overlapping
 * splits unless allowed
 */
export async function readSplits(
  reader: LinkReader,
  files: LinkFiles,
  { allowOverlap, ...given }: Pick<AnyImportOptions, 'allowOverlap' | keyof TripleSettings> = {},
  report: ImportReport = { notes: [] },
): Promise<ReadSplits> {
  const { read: layout, settings } = await layoutOf(files.train, given, report.notes);
  const readLike = async (file: string) =>
    reader.read(file, (await layoutOf(file, settings, report.notes)).read, report);
  const train = await reader.read(files.train, layout, report);
  if (train.triples.size === 0 || reader.entities.size < 2) throw tooSmall(reader, files.train);
  if (files.valid === undefined || files.test === undefined) return drawnFrom(train, files.train);
  const valid = await readLike(files.valid);
  const test = await readLike(files.test);
  if (valid.triples.size === 0) throw empty(files.valid);
  if (test.triples.size === 0) throw empty(files.test);
  const shared = (a: [ReadTriples, string], b: [ReadTriples, string]) => {
    const { count, example } = sharedTriples(a[0].triples, b[0].triples.columns());
    if (count > 0 && !allowOverlap) throw overlapping(reader, [a[1], b[1]], count, example);
    return count;
  };
  const overlaps = {
    trainValid: shared([train, files.train], [valid, files.valid]),
    trainTest: shared([train, files.train], [test, files.test]),
    validTest: shared([valid, files.valid], [test, files.test]),
  };
  return { train, valid, test, overlaps };
}

type Asks = (relation: number) => boolean;

/**
 * Valid and test drawn from the triples of one file.
 * @param asks mask of relations to draw from; default all
 * @throws WorkbenchError `data` if no triple can be spared
 */
export function drawnFrom(read: ReadTriples, file: string, asks: Asks = () => true): ReadSplits {
  const { train, valid, test } = drawSplits(read.triples.columns(), asks);
  if (Math.min(valid.size, test.size) === 0) {
    const expected = `expected triples that valid and test can be drawn from, got ${read.triples.size} of which`;
    throw new WorkbenchError('data', `${expected} each is the last of its head, relation or tail, at ${file}`, {
      hint: 'Give train, valid and test as separate files.',
    });
  }
  const split = (triples: TripleSet) => ({ triples, duplicates: 0, inverseLines: 0 });
  return {
    train: { ...read, triples: train },
    valid: split(valid),
    test: split(test),
    overlaps: { trainValid: 0, trainTest: 0, validTest: 0 },
  };
}

type Triple = readonly [head: number, relation: number, tail: number];

function sharedTriples(a: TripleSet, { heads, relations, tails }: TripleColumns): { count: number; example: Triple } {
  let count = 0;
  let example: Triple = [0, 0, 0];
  for (let i = 0; i < heads.length; i++) {
    const triple = [heads[i]!, relations[i]!, tails[i]!] as const;
    if (a.has(...triple) && count++ === 0) example = triple;
  }
  return { count, example };
}

function overlapping(
  { entities, relations }: LinkReader,
  [first, second]: readonly [string, string],
  count: number,
  [head, relation, tail]: Triple,
): WorkbenchError {
  const names = [entities.name(head), relations.name(relation), entities.name(tail)];
  const example = printable(names.join(' '), 200);
  const both = `${count} in both ${basename(first)} and ${basename(second)}, such as ${example}`;
  return new WorkbenchError('data', `expected each triple in one split, got ${both}, at ${dirname(second)}`, {
    hint: 'Triples of valid and test must not be in train. Remove them from one file, or keep and count them: --allow-overlap.',
  });
}

function tooSmall({ entities }: LinkReader, file: string): WorkbenchError {
  if (entities.size === 0) return empty(file);
  const got = `expected at least two entities, got "${printable(entities.name(0)!, 80)}" alone, at ${file}`;
  return new WorkbenchError('data', got, { hint: 'Links are predicted between entities.' });
}

function empty(file: string): WorkbenchError {
  return new WorkbenchError('data', `expected triples, got none, at ${file}`, {
    hint: 'Each line is head, relation and tail, separated by TAB, |, comma, semicolon or space.',
  });
}

interface LinkFiles {
  /** All triples if there is neither valid nor test. */
  train: string;
  valid?: string;
  test?: string;
  /** Display names of entities. */
  names?: string;
}

const named = (stem: string): string[] =>
  ['txt', 'tsv', 'csv'].flatMap((extension) => [`${stem}.${extension}`, `${stem}.${extension}.gz`]);

/**
 * Looks for `train`, `valid` (or `dev`) and `test`, or only `triples` or `train`; and `entity2text` or `names`. Each `.txt`, `.tsv`
 * or `.csv`, also `.gz`; the first match is used. A file that is given, or alone of its kind in the folder, is the triples.
 * @throws WorkbenchError `data` for a folder without triples, or with only one of valid and test
 */
export function findLinkFiles(folder: string): LinkFiles {
  const place = statSync(folder, { throwIfNoEntry: false });
  if (place?.isFile()) return { train: folder };
  const stems = [...named('train'), ...named('triples')];
  const known = firstFile(folder, stems);
  const tables = known || !place ? [] : readdirSync(folder).filter((name) => /\.(txt|tsv|csv)(\.gz)?$/.test(name));
  if (tables.length === 1) return { train: join(folder, tables[0]!) };
  const train =
    known ?? requiredFile(folder, stems, 'triples', 'Give the file of the triples, or a folder, with --from.');
  const valid = firstFile(folder, [...named('valid'), ...named('dev')]);
  const test = firstFile(folder, named('test'));
  const names = firstFile(folder, [...named('entity2text'), ...named('names')]);
  if ((valid === undefined) !== (test === undefined)) {
    const [there, lacking] = valid === undefined ? ['test', 'valid'] : ['valid', 'test'];
    throw new WorkbenchError('data', `expected valid and test, got ${there} without ${lacking}, at ${folder}`, {
      hint: 'Give train, valid and test, or all triples in one file: valid and test are then drawn from it.',
    });
  }
  return { train, valid, test, names };
}

/** Seed and share of valid and of test: fixed, so that equal files give equal splits everywhere. */
export const drawnSplits = { seed: 0, share: 0.05 } as const;

/**
 * Draws without replacement. A triple stays in train if it is the last one of its head, relation or tail. So valid and test have the
 * given share of all triples, at least one, or what train can spare.
 * @returns valid and test empty if train can spare none
 */
function drawSplits(all: TripleColumns, asks: Asks): { train: TripleSet; valid: TripleSet; test: TripleSet } {
  const { heads, relations, tails } = all;
  const entityUses = new Map<number, number>();
  const relationUses = new Map<number, number>();
  for (let i = 0; i < heads.length; i++) {
    for (const entity of entitiesOf(heads[i]!, tails[i]!)) add(entityUses, entity, 1);
    add(relationUses, relations[i]!, 1);
  }
  const wanted = Math.max(1, Math.round(drawnSplits.share * heads.length));
  const order = Rng.named(drawnSplits.seed, 'datasets/links/splits').shuffle(Int32Array.from(heads.keys()));
  const role = new Uint8Array(heads.length);
  const left = [0, wanted, wanted];
  for (const i of order) {
    const split = left[1]! >= left[2]! ? 1 : 2;
    if (left[split] === 0) break;
    if (!asks(relations[i]!)) continue;
    const entities = entitiesOf(heads[i]!, tails[i]!);
    if (relationUses.get(relations[i]!) === 1 || entities.some((entity) => entityUses.get(entity) === 1)) continue;
    for (const entity of entities) add(entityUses, entity, -1);
    add(relationUses, relations[i]!, -1);
    role[i] = split;
    left[split]!--;
  }
  const sets = [new TripleSet(), new TripleSet(), new TripleSet()] as const;
  for (let i = 0; i < heads.length; i++) sets[role[i] as 0 | 1 | 2].add(heads[i]!, relations[i]!, tails[i]!);
  return { train: sets[0], valid: sets[1], test: sets[2] };
}

/** A loop uses its entity once. */
const entitiesOf = (head: number, tail: number): number[] => (head === tail ? [head] : [head, tail]);

function add(uses: Map<number, number>, id: number, change: number): void {
  uses.set(id, (uses.get(id) ?? 0) + change);
}

/** Triples by split, and the training graph. */
export interface LinkData {
  /** Entities of all splits; train edges, each with its inverse `~relation`. */
  graph: Graph;
  /** By graph ids, distinct, in file order. */
  train: TripleColumns;
  valid: TripleColumns;
  test: TripleColumns;
}

/**
 * Reads train, valid and test files of a folder like an import, without the overlap check. Ids follow first appearance; inverses come
 * after all relations.
 * @param name of the graph, such as the data's
 * @throws WorkbenchError `data` for missing or broken files and a training file without triples
 */
export async function readLinkData(folder: string, name: string): Promise<LinkData> {
  const files = findLinkFiles(folder);
  if (files.valid === undefined || files.test === undefined) {
    throw new WorkbenchError(
      'data',
      `expected train, valid and test, got ${basename(files.train)} alone, at ${folder}`,
    );
  }
  const reader = new LinkReader();
  const read = await readSplits(reader, files, { allowOverlap: true });
  const splits = {
    train: read.train.triples.columns(),
    valid: read.valid.triples.columns(),
    test: read.test.triples.columns(),
  };
  return { graph: reader.graphOf(name, splits.train, [basename(files.train)]), ...splits };
}
