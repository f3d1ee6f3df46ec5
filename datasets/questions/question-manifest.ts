/** Manifest (`dataset.json`) and splits of question data sets. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { configHash } from '../../src/run/config-values.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import {
  count,
  filesSchema,
  generatedSchema,
  graphSchema,
  notesSchema,
  partName,
  sourcesSchema,
} from '../imported-dataset.js';
import { maskedQuestion } from '../question.js';
import type { StoredQuestion } from './stored-question.js';

const releaseFileSchema = z.strictObject({
  questions: count,
  /** Dropped items, by reason. */
  dropped: z.record(z.string(), count),
  /** Questions without a topic in the graph: kept, but walking agents cannot answer them. */
  topicsNotInGraph: count,
  /** Answers that are no entity of the graph, over all questions. */
  answersNotInGraph: count,
});

const subsetSchema = z.strictObject({
  /** The one of `graphs` that ids refer to. */
  graph: partName,
  /** By release file: `train`, `dev`, `test`, or `all` for a release without splits. */
  files: z.record(partName, releaseFileSchema),
});

/** Schema of `dataset.json` for questions; unknown keys are refused. */
export const questionManifestSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('questions'),
    name: z.string(),
    /** Importer, such as `metaqa`. */
    format: z.string(),
    licence: z.string(),
    /** Labels to show with every score: `fixture` (graph collected partly from gold answers), `generated` (generated questions). */
    labels: z.array(z.enum(['fixture', 'generated'])),
    subsets: z
      .record(partName, subsetSchema)
      .refine((subsets) => Object.keys(subsets).length > 0, 'expected at least one subset'),
    graphs: z.record(partName, graphSchema),
    /** True if gold chains may return to their topics; see `QuestionTask`. */
    topicsReturn: z.boolean(),
    /** Question types that the hold-out `type` keeps for test; empty if not offered. */
    heldTypes: z.array(z.string()),
    notes: notesSchema,
    sources: sourcesSchema,
    files: filesSchema,
    generated: generatedSchema.optional(),
  })
  .refine(({ subsets, graphs }) => Object.values(subsets).every(({ graph }) => Object.hasOwn(graphs, graph)), {
    message: 'every subset belongs to one of the graphs',
  });

/** Manifest: content, sources, dropped items, checksums. */
export type QuestionManifest = z.output<typeof questionManifestSchema>;

/** Hash of the stored questions and graphs, which checkpoints and evaluations are tied to. */
export const questionsHash = ({ files }: Pick<QuestionManifest, 'files'>): string => configHash(files);

export const questionFileName = (subset: string, file: string): string => `questions.${subset}.${file}.jsonl`;

export const aliasFileName = 'aliases.jsonl';

/** Release files of all subsets, in the order train, dev, valid, test, others. */
function releaseFilesOf({ subsets }: Pick<QuestionManifest, 'subsets'>): string[] {
  const files = [...new Set(Object.values(subsets).flatMap((subset) => Object.keys(subset.files)))];
  const known = ['train', 'dev', 'valid', 'test'];
  return [...known.filter((file) => files.includes(file)), ...files.filter((file) => !known.includes(file)).sort()];
}

/**
 * What test questions do not share with train: the question itself, its template, or its type; `type` uses the data set's held types,
 * `type:3` those of draw 3 (`drawHeldTypes`).
 */
export type HoldOut = 'question' | 'template' | 'type' | `type:${number}`;

/** Draw of types in the name of a hold-out or split; undefined for others. */
export function drawOfTypes(holdOutOrSplit: string = ''): number | undefined {
  const [, draw] = /^type:(\d{1,9})(?:-|$)/.exec(holdOutOrSplit) ?? [];
  return draw === undefined ? undefined : Number(draw);
}

/** Purpose of a split. */
export type SplitRole = 'train' | 'valid' | 'test';

/** Split: name, and the stored questions of each release file that belong to it. */
export interface QuestionSplit {
  name: string;
  holdOut: HoldOut;
  /** Absent for release files with other names. */
  role?: SplitRole;
  has: (question: StoredQuestion, file: string) => boolean;
}

const roles: readonly SplitRole[] = ['train', 'valid', 'test'];

/** The first 32 bits of the sha256 of `key`, big-endian, modulo 10. */
export const bucketOf = (key: string): number => createHash('sha256').update(key).digest().readUInt32BE(0) % 10;

