/** Link data sets by name: manifest, loading, notes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { knownAnswers, type KnownAnswers, withInverses } from '../../src/embedding/known-answers.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config-values.js';
import { readError, refuseSpecial, writeFileAtomic } from '../../src/run/files.js';
import { madeFrom } from '../../src/run/provenance.js';
import {
  alteredFile,
  checkImported,
  count,
  type DatasetCheck,
  filesSchema,
  type ImportedDataset,
  type LocateOptions,
  notesSchema,
  openImported,
  readImportedGraph,
  readImportedLines,
  sha256,
  sourcesSchema,
} from '../imported-dataset.js';
import type { SplitName } from '../walk-sample.js';

const readSchema = z.strictObject({
  triples: count,
  /** Duplicate lines within the split. */
  duplicates: count,
  /** Lines of an inverse relation (`~r`), read as triples of `r`. */
  inverseLines: count,
});

const judgedSchema = readSchema.extend({
  /** Entities without training triples; as answers they rank last. */
  unseenEntities: count,
  /** Triples with such an entity. */
  triplesOfUnseenEntities: count,
  /** Relations without training triples. */
  unseenRelations: count,
  /** Triples with such a relation. */
  triplesOfUnseenRelations: count,
  /** Triples (h, r, t) with a training triple of any relation from t to h. */
  reversedInTrain: count,
  /** Those with the same relation. */
  symmetricInTrain: count,
});

/** Extraction record: `extraction.json` next to the triples, and part of the manifest. */
export const extractionSchema = z.strictObject({
  /** Endpoint with its options. */
  source: z.string(),
  /** Entities less than this many hops from a topic have all edges. */
  hops: z.int().min(1),
  /** Maximum tails loaded per relation of an entity. */
  maxTails: z.int().min(1),
  /** Topics with edges, and topics missing from the graph. */
  topics: count,
  notFound: count,
  /** Topics drawn from the rim, by `seed`. */
  distractors: count,
  seed: z.int(),
  /** Entities with all their edges, and rim entities, which only have edges leading to them. */
  expanded: count,
  rim: count,
  triples: count,
  /** Relations of entities with missing tails. */
  cut: count,
  /** Tails that no query can name: blank nodes and quoted triples. */
  leftOut: count.optional(),
});

export type Extraction = z.output<typeof extractionSchema>;

export const extractionFileName = 'extraction.json';

/** Schema of `dataset.json` for links; unknown keys are refused. */
export const linkManifestSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('links'),
  name: z.string(),
  format: z.literal('triples'),
  licence: z.string(),
  /** Seed, and share of valid and of test, if they were drawn from one file. */
  drawn: z.strictObject({ seed: count, share: z.number().gt(0).lt(0.5) }).optional(),
  /** Inductive split: this side and name of the other data set; where it was drawn, unseen share and seed. */
  apart: z
    .strictObject({
      side: z.enum(['seen', 'unseen']),
      beside: z.string(),
      share: z.number().gt(0).lt(1).optional(),
      /** Share of relations: absent from the seen side, tested alone on the other. */
      relations: z.number().gt(0).lt(1).optional(),
      seed: count.optional(),
    })
    .optional(),
  extracted: extractionSchema.optional(),
  splits: z.strictObject({ train: readSchema, valid: judgedSchema, test: judgedSchema }),
  /** Triples in two splits: none unless overlaps were allowed. */
  overlaps: z.strictObject({ trainValid: count, trainTest: count, validTest: count }),
  graph: z.strictObject({
    /** In all splits. */
    entities: count,
    /** In all splits, without inverses. */
    relations: count,
    /** Training triples and their inverses. */
    edges: count,
    madeFrom: z.array(z.string()),
    /** Equals `Graph.hash`. */
    hash: sha256,
  }),
  names: z.strictObject({
    /** Entities with a display name; others show their id. */
    named: count,
    unnamed: count,
    /** Entities with a non-unique name. */
    shared: count,
    /** Names of ids without triples. */
    unused: count,
  }),
  notes: notesSchema,
  sources: sourcesSchema,
  files: filesSchema,
});

/** Manifest: content, sources, statistics, checksums. */
export type LinkManifest = z.output<typeof linkManifestSchema>;

