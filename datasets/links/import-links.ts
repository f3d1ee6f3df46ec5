/** Import of triples for link prediction. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { writeGraphFile } from '../../src/kg/graph-file.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { readJsonFile } from '../../src/run/read-json.js';
import { datasetFolder, describeSources, graphFileName, jsonLines, writeDataset } from '../imported-dataset.js';
import { lookAlikes, noted } from '../import-notes.js';
import { type AnyImportOptions, type Importer, type ImportReport, inSteps, tripleOptions } from '../importer.js';
import { splitNames } from '../walk-sample.js';
import {
  type Extraction,
  extractionFileName,
  extractionSchema,
  labelFileName,
  linkGraphName,
  type LinkManifest,
  linkManifestSchema,
  tripleFileName,
  writeTripleFile,
} from './link-dataset.js';
import { apartSeed, inductiveSplit, type Side, unseenName } from './inductive-split.js';
import { drawnSplits, findLinkFiles, readSplits, type ReadSplits } from './read-splits.js';
import { LinkReader, readEntityLabels, type ReadTriples } from './read-triples.js';

/** Default name: `umls` for `data/umls` or `data/umls.tsv`. */
function nameOf(from: string): string {
  const name = basename(resolve(from))
    .replace(/\.(tsv|txt|csv)(\.gz)?$/i, '')
    .replace(/[^\w.-]+/g, '-');
  return /^[a-z0-9]/i.test(name) ? name.slice(0, 64) : 'triples';
}

/**
 * Reads train, valid and test, or one file that valid and test are drawn from (`findLinkFiles`, `drawSplits`), and optional names; checks
 * everything, then writes `<home>/datasets/<name>/` (default NAME: folder or file name): `dataset.json`, `graph-train.bin`,
 * `triples-<split>.bin`, `labels.jsonl`. With `unseen` or `unseenFrom` it writes two data sets, NAME and NAME-unseen.
 * @returns the manifest of NAME
 * @throws WorkbenchError `data` for broken lines, an empty split, fewer than two entities in train, and overlapping splits; `usage` for a
 * bad name, `failure` for disk errors
 */
export async function importLinks(options: AnyImportOptions): Promise<LinkManifest> {
  const { from, name = nameOf(from), home, unseen, unseenRelations, unseenFrom, skipBroken, progress } = options;
  datasetFolder(name, home);
  if (unseen !== undefined || unseenFrom !== undefined) datasetFolder(unseenName(name), home);
  const files = findLinkFiles(from);
  const extracted = readExtraction(from);
  return inSteps(progress, 3, async (done) => {
    const reader = new LinkReader();
    const report: ImportReport = { skipBroken, notes: [] };
    const splits = await readSplits(reader, files, options, report);
    const shared = { home, extracted, notes: report.notes };
    const second = unseenFrom === undefined ? undefined : await readBeside(unseenFrom, reader, options, report);
    done('triples read');
    if (unseen === undefined && !second) {
      const whole = await graphAndLabels(reader, splits, files);
      done('graph built');
      return writeLinks(name, splits, whole, { ...shared, files, drawn: files.valid === undefined });
    }
    const drawn = unseen === undefined ? {} : { share: unseen, relations: unseenRelations, seed: apartSeed };
    const parts = second
      ? { seen: { reader, splits, files }, unseen: second }
      : inductiveSplit(reader, splits, { entities: unseen!, relations: unseenRelations }, from);
    const side = async (which: Side, own: string, other: string) => {
      const part = { files, ...parts[which] };
      const made = await graphAndLabels(part.reader, part.splits, part.files);
      const isDrawn = !second || part.files.valid === undefined;
      const written = { ...shared, files: part.files, drawn: isDrawn, apart: { side: which, beside: other, ...drawn } };
      return () => writeLinks(own, part.splits, made, written);
    };
    const writeSeen = await side('seen', name, unseenName(name));
    const writeUnseen = await side('unseen', unseenName(name), name);
    done('graphs built');
    await writeUnseen();
    return writeSeen();
  });
}

type LinkFiles = ReturnType<typeof findLinkFiles>;

/** Triples of other entities, with relations by the ids of `reader`. @throws WorkbenchError `data` as `readSplits`, and for shared entities */
async function readBeside(from: string, reader: LinkReader, options: AnyImportOptions, report: ImportReport) {
  const own = new LinkReader(reader.relations);
  const files = findLinkFiles(from);
  const splits = await readSplits(own, files, options, report);
  const both = [...own.entities.names()].filter((name) => reader.entities.id(name) >= 0);
  if (both.length > 0) {
    const got = `${both.length} that are in ${options.from} too, such as ${printable(JSON.stringify(both[0]), 80)}`;
    throw new WorkbenchError('data', `expected other entities, got ${got}, at ${from}`, {
      hint: 'Import it by itself where entities are shared.',
    });
  }
  return { reader: own, splits, files };
}

async function graphAndLabels(reader: LinkReader, { train }: ReadSplits, files: LinkFiles) {
  const graph = reader.graphOf(linkGraphName, train.triples.columns(), [basename(files.train)]);
  const named = files.names === undefined ? noLabels : await readEntityLabels(files.names, reader.entities);
  return { graph, named };
}

