/** Data sets of links by name: what is imported, and loading it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { knownAnswers, type KnownAnswers, withInverses } from '../../src/embedding/known-answers.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config.js';
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
  openImported,
  readImportedGraph,
  readImportedLines,
  sha256,
  sourcesSchema,
} from '../imported-dataset.js';
import type { SplitName } from '../walk-sample.js';

const readSchema = z.strictObject({
  /** Distinct ones. */
  triples: count,
  /** Lines left out as they repeat an earlier one of the split. */
  duplicates: count,
  /** Lines of an inverse relation (`~r`), read as triples of `r`. */
  inverseLines: count,
});

const judgedSchema = readSchema.extend({
  /** Entities that no training triple has: nothing is known of them, and answers among them rank last. */
  unseenEntities: count,
  /** Triples with such an entity. */
  triplesOfUnseenEntities: count,
  /** Relations that no training triple has. */
  unseenRelations: count,
  /** Triples with such a relation. */
  triplesOfUnseenRelations: count,
  /** Triples whose tail some training triple, of any relation, leads to its head: the pair is known the other way round. */
  reversedInTrain: count,
  /** Of these, triples that train has the other way round by the same relation. */
  symmetricInTrain: count,
});

/** How a graph was cut out of another: `extraction.json` beside the triples, and part of the manifest of what was imported from there. */
export const extractionSchema = z.strictObject({
  /** The endpoint with its options. */
  source: z.string(),
  /** Edges of all entities that are less than so many hops from a topic are there. */
  hops: z.int().min(1),
  /** Tails of one relation of an entity that were brought at most. */
  maxTails: z.int().min(1),
  /** Topics whose edges were found, and those that the graph does not have. */
  topics: count,
  notFound: count,
  /** Topics that were drawn from the rim, by `seed`. */
  distractors: count,
  seed: z.int(),
  /** Entities whose edges are there, and those of the rim, which have only the edges that lead to them. */
  expanded: count,
  rim: count,
  triples: count,
  /** Relations of entities of which not all tails were brought. */
  cut: count,
});

/** See `extractionSchema`. */
export type Extraction = z.output<typeof extractionSchema>;

/** Name of the file that says how the triples beside it were extracted. */
export const extractionFileName = 'extraction.json';

/** The shape of `dataset.json` of links; unknown keys are refused. */
export const linkManifestSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('links'),
  name: z.string(),
  /** The importer. */
  format: z.literal('triples'),
  licence: z.string(),
  /** How valid and test were drawn where the source has one file: by this seed, each this share of the triples. Absent: files. */
  drawn: z.strictObject({ seed: count, share: z.number().gt(0).lt(0.5) }).optional(),
  /** Of entities that were drawn apart: which side this is, the data set of the other one, and the share that is unseen. */
  apart: z
    .strictObject({
      side: z.enum(['seen', 'unseen']),
      beside: z.string(),
      share: z.number().gt(0).lt(1),
      /** Of the relations: the seen side has no triple of them, the other one asks for them alone. */
      relations: z.number().gt(0).lt(1).optional(),
      seed: count,
    })
    .optional(),
  /** How the triples were cut out of a larger graph; absent where they were not. */
  extracted: extractionSchema.optional(),
  splits: z.strictObject({ train: readSchema, valid: judgedSchema, test: judgedSchema }),
  /** Triples that stand in two splits: none, unless overlaps were allowed. */
  overlaps: z.strictObject({ trainValid: count, trainTest: count, validTest: count }),
  graph: z.strictObject({
    /** Of all splits. */
    entities: count,
    /** Of all splits, inverses not counted. */
    relations: count,
    /** Training triples and their inverses. */
    edges: count,
    madeFrom: z.array(z.string()),
    /** Equals `Graph.hash`. */
    hash: sha256,
  }),
  names: z.strictObject({
    /** Entities with a display name; the others show their id. */
    named: count,
    unnamed: count,
    /** Entities that share their name with another one. */
    shared: count,
    /** Names of ids that no triple has. */
    unused: count,
  }),
  sources: sourcesSchema,
  files: filesSchema,
});

/** What was imported, from what, what there is to know of it, and how to check that it is still the same. */
export type LinkManifest = z.output<typeof linkManifestSchema>;

/** Hash of triples and graph as they are stored: what a checkpoint and an evaluation are tied to. */
export const linksHash = ({ files }: Pick<LinkManifest, 'files'>): string => configHash(files);