/** Hash of the stored triples and graph, which checkpoints and evaluations are tied to. */
export const linksHash = ({ files }: Pick<LinkManifest, 'files'>): string => configHash(files);

/** Name of the only graph of a link data set: its training edges. */
export const linkGraphName = 'train';

export const tripleFileName = (split: SplitName): string => `triples-${split}.bin`;

/** File name of display names; absent if no entity has one. */
export const labelFileName = 'labels.jsonl';

/** Imported link data set in memory. Shared by all users: read-only. */
export interface LinkDataset extends ImportedDataset<LinkManifest> {
  /**
   * Train edges and their inverses; entities and relations of all splits, so some may have no edge. Plain relations are `0 ..
   * numRelations / 2 - 1`; the inverse of r is `r + numRelations / 2` and queries heads.
   */
  readonly graph: Graph;
  /** Distinct triples by graph ids in source order; plain relations. */
  readonly train: TripleColumns;
  readonly valid: TripleColumns;
  readonly test: TripleColumns;
  /** Display name of each entity, else its source id; not unique. Computed on first use. */
  readonly labels: readonly string[];
  /** Answers in any split, of plain and inverse relations, for filtered ranks. Computed on first use. */
  readonly known: KnownAnswers;
  /** Answers in train, which training may use. Computed on first use. */
  readonly trainKnown: KnownAnswers;
}

/** @throws WorkbenchError `data` for an unknown data set, one of another kind, or a missing or altered file */
export async function loadLinkDataset(name: string, options: LocateOptions = {}): Promise<LinkDataset> {
  const { manifest, folder } = openImported(name, 'links', linkManifestSchema, options);
  const { hash, edges, madeFrom: files } = manifest.graph;
  madeFrom('edge list', `graph ${linkGraphName}`, { hash, triples: edges, files });
  const graph = await readImportedGraph(folder, linkGraphName, hash);
  const read = (split: SplitName) => {
    const file = join(folder, tripleFileName(split));
    const triples = readTripleFile(file, manifest.files[tripleFileName(split)], manifest.splits[split].triples);
    if (!isOf(graph, triples)) throw alteredFile(file);
    return triples;
  };
  const [train, valid, test] = [read('train'), read('valid'), read('test')];
  const plain = graph.numRelations / 2;
  const labels = once(() => labelsOf(folder, manifest, graph));
  const known = once(() => withInverses(knownAnswers([train, valid, test]), plain));
  const trainKnown = once(() => withInverses(knownAnswers([train]), plain));
  return {
    ...{ manifest, folder, graph, train, valid, test },
    get labels() {
      return labels();
    },
    get known() {
      return known();
    },
    get trainKnown() {
      return trainKnown();
    },
  };
}

function labelsOf(folder: string, { files }: LinkManifest, graph: Graph): readonly string[] {
  if (!Object.hasOwn(files, labelFileName)) return graph.entityNames;
  const labels = [...graph.entityNames];
  for (const [entity, label] of readImportedLines(folder, labelFileName, files, labelSchema)) {
    if (entity >= labels.length) throw alteredFile(join(folder, labelFileName));
    labels[entity] = label;
  }
  return labels;
}

/** True if all ids are in the graph's range: files may come from anywhere. */
function isOf({ numEntities, numRelations }: Graph, { heads, relations, tails }: TripleColumns): boolean {
  const within = (column: Int32Array, count: number) => column.every((id) => id >= 0 && id < count);
  return within(heads, numEntities) && within(relations, numRelations / 2) && within(tails, numEntities);
}

const labelSchema = z.tuple([z.int().min(0), z.string()]);

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Writes all heads, then relations, then tails: int32 in memory order, little-endian. */
export function writeTripleFile(file: string, { heads, relations, tails }: TripleColumns): void {
  writeFileAtomic(file, [heads, relations, tails].map(bytesOf));
}

