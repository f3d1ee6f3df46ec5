/** `provenance.json`: what every artifact was made from, in bytes that are equal for equal runs. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { writeFileAtomic } from '../files.js';
import { readJsonFile } from '../read-json.js';
import { packIds } from './packed-ids.js';

/** What an artifact is, in the words of `kgwalk datasets check`. */
export const artifactKinds = [
  'edge list',
  'embedding',
  'normaliser',
  'frequency table',
  'memory',
  'few-shot example',
  'training',
  /** What was kept of several: not made from the samples, but chosen by their golds. */
  'choice',
  /** What an agent said to earlier questions, without their golds. */
  'own answers',
] as const;
/** One of `artifactKinds`. */
export type ArtifactKind = (typeof artifactKinds)[number];

/** Sizes, hashes and sources, by name. */
export type ArtifactFacts = Readonly<Record<string, string | number | readonly string[]>>;

const count = z.int().min(0).max(100_000_000);

const recordSchema = z.strictObject({
  schemaVersion: z.literal(1),
  /** By a name that follows from the set: several artifacts may be made from one. */
  sets: z.record(
    z.string(),
    z.strictObject({
      count,
      /** Numbers at the end of ids by what stands before them: `{"train-17#": "1-3"}`. */
      ids: z.record(z.string(), z.string()),
      /** sha256 over ids and contents: whether the data set still holds these samples under these ids. */
      digest: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
  artifacts: z.array(
    z.strictObject({
      kind: z.enum(artifactKinds),
      name: z.string(),
      /** Name of a set; absent: made from no sample. */
      samples: z.string().optional(),
      facts: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())])).optional(),
      /** Of examples that stand in no data set: the questions, as written. */
      texts: z.array(z.string()).optional(),
    }),
  ),
});

/** All that `provenance.json` holds. */
/** What `provenance.json` holds. */
export type ProvenanceRecord = z.output<typeof recordSchema>;
/** What one artifact was made from. */
/** One artifact of it. */
export type ArtifactRecord = ProvenanceRecord['artifacts'][number];
/** Samples that artifacts were made from. */
/** Samples that something was made from. */
export type SampleSet = ProvenanceRecord['sets'][string];

/** A set of samples. @param contents by id, each a hash of what the sample says */
export function sampleSet(contents: ReadonlyMap<string, string>): SampleSet {
  const ids = [...contents.keys()].sort();
  const hash = createHash('sha256');
  for (const id of ids) hash.update(`${id}\u0000${contents.get(id)!}\n`);
  return { count: ids.length, ids: packIds(ids), digest: hash.digest('hex') };
}

/** What is known of weights that come from a run without notes. */
export const unknownWeights: ProvenanceRecord = {
  schemaVersion: 1,
  sets: {},
  artifacts: [{ kind: 'training', name: 'weights it began with', facts: { sources: 'not known' } }],
};

/** Writes a record, atomically. */
export function writeProvenance(file: string, record: ProvenanceRecord): void {
  writeFileAtomic(file, `${JSON.stringify(record, null, 1)}\n`);
}

/**
 * The record, or undefined where there is none: what an older version wrote.
 * @throws WorkbenchError `data` for a damaged file
 */
export function readProvenance(file: string): ProvenanceRecord | undefined {
  return existsSync(file) ? readJsonFile(file, recordSchema, 'what artifacts were made from') : undefined;
}
