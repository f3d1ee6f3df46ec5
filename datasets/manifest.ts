/** What stands in a data set's `dataset.json`. */
import { z } from 'zod';
import { configHash } from '../src/run/config.js';
import type { SplitName } from './walk-sample.js';

/** In the order in which they are always shown. */
export const splitNames: readonly SplitName[] = ['train', 'valid', 'test'];

const count = z.number().int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Of subsets, release files and graphs: they become parts of file names. */
export const partName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/i);
/** sha256 by file of the folder; no name leads out of it. */
export const filesSchema = z.record(z.string().regex(/^[^./\\\0][^/\\\0]*$/), sha256);

const splitSchema = z.strictObject({
  dialogues: count,
  messages: count,
  /** Samples with `turns: all`. */
  paths: count,
});

const leftOutSchema = z.strictObject({
  /** Paths left out, by reason. */
  paths: z.record(z.string(), count),
  /** Actions that carry no path. */
  otherActions: count,
});

const graphSchema = z.strictObject({
  entities: count,
  relations: count,
  /** Distinct edges. */
  triples: count,
  /** Lines dropped for a blank field. */
  blankLines: count,
  /** The source files that its triples were read from, noted as they were read; absent in older imports. */
  madeFrom: z.array(z.string()).optional(),
  /** Equals `Graph.hash`: what a checkpoint is tied to. */
  hash: sha256,
  /** What one must know before trusting a score on this graph. */
  note: z.string(),
});

/** What made a data set that a program made, and with which settings: with them it can be made again. */
export const generatedSchema = z.strictObject({
  /** The command. */
  by: z.string(),
  settings: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
});

/** The shape of `dataset.json`; unknown keys are refused. */
export const manifestSchema = z.strictObject({
  schemaVersion: z.literal(1),
  name: z.string(),
  licence: z.string(),
  splitBy: z.enum(['file', 'dialogue hash']),
  splits: z.record(z.enum(['train', 'valid', 'test']), splitSchema),
  /** What was not imported, by source file. */
  leftOut: z.record(z.string(), leftOutSchema),
  graphs: z.record(partName, graphSchema),
  /** The files it was imported from. */
  sources: z.array(z.strictObject({ file: z.string(), bytes: count, sha256 })),
  /** sha256 of every other file of the folder. */
  files: filesSchema,
  generated: generatedSchema.optional(),
});

/** What was imported, from what, what was left out, and how to check that it is still the same. */
export type DatasetManifest = z.output<typeof manifestSchema>;

/** Hash of the files that a data set was imported from: equal imports, equal hash. */
export const sourcesHash = ({ sources }: DatasetManifest): string => configHash(sources);

/** Name of the file of a graph. */
export const graphFileName = (graph: string): string => `graph-${graph}.bin`;

/** Name of the file of a split's dialogues. */
export const dialogueFileName = (split: SplitName): string => `dialogues.${split}.jsonl`;

/** Name of the file of the manifest. */
export const manifestFileName = 'dataset.json';
