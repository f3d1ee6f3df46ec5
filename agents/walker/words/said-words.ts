/** Words of the dialogues of a batch, each distinct message once. */
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { type Vocabulary, wordsOf } from './vocabulary.js';

/** Sequences of rows of a table, one behind the other; none is empty. */
export interface Sequences {
  /** int32 [length of all]: rows. */
  rows: Int32Array;
  /** int32 [sequences + 1]: rows of sequence `i` are `offsets[i] .. offsets[i + 1] - 1`. */
  offsets: Int32Array;
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
  /** Task of each dialogue. */
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

  /** Texts that are kept now. */
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