/**
 * All splits of a data set. A release with `train` and `dev` or `valid` keeps its files. Otherwise the first file is partitioned by
 * `bucketOf(group or id)`: 0 to 7 train, 8 valid, 9 test, named `dev-train` and so on, or `train`, `valid`, `test` if the release has no
 * splits (file `all`). Hold-outs pool all files: `template-…` by `bucketOf('T|' + masked question)`, 0 to 6 train, 7 valid, 8 and 9 test;
 * `type-…` if types are held out: those are test, bucket 8 of the others is valid.
 * @param drawn a draw of held types instead of the manifest's
 */
export function splitsOf(
  manifest: Pick<QuestionManifest, 'subsets' | 'heldTypes'>,
  drawn?: { draw: number; types: readonly string[] },
): QuestionSplit[] {
  const files = releaseFilesOf(manifest);
  const complete = files.includes('train') && (files.includes('dev') || files.includes('valid'));
  const [partitioned, kept] = complete ? [[], files] : [files.slice(0, 1), files.slice(1)];
  const held = new Set(drawn?.types ?? manifest.heldTypes);
  const byType: HoldOut = drawn ? `type:${drawn.draw}` : 'type';
  const typeRole = (question: StoredQuestion): SplitRole =>
    held.has(question.type ?? '') ? 'test' : questionBucket(question) === 8 ? 'valid' : 'train';
  return [
    ...partitioned.flatMap((file) => partition(file, kept.includes('test'))),
    ...kept.map((name) => ({
      name,
      holdOut: 'question' as const,
      role: name === 'dev' ? ('valid' as const) : roles.find((role) => role === name),
      has: (_: StoredQuestion, file: string) => file === name,
    })),
    ...roles.map((role) => heldOut('template', role, templateRole)),
    ...(held.size === 0 ? [] : roles.map((role) => heldOut(byType, role, typeRole))),
  ];
}

/**
 * Split by name (`dev-valid`, `template-test`) or, for `train`, `valid`, `test`, by role within the hold-out.
 * @param wanted default: the validation split
 * @param drawn as in `splitsOf`
 * @throws WorkbenchError `usage` that lists the splits
 */
export function findSplit(
  manifest: Pick<QuestionManifest, 'name' | 'subsets' | 'heldTypes'>,
  wanted: string = 'valid',
  holdOut?: HoldOut,
  drawn?: { draw: number; types: readonly string[] },
): QuestionSplit {
  const splits = splitsOf(manifest, drawn).filter((split) => holdOut === undefined || split.holdOut === holdOut);
  const named = splits.find(({ name }) => name === wanted);
  const found = named ?? splits.find(({ role, holdOut: of }) => role === wanted && of === (holdOut ?? 'question'));
  if (found) return found;
  const names = splits.map(({ name }) => name).join(', ') || `none held out by ${holdOut}`;
  throw new WorkbenchError('usage', `expected a split of ${manifest.name} (${names}), got "${printable(wanted, 80)}"`, {
    hint: 'kgwalk datasets stats NAME shows them with their sizes.',
  });
}

/** If the release has a test file, that is the test split; the partition's test is an additional one. */
function partition(file: string, hasOfficialTest: boolean): QuestionSplit[] {
  return roles.map((role) => ({
    name: file === 'all' ? role : `${file}-${role}`,
    holdOut: 'question',
    role: role === 'test' && hasOfficialTest ? undefined : role,
    has: (question, of) => of === file && bucketRole(questionBucket(question), 8, 9) === role,
  }));
}

function heldOut(holdOut: HoldOut, role: SplitRole, roleOf: (question: StoredQuestion) => SplitRole): QuestionSplit {
  return { name: `${holdOut}-${role}`, holdOut, role, has: (question) => roleOf(question) === role };
}

const questionBucket = remembered(({ group, id }) => bucketOf(group ?? id));

const templateRole = remembered((question) => bucketRole(bucketOf(`T|${maskedQuestion(question)}`), 7, 8));

/** Cached per split, as hashing dominates. */
function remembered<T>(compute: (question: StoredQuestion) => T): (question: StoredQuestion) => T {
  const known = new WeakMap<StoredQuestion, T>();
  return (question) => {
    const value = known.get(question) ?? compute(question);
    known.set(question, value);
    return value;
  };
}

const bucketRole = (bucket: number, valid: number, test: number): SplitRole =>
  bucket < valid ? 'train' : bucket < test ? 'valid' : 'test';
