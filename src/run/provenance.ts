/**
 * Records of the sources of artifacts, made by the code that reads the samples: it calls `madeFrom` and the returned
 * function for every sample; a run or an evaluation collects all records.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { sha256FileSync, writeFileAtomic } from './files.js';
import { readJsonFile } from './read-json.js';
import type { RunInfo } from './records.js';
import { runFiles } from './run-files.js';

/** Categories as listed by `kgwalk datasets check`. */
const artifactKinds = [
  'edge list',
  'embedding',
  'normaliser',
  'frequency table',
  'memory',
  'few-shot example',
  'training',
  /** Selected by the golds of the samples, but not made from them. */
  'choice',
  /** An agent's answers to earlier questions, without golds. */
  'own answers',
] as const;
/** Kind of an artifact. */
export type ArtifactKind = (typeof artifactKinds)[number];

/** Sizes, hashes and sources, by name. */
export type ArtifactFacts = Readonly<Record<string, string | number | readonly string[]>>;

const count = z.int().min(0).max(100_000_000);

const recordSchema = z.strictObject({
  schemaVersion: z.literal(1),
  /** Key of the set; several artifacts may share one. */
  sets: z.record(
    z.string(),
    z.strictObject({
      count,
      /** Numbers at the end of ids by prefix: `{"train-17#": "1-3"}`. */
      ids: z.record(z.string(), z.string()),
      /** sha256 over ids and contents: shows whether the data set still has these samples under these ids. */
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
      /** Examples outside any data set: the questions, as written. */
      texts: z.array(z.string()).optional(),
    }),
  ),
});

/** Content of `provenance.json`. */
export type ProvenanceRecord = z.output<typeof recordSchema>;
/** Sources of one artifact. */
export type ArtifactRecord = ProvenanceRecord['artifacts'][number];
type SampleSet = ProvenanceRecord['sets'][string];

/** Facts of an artifact with unknown sources. */
export const unknownSources = { sources: 'not known' } as const;

/** True if the sources of an artifact are unknown. */
export const hasUnknownSources = (facts: ArtifactFacts | undefined): boolean =>
  facts?.sources === unknownSources.sources;

/** Record for weights from a run without notes. */
export const unknownWeights: ProvenanceRecord = {
  schemaVersion: 1,
  sets: {},
  artifacts: [{ kind: 'training', name: 'weights it began with', facts: unknownSources }],
};

/** Writes a record, atomically. */
export function writeProvenance(file: string, record: ProvenanceRecord): void {
  writeFileAtomic(file, `${JSON.stringify(record, null, 1)}\n`);
}

/** The record, or undefined if there is none. @throws WorkbenchError `data` for a damaged file */
export function readProvenance(file: string): ProvenanceRecord | undefined {
  return existsSync(file) ? readJsonFile(file, recordSchema, 'what artifacts were made from') : undefined;
}

/** Notes kept by a finished run; undefined if there are none. */
export const hashOfNotes = (file: string): string | undefined => (existsSync(file) ? sha256FileSync(file) : undefined);

/** Notes of a run, or undefined if it has none. @throws WorkbenchError `data` for a file damaged, or altered after the run's end */
export function readRunProvenance({ folder, state }: Pick<RunInfo, 'folder' | 'state'>): ProvenanceRecord | undefined {
  const file = runFiles(folder).provenance;
  const [known, found] = [state.provenanceSha256, hashOfNotes(file)];
  if (state.status === 'finished' && found !== undefined && found !== known) {
    const message = `expected the notes that the run ended with (${known?.slice(0, 8) ?? 'none'}), got ${found.slice(0, 8)}, at ${file}`;
    throw new WorkbenchError('data', message, {
      hint: 'The file was put there from elsewhere, or altered: put it back as it was.',
    });
  }
  return readProvenance(file);
}

interface Noted extends Pick<ArtifactRecord, 'kind' | 'name'> {
  facts: ArtifactFacts;
  texts: Set<string>;
  contents: Map<string, string>;
}

/** Notes of one run or evaluation. */
export class ProvenanceNotes {
  readonly #noted = new Map<string, Noted>();
  readonly #earlier: ProvenanceRecord[] = [];
  #written: string | undefined;

  /** Adds earlier notes: of a resumed session, or shared by several evaluations. */
  keep(earlier: ProvenanceRecord | undefined): this {
    if (earlier) this.#earlier.push(earlier);
    return this;
  }

  /** Adds an artifact; equal names are one artifact. */
  artifact(kind: ArtifactKind, name: string, facts: ArtifactFacts): Omit<Noted, 'kind' | 'name'> {
    const key = `${kind}\u0000${name}`;
    let noted = this.#noted.get(key);
    if (!noted) this.#noted.set(key, (noted = { kind, name, facts, texts: new Set(), contents: new Map() }));
    return noted;
  }

