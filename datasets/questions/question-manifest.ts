/** What stands in the `dataset.json` of a question data set. */
import { z } from 'zod';
import { configHash } from '../../src/run/config.js';
import { filesSchema, generatedSchema, partName } from '../manifest.js';

const count = z.number().int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const releaseFileSchema = z.strictObject({
  questions: count,
  /** Items that were not imported, by reason. */
  dropped: z.record(z.string(), count),
  /** Questions none of whose topics is in the graph: kept, and no agent that walks can answer them. */
  topicsNotInGraph: count,
  /** Answers, of all questions, that are no entity of the graph. */
  answersNotInGraph: count,
});

const subsetSchema = z.strictObject({
  /** Which of `graphs` its ids belong to. */
  graph: partName,
  /** By release file: `train`, `dev`, `test`, or `all` for a release without splits. */
  files: z.record(partName, releaseFileSchema),
});

const graphSchema = z.strictObject({
  entities: count,
  relations: count,
  /** Distinct edges, inverses included. */
  triples: count,
  /** The source files that its triples were read from; absent in older imports, and for graphs that a program made. */
  madeFrom: z.array(z.string()).optional(),
  /** Equals `Graph.hash`. */
  hash: sha256,
  /** What one must know before trusting a score on this graph. */
  note: z.string(),
});

/** The shape of a question data set's `dataset.json`; unknown keys are refused. */
export const questionManifestSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('questions'),
    name: z.string(),
    /** The importer, such as `metaqa`. */
    format: z.string(),
    licence: z.string(),
    /**
     * What every table must say beside its scores: `fixture` (a graph collected partly from gold answers), `generated` (questions
     * made by a program).
     */
    labels: z.array(z.enum(['fixture', 'generated'])),
    subsets: z
      .record(partName, subsetSchema)
      .refine((subsets) => Object.keys(subsets).length > 0, 'expected at least one subset'),
    graphs: z.record(partName, graphSchema),
    /** Whether gold chains come back to their topics, or end there; see `QuestionTask`. */
    topicsReturn: z.boolean(),
    /** Question types that the hold-out `type` keeps for test; empty where it is not offered. */
    heldTypes: z.array(z.string()),
    /** The files it was imported from. */
    sources: z.array(z.strictObject({ file: z.string(), bytes: count, sha256 })),
    /** sha256 of every other file of the folder. */
    files: filesSchema,
    generated: generatedSchema.optional(),
  })
  .refine(({ subsets, graphs }) => Object.values(subsets).every(({ graph }) => Object.hasOwn(graphs, graph)), {
    message: 'every subset belongs to one of the graphs',
  });

/** What was imported, from what, what was left out, and how to check that it is still the same. */
export type QuestionManifest = z.output<typeof questionManifestSchema>;

/** Hash of the questions and graphs as they are stored: what a checkpoint and an evaluation are tied to. */
export const questionsHash = ({ files }: Pick<QuestionManifest, 'files'>): string => configHash(files);

/** Name of the file of one subset's questions from one release file. */
export const questionFileName = (subset: string, file: string): string => `questions.${subset}.${file}.jsonl`;

/** Name of the optional file of further names of entities. */
export const aliasFileName = 'aliases.jsonl';

/** The release files of all subsets, in the order train, dev, valid, test, others. */
export function releaseFilesOf({ subsets }: Pick<QuestionManifest, 'subsets'>): string[] {
  const files = [...new Set(Object.values(subsets).flatMap((subset) => Object.keys(subset.files)))];
  const known = ['train', 'dev', 'valid', 'test'];
  return [...known.filter((file) => files.includes(file)), ...files.filter((file) => !known.includes(file)).sort()];
}
