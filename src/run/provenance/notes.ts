/**
 * Notes of what artifacts are made from, taken by the code that reads the samples: a list kept beside a call can say
 * something else than what the call did. Whoever makes something asks `madeFrom` and calls what it gets for every sample
 * that it reads; a run or an evaluation collects the notes of all it does.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isDeepStrictEqual } from 'node:util';
import {
  readProvenance,
  sampleSet,
  writeProvenance,
  type ArtifactFacts,
  type ArtifactKind,
  type ArtifactRecord,
  type ProvenanceRecord,
  type SampleSet,
} from './record.js';

/** Notes that an artifact was made from a sample. @param content hash of what the sample says and what is right */
export type NoteSample = (id: string, content: string) => void;

interface Noted extends Pick<ArtifactRecord, 'kind' | 'name'> {
  facts: ArtifactFacts;
  texts: Set<string>;
  contents: Map<string, string>;
}

/** Where one run or evaluation keeps its notes. */
export class ProvenanceNotes {
  readonly #noted = new Map<string, Noted>();
  readonly #earlier: ProvenanceRecord[] = [];
  #written: string | undefined;

  /** Takes over what was noted before: by the session that is resumed, or by what several evaluations share. */
  keep(earlier: ProvenanceRecord | undefined): this {
    if (earlier) this.#earlier.push(earlier);
    return this;
  }

  /** An artifact; made twice under one name, it is one. */
  artifact(kind: ArtifactKind, name: string, facts: ArtifactFacts): Omit<Noted, 'kind' | 'name'> {
    const key = `${kind}\u0000${name}`;
    let noted = this.#noted.get(key);
    if (!noted) this.#noted.set(key, (noted = { kind, name, facts, texts: new Set(), contents: new Map() }));
    return noted;
  }

  /** All notes, sorted, so that their order in time does not show. */
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

  /** Writes the record, unless nothing was noted since it was written there. */
  write(file: string): void {
    const sizes = [...this.#noted.values()].map(({ contents, texts }) => contents.size + texts.size);
    const state = [file, this.#earlier.length, ...sizes].join();
    if (state === this.#written) return;
    writeProvenance(file, this.record());
    this.#written = state;
  }
}

const current = new AsyncLocalStorage<ProvenanceNotes>();

/** Runs `body`, which may be asynchronous; what it makes is noted in `notes`. */
export function collectProvenance<T>(notes: ProvenanceNotes, body: () => T): T {
  return current.run(notes, body);
}

/**
 * Takes over what an earlier session of a run noted, from its file.
 * @throws WorkbenchError `data` for a damaged file
 */
export function resumeProvenance(file: string): void {
  current.getStore()?.keep(readProvenance(file));
}

/** Takes over what another thread noted while it worked for this one. */
export function keepNotes(record: ProvenanceRecord): void {
  current.getStore()?.keep(record);
}

/** Writes what has been noted so far, where it is not in the file yet. Belongs before what was made is saved. */
export function keepProvenance(file: string): void {
  current.getStore()?.write(file);
}

/**
 * Says that something is being made, also where it turns out to be made from no sample.
 * @param name one in its kind, such as `walk counts`
 * @param facts sizes, hashes, sources
 */
export function madeFrom(kind: ArtifactKind, name: string, facts: ArtifactFacts = {}): NoteSample {
  const contents = current.getStore()?.artifact(kind, name, facts).contents;
  return (id, content) => {
    if (!contents) return;
    // A second content under one id is a second sample, which no data set holds.
    const known = contents.get(id);
    contents.set(known === undefined || known === content ? id : `${id} (other)`, content);
  };
}

/** Says that questions written by hand, or from anywhere, stand in a prompt as examples. */
export function madeFromTexts(kind: ArtifactKind, name: string, texts: Iterable<string>): void {
  const known = current.getStore()?.artifact(kind, name, {}).texts;
  if (known) for (const text of texts) known.add(text);
}