  /** All notes, sorted, independent of their order in time. */
  record(): ProvenanceRecord {
    const sets = new Map<string, SampleSet>();
    const nameOf = (set: SampleSet) => {
      const name = `${set.count}-${set.digest.slice(0, 12)}`;
      sets.set(name, set);
      return name;
    };
    const artifacts = [...this.#noted.values()].map(({ kind, name, facts, texts, contents }): ArtifactRecord => ({
      kind,
      name,
      ...(contents.size > 0 && { samples: nameOf(sampleSet(contents)) }),
      ...(Object.keys(facts).length > 0 && { facts: facts as NonNullable<ArtifactRecord['facts']> }),
      ...(texts.size > 0 && { texts: [...texts].sort() }),
    }));
    for (const earlier of this.#earlier) {
      for (const artifact of earlier.artifacts) {
        if (artifact.samples !== undefined) nameOf(earlier.sets[artifact.samples]!);
        if (!artifacts.some((known) => isDeepStrictEqual(known, artifact))) artifacts.push(artifact);
      }
    }
    const keyOf = ({ kind, name, samples = '' }: ArtifactRecord) => [kind, name, samples].join('\u0000');
    return {
      schemaVersion: 1,
      sets: Object.fromEntries([...sets].sort(([a], [b]) => (a < b ? -1 : 1))),
      artifacts: artifacts.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    };
  }

  /** Writes the record unless nothing was added since the last write. */
  write(file: string): void {
    const sizes = [...this.#noted.values()].map(({ contents, texts }) => contents.size + texts.size);
    const state = [file, this.#earlier.length, ...sizes].join();
    if (state === this.#written) return;
    writeProvenance(file, this.record());
    this.#written = state;
  }
}

const current = new AsyncLocalStorage<ProvenanceNotes>();

/** Runs `body` (sync or async) and collects its notes in `notes`. */
export const collectProvenance = <T>(notes: ProvenanceNotes, body: () => T): T => current.run(notes, body);

/** Adds the notes of an earlier session of a run from its file. @throws WorkbenchError `data` for a damaged file */
export const resumeProvenance = (file: string): void => keepNotes(readProvenance(file));

/** Adds the notes of a worker thread. */
export const keepNotes = (record: ProvenanceRecord | undefined): void => void current.getStore()?.keep(record);

/** Writes new notes to the file. Call before saving what was made. */
export const keepProvenance = (file: string): void => current.getStore()?.write(file);

/**
 * Declares an artifact, also if it turns out to use no sample.
 * @param name unique within its kind, such as `walk counts`
 * @param facts sizes, hashes, sources
 * @returns records a sample: its id, and a hash of its content and gold
 */
export function madeFrom(kind: ArtifactKind, name: string, facts: ArtifactFacts = {}) {
  const contents = current.getStore()?.artifact(kind, name, facts).contents;
  return (id: string, content: string): void => {
    if (!contents) return;
    // A second content under one id is a second sample, which is in no data set.
    const known = contents.get(id);
    contents.set(known === undefined || known === content ? id : `${id} (other)`, content);
  };
}

/** Declares handwritten example questions of a prompt. */
export function madeFromTexts(kind: ArtifactKind, name: string, texts: Iterable<string>): void {
  const known = current.getStore()?.artifact(kind, name, {}).texts;
  if (known) for (const text of texts) known.add(text);
}

/** A set of samples. @param contents by id, each a hash of the sample's content */
export function sampleSet(contents: ReadonlyMap<string, string>): SampleSet {
  const ids = [...contents.keys()].sort();
  const hash = createHash('sha256');
  for (const id of ids) hash.update(`${id}\u0000${contents.get(id)!}\n`);
  return { count: ids.length, ids: packIds(ids), digest: hash.digest('hex') };
}

/** Compact form of sample ids: ranges of trailing numbers by prefix. @returns `{"train-17#": "1-3,7", "odd": ""}` */
export function packIds(ids: Iterable<string>): Record<string, string> {
  const numbers = new Map<string, number[]>();
  for (const id of new Set(ids)) {
    const [, prefix, digits] = /^(.*?)(0|[1-9]\d{0,14})$/s.exec(id) ?? [];
    const key = prefix ?? id;
    numbers.set(key, numbers.get(key) ?? []);
    // An id without a number is its own prefix, with -1 as number.
    numbers.get(key)!.push(digits === undefined ? -1 : Number(digits));
  }
  const rows = [...numbers].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(rows.map(([prefix, of]) => [prefix, rangesOf(of.sort((a, b) => a - b))]));
}

function rangesOf(sorted: readonly number[]): string {
  const ranges: string[] = [];
  for (let i = 0; i < sorted.length; i++) {
    const begin = sorted[i]!;
    if (begin < 0) {
      ranges.push('');
      continue;
    }
    while (sorted[i + 1] === sorted[i]! + 1) i++;
    ranges.push(sorted[i] === begin ? String(begin) : `${begin}-${sorted[i]}`);
  }
  return ranges.join(',');
}

/**
 * Expands `packIds`.
 * @param count expected number of ids: larger ranges are not expanded
 * @throws WorkbenchError `data` for invalid input, or another number of ids
 */
export function unpackIds(packed: Readonly<Record<string, string>>, count: number, place: string): string[] {
  const damaged = (got: string) =>
    new WorkbenchError('data', `expected the ids of ${count} samples, got ${got}, at ${place}`);
  const ids: string[] = [];
  for (const [prefix, ranges] of Object.entries(packed)) {
    for (const range of ranges.split(',')) {
      if (range === '') {
        ids.push(prefix);
        continue;
      }
      const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(range) ?? [];
      if (first === undefined) throw damaged(JSON.stringify(range.slice(0, 40)));
      if (Number(last) - Number(first) >= count - ids.length) throw damaged('more');
      for (let number = Number(first); number <= Number(last); number++) ids.push(`${prefix}${number}`);
    }
  }
  if (ids.length !== count) throw damaged(String(ids.length));
  return ids;
}