interface WriteOptions extends Pick<LinkManifest, 'apart'> {
  notes: readonly string[];
  home: string | undefined;
  files: LinkFiles;
  extracted: Extraction | undefined;
  /** True if valid and test were drawn. */
  drawn: boolean;
}

function writeLinks(
  name: string,
  splits: ReadSplits,
  { graph, named }: Awaited<ReturnType<typeof graphAndLabels>>,
  { home, files, extracted, notes, drawn, apart }: WriteOptions,
): Promise<LinkManifest> {
  const fill = (folder: string) => {
    writeGraphFile(join(folder, graphFileName(linkGraphName)), graph);
    for (const split of splitNames) {
      writeTripleFile(join(folder, tripleFileName(split)), splits[split].triples.columns());
    }
    if (named.labels.size > 0) writeFileAtomic(join(folder, labelFileName), jsonLines([...named.labels]));
  };
  const { train, valid, test, names } = files;
  const { numEntities: entities, numRelations, numEdges: edges, madeFrom, hash } = graph;
  return writeDataset(name, home, fill, async (written) =>
    linkManifestSchema.parse({
      schemaVersion: 1,
      kind: 'links',
      name,
      format: 'triples',
      licence: 'as its source says',
      drawn: drawn ? drawnSplits : undefined,
      apart,
      extracted,
      splits: describeSplits(graph, splits),
      overlaps: splits.overlaps,
      graph: { entities, relations: numRelations / 2, edges, madeFrom: [...madeFrom], hash },
      names: { ...countNames(named.labels, entities), unused: named.unused },
      notes: noted([...notes, ...lookAlikes(graph)]),
      sources: await describeSources([train, valid, test, names].filter((file) => file !== undefined)),
      files: written,
    }),
  );
}

/** Entry of `importers.ts`. */
export const triples: Importer<'links'> = {
  name: 'triples',
  kind: 'links',
  takes: ['allowOverlap', 'unseen', 'unseenRelations', 'unseenFrom', ...tripleOptions],
  nameOf,
  import: importLinks,
};

/** Extraction record of a folder, if it has one. */
function readExtraction(from: string): Extraction | undefined {
  const file = join(from, extractionFileName);
  return existsSync(file) ? readJsonFile(file, extractionSchema, 'a record of an extraction') : undefined;
}

const noLabels = { labels: new Map<number, string>(), unused: 0 };

function describeSplits(graph: Graph, splits: ReadSplits): LinkManifest['splits'] {
  const read = ({ triples, ...counted }: ReadTriples) => ({ triples: triples.size, ...counted });
  const judged = (split: ReadTriples) => ({ ...read(split), ...countJudged(graph, split.triples.columns()) });
  return { train: read(splits.train), valid: judged(splits.valid), test: judged(splits.test) };
}

type JudgedCounts = Omit<LinkManifest['splits']['test'], 'triples' | 'duplicates' | 'inverseLines'>;

/** @param graph of the training triples and their inverses, plain relations first */
function countJudged(graph: Graph, { heads, relations, tails }: TripleColumns): JudgedCounts {
  const plain = graph.numRelations / 2;
  const usedRelations = new Set(graph.relations);
  const unseen = { entities: new Set<number>(), relations: new Set<number>() };
  const counts = { ofEntities: 0, ofRelations: 0, reversed: 0, symmetric: 0 };
  for (let i = 0; i < heads.length; i++) {
    const [head, relation, tail] = [heads[i]!, relations[i]!, tails[i]!];
    const lacking = [head, tail].filter((entity) => graph.degree(entity) === 0);
    for (const entity of lacking) unseen.entities.add(entity);
    if (lacking.length > 0) counts.ofEntities++;
    if (!usedRelations.has(relation)) {
      unseen.relations.add(relation);
      counts.ofRelations++;
    }
    if (leadsTo(graph, tail, head, plain)) counts.reversed++;
    if (graph.edgeIndex(tail, relation, head) >= 0) counts.symmetric++;
  }
  return {
    unseenEntities: unseen.entities.size,
    triplesOfUnseenEntities: counts.ofEntities,
    unseenRelations: unseen.relations.size,
    triplesOfUnseenRelations: counts.ofRelations,
    reversedInTrain: counts.reversed,
    symmetricInTrain: counts.symmetric,
  };
}

/** @param labels by entity */
function countNames(labels: ReadonlyMap<number, string>, numEntities: number): Omit<LinkManifest['names'], 'unused'> {
  const bearers = new Map<string, number>();
  for (const label of labels.values()) bearers.set(label, (bearers.get(label) ?? 0) + 1);
  const shared = [...bearers.values()].filter((count) => count > 1).reduce((sum, count) => sum + count, 0);
  return { named: labels.size, unnamed: numEntities - labels.size, shared };
}

/** True if some training triple leads from one entity to the other. Scans the edges of the one with fewer. */
function leadsTo({ offsets, relations, tails }: Graph, from: number, to: number, plain: number): boolean {
  const forward = offsets[from + 1]! - offsets[from]! <= offsets[to + 1]! - offsets[to]!;
  const [at, end] = forward ? [from, to] : [to, from];
  for (let edge = offsets[at]!; edge < offsets[at + 1]!; edge++) {
    if (tails[edge] === end && relations[edge]! < plain === forward) return true;
  }
  return false;
}
