/** Words of the dialogues of a batch, each distinct message once, and the words that a walker knows: those of its train messages. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { madeFromSamples } from '../../../datasets/sample-source.js';
import type { WalkSample, WalkTask } from '../../../datasets/walk-sample.js';
import type { Sequences } from '../../../src/nn/bidirectional.js';
import { writeFileAtomic } from '../../../src/run/files.js';
import { readJsonFile } from '../../../src/run/read-json.js';
import { runFiles } from '../../../src/run/run-files.js';

/** Words in alphabetical order; a word's row is its place plus 1, row 0 stands for all others. */
export type Vocabulary = readonly string[];

const leastCount = 2;

/** A text's words: lower-case runs of letters, accents and all. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/\p{L}+/gu) ?? [];

/** Words of the samples' messages; a message that several turns of a dialogue hold counts once. */
export function vocabularyOf(train: readonly WalkSample[]): Vocabulary {
  const counts = new Map<string, number>();
  const read = new Map<string, number>();
  const note = madeFromSamples('frequency table', 'words of messages');
  for (const sample of train) {
    note(sample);
    const { dialogueId, messages } = sample.task;
    const known = read.get(dialogueId) ?? 0;
    for (const { text } of messages.slice(known)) {
      for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    read.set(dialogueId, Math.max(known, messages.length));
  }
  return [...counts].flatMap(([word, count]) => (count >= leastCount ? [word] : [])).sort();
}

const fileOf = (runFolder: string) => join(runFiles(runFolder).embeddings, 'walker-words.json');

/** Keeps the words with the run, atomically; nothing where the network reads none. */
export function writeVocabulary(runFolder: string, vocabulary: Vocabulary | undefined): void {
  if (vocabulary) writeFileAtomic(fileOf(runFolder), `${JSON.stringify({ words: vocabulary })}\n`);
}

const shape = z.strictObject({ words: z.array(z.string().min(1)) });

/** The words of a run, or undefined where its network reads none. @throws WorkbenchError `data` for a damaged file */
export function readVocabulary(runFolder: string): Vocabulary | undefined {
  const file = fileOf(runFolder);
  if (!existsSync(file)) return undefined;
  return readJsonFile(file, shape, 'the words of a walker').words;
}

/** Messages and dialogues of a batch. */
export interface SaidWords {
  /** Distinct messages: words as rows of the word table. Those that were said last in some dialogue stand first. */
  messages: Sequences;
  /** Number of messages that are the last of some dialogue. */
  numLast: number;
  /** The last few messages of each dialogue, oldest first: places among `messages`. */
  dialogues: Sequences;
  /** int32 [S]: dialogue of each state. */
  dialogueOf: Int32Array;
  /** int32 [dialogues]: its first state. */
  stateOf: Int32Array;
  tasks: readonly WalkTask[];
}

/** Messages of a dialogue that are read. */
const mostMessages = 3;
/** Words of a message that are read: its last ones, where the question is. */
const mostWords = 48;

/** Cached texts before the cache is cleared, for long-running servers; the 72,465 of OpenDialKG fit. */
const mostKnown = 2 ** 17;

/** Reads messages, each distinct text once while it is kept. */
export class WordReader {
  readonly #rowOf: ReadonlyMap<string, number>;
  readonly #known = new Map<string, Int32Array>();

  readonly #most: number;

  /** @param most cached texts; the cache is cleared beyond that. Default 131,072 */
  constructor(vocabulary: Vocabulary, most = mostKnown) {
    this.#most = most;
    this.#rowOf = new Map(vocabulary.map((word, i) => [word, i + 1]));
  }

  get kept(): number {
    return this.#known.size;
  }

  /** @param tasks of each state; states of one should stand side by side */
  of(tasks: readonly WalkTask[]): SaidWords {
    const stateOf: number[] = [];
    const dialogueOf = Int32Array.from(tasks, (task, s) => {
      if (s === 0 || task !== tasks[s - 1]) stateOf.push(s);
      return stateOf.length - 1;
    });
    const read = stateOf.map((s) => tasks[s]!);
    const windows = read.map(windowOf);
    const placeOf = new Map<string, number>();
    const place = (text: string) => {
      if (!placeOf.has(text)) placeOf.set(text, placeOf.size);
      return placeOf.get(text)!;
    };
    for (const window of windows) place(window.at(-1)!);
    const numLast = placeOf.size;
    const dialogues = sequencesOf(windows.map((window) => Int32Array.from(window, place)));
    const messages = sequencesOf([...placeOf.keys()].map((text) => this.#rowsOf(text)));
    return { messages, numLast, dialogues, dialogueOf, stateOf: Int32Array.from(stateOf), tasks: read };
  }

  /** A message without a word is one unknown word. */
  #rowsOf(text: string): Int32Array {
    const known = this.#known.get(text);
    if (known) return known;
    const words = wordsOf(text).slice(-mostWords);
    const rows = Int32Array.from(words.length > 0 ? words : [''], (word) => this.#rowOf.get(word) ?? 0);
    if (this.#known.size >= this.#most) this.#known.clear();
    this.#known.set(text, rows);
    return rows;
  }
}

function windowOf({ messages }: WalkTask): string[] {
  return messages.length === 0 ? [''] : messages.slice(-mostMessages).map(({ text }) => text);
}

function sequencesOf(parts: readonly Int32Array[]): Sequences {
  const offsets = new Int32Array(parts.length + 1);
  parts.forEach(({ length }, i) => (offsets[i + 1] = offsets[i]! + length));
  const rows = new Int32Array(offsets.at(-1)!);
  parts.forEach((part, i) => rows.set(part, offsets[i]));
  return { rows, offsets };
}