/** Name of the one graph of a data set of links: its training edges. */
export const linkGraphName = 'train';

export const tripleFileName = (split: SplitName): string => `triples-${split}.bin`;

/** Name of the file of display names; absent where no entity has one. */
export const labelFileName = 'labels.jsonl';

/** An imported data set of links, in memory. All of it is shared by whoever loaded it: nothing may be written to. */
export interface LinkDataset extends ImportedDataset<LinkManifest> {
  /**
   * Edges of train and their inverses; entities and relations of all splits, so that some may have no edge. Plain relations are
   * `0 .. numRelations / 2 - 1`; the inverse of r is `r + numRelations / 2` and asks for heads.
   */
  readonly graph: Graph;
  /** Triples by the graph's ids, each once, in the order of the source; relations are plain. */
  readonly train: TripleColumns;
  readonly valid: TripleColumns;
  readonly test: TripleColumns;
  /** Display name of each entity; its id in the source where it has none. Several may share one. Made when first asked for. */
  readonly labels: readonly string[];
  /** Answers in any split, of plain and of inverse relations: what filtered ranks leave out. Made when first asked for. */
  readonly known: KnownAnswers;
  /** Answers in train alone: what a training walk may be told. Made when first asked for. */
  readonly trainKnown: KnownAnswers;
}

/**
 * @throws WorkbenchError `data` when no such data set was imported, it is of another kind, or a file is missing or altered
 */
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

/** Whether all ids are those of the graph's entities and plain relations: a folder may come from anywhere. */
function isOf({ numEntities, numRelations }: Graph, { heads, relations, tails }: TripleColumns): boolean {
  const within = (column: Int32Array, count: number) => column.every((id) => id >= 0 && id < count);
  return within(heads, numEntities) && within(relations, numRelations / 2) && within(tails, numEntities);
}

const labelSchema = z.tuple([z.int().min(0), z.string()]);

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Writes all heads, then all relations, then all tails: int32 as they lie in memory, which is little-endian. */
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

/** How a graph was cut out of a larger one, and what that tells of what is asked in it. */
export function extractionLines({ source, hops, maxTails, ...extracted }: Extraction): string[] {
  const { topics, notFound, distractors, seed, expanded, rim, cut } = extracted;
  const topicsFound = `${topics} topics${notFound > 0 ? ` (${notFound} more were not found)` : ''}`;
  const drawn = distractors > 0 ? ` and ${distractors} distractors (seed ${seed})` : ', no distractors';
  return [
    `cut out of ${source}: ${hops} hops around ${topicsFound}${drawn}; ${expanded} entities with their edges, ${rim} at the rim with those that lead to them alone; ${cut} relations of hubs cut to ${maxTails} tails`,
    'what is cut out around topics tells where questions begin, and keeps what does not answer them away: compare within this graph alone, with distractors among the topics',
  ];
}

/** Which side of what was drawn apart this is. */
export function apartLine({ side, beside, share, relations, seed }: NonNullable<LinkManifest['apart']>): string {
  const percent = (part: number) => `${Number((100 * part).toFixed(1))} %`;
  const drawn = relations === undefined ? '' : ` and ${percent(relations)} of the relations`;
  const what =
    relations === undefined ? '' : side === 'seen' ? ', without those relations' : ', asked for those relations';
  return `${percent(share)} of the entities${drawn} were drawn apart (seed ${seed}): these are the ${side} ones${what}, those of ${beside} the others`;
}

/** One line a thing; none where nothing is amiss. */
export function linkNotes({
  splits,
  overlaps,
  drawn,
  apart,
  extracted,
}: Pick<LinkManifest, 'splits' | 'overlaps' | 'drawn' | 'apart' | 'extracted'>): string[] {
  const { valid, test } = splits;
  const counted: [string, number, number][] = [
    ['have an entity that train lacks, and rank last', valid.triplesOfUnseenEntities, test.triplesOfUnseenEntities],
    ['have a relation that train lacks', valid.triplesOfUnseenRelations, test.triplesOfUnseenRelations],
    ['stand in train, too', overlaps.trainValid, overlaps.trainTest],
    ['are pairs that train links the other way round', valid.reversedInTrain, test.reversedInTrain],
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

/**
 * Compares files, hashes and counts with the manifest.
 * @throws WorkbenchError `data` when no such data set was imported, or its manifest cannot be read
 */
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