function readTripleFile(file: string, sha256: string | undefined, count: number): TripleColumns {
  refuseSpecial(file, 'a file of an imported data set');
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw readError(error, file, 'a file of an imported data set');
  }
  if (createHash('sha256').update(bytes).digest('hex') !== sha256 || bytes.length !== 12 * count) {
    throw alteredFile(file);
  }
  const [heads, relations, tails] = [0, 1, 2].map((c) => {
    const column = new Int32Array(count);
    bytesOf(column).set(bytes.subarray(4 * c * count, 4 * (c + 1) * count));
    return column;
  });
  return { heads: heads!, relations: relations!, tails: tails! };
}

const bytesOf = (column: Int32Array) => new Uint8Array(column.buffer, column.byteOffset, column.byteLength);

/** Extraction notes, and consequences for evaluation. */
export function extractionLines({ source, hops, maxTails, ...extracted }: Extraction): string[] {
  const { topics, notFound, distractors, seed, expanded, rim, cut, leftOut = 0 } = extracted;
  const topicsFound = `${topics} topics${notFound > 0 ? ` (${notFound} more were not found)` : ''}`;
  const drawn = distractors > 0 ? ` and ${distractors} distractors (seed ${seed})` : ', no distractors';
  const unnamed = leftOut > 0 ? `; ${leftOut} blank nodes and quoted triples left out of tails` : '';
  return [
    `extracted from ${source}: ${hops} hops around ${topicsFound}${drawn}; ${expanded} entities with all edges, ${rim} at the rim with incoming edges only; ${cut} relations of hubs cut to ${maxTails} tails${unnamed}`,
    'a graph extracted around topics reveals where questions start and lacks distracting entities: compare results on this graph only, with distractors among the topics',
  ];
}

/** Note about the side of an inductive split. */
export function apartLine({ side, beside: other, share, relations, seed }: NonNullable<LinkManifest['apart']>): string {
  if (share === undefined) return `this is the ${side} side: ${other} has the same relations and other entities`;
  const percent = (part: number) => `${Number((100 * part).toFixed(1))} %`;
  const drawn = relations === undefined ? '' : ` and ${percent(relations)} of the relations`;
  const told = side === 'seen' ? ' without those relations' : ' with queries for those relations only';
  const what = relations === undefined ? '' : told;
  return `${percent(share)} of the entities${drawn} were split off (seed ${seed}): this is the ${side} side${what}, ${other} the other`;
}

/** One line per issue; none if all is well. */
export function linkNotes(
  manifest: Pick<LinkManifest, 'splits' | 'overlaps' | 'drawn' | 'apart' | 'extracted'>,
): string[] {
  const { splits, overlaps, drawn, apart, extracted } = manifest;
  const { valid, test } = splits;
  const counted: [string, number, number][] = [
    ['have an entity that is not in train, and rank last', valid.triplesOfUnseenEntities, test.triplesOfUnseenEntities],
    ['have a relation that is not in train', valid.triplesOfUnseenRelations, test.triplesOfUnseenRelations],
    ['are in train, too', overlaps.trainValid, overlaps.trainTest],
    ['are pairs that train links in the other direction', valid.reversedInTrain, test.reversedInTrain],
  ];
  return [
    ...(extracted ? extractionLines(extracted) : []),
    ...(apart ? [apartLine(apart)] : []),
    ...(drawn ? [`valid and test were drawn by the import, ${100 * drawn.share} % of the triples each`] : []),
    ...counted.flatMap(([what, ofValid, ofTest]) =>
      ofValid + ofTest > 0 ? [`of valid ${ofValid} and of test ${ofTest} triples ${what}`] : [],
    ),
  ];
}

/** Compares files, hashes and counts with the manifest. @throws WorkbenchError `data` for an unknown data set or an unreadable manifest */
export async function checkLinkDataset(name: string, options: LocateOptions = {}): Promise<DatasetCheck> {
  const imported = openImported(name, 'links', linkManifestSchema, options);
  return checkImported(imported, async (expectEqual) => {
    const { graph, labels, manifest } = await loadLinkDataset(name, options);
    expectEqual('edges', manifest.graph.edges, graph.numEdges);
    expectEqual('entities', manifest.graph.entities, graph.numEntities);
    expectEqual('relations', manifest.graph.relations, graph.numRelations / 2);
    expectEqual('display names', manifest.graph.entities, labels.length);
  });
}
