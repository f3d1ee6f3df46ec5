/** What stands in the `dataset.json` of a data set of links. */
import { z } from 'zod';
import { configHash } from '../../src/run/config.js';
import { filesSchema } from '../manifest.js';
import type { SplitName } from '../walk-sample.js';

const count = z.number().int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

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
  /** The files it was imported from. */
  sources: z.array(z.strictObject({ file: z.string(), bytes: count, sha256 })),
  /** sha256 of every other file of the folder. */
  files: filesSchema,
});

/** What was imported, from what, what there is to know of it, and how to check that it is still the same. */
export type LinkManifest = z.output<typeof linkManifestSchema>;

/** Hash of triples and graph as they are stored: what a checkpoint and an evaluation are tied to. */
export const linksHash = ({ files }: Pick<LinkManifest, 'files'>): string => configHash(files);

/** Name of the one graph of a data set of links: its training edges. */
export const linkGraphName = 'train';

/** Name of the file of a split's triples. */
export const tripleFileName = (split: SplitName): string => `triples-${split}.bin`;

/** Name of the file of display names; absent where no entity has one. */
export const labelFileName = 'labels.jsonl';
