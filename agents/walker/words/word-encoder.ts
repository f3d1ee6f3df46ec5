/**
 * The dialogue as words: the last message, the last three of them, and the start, of which attention makes one vector.
 *
 *   x_s = reader of the last message's words           x_e = P frozen(v₀)
 *   x_d = reader of the last messages, each read by a second reader of words
 *   x = Σ_j softmax_j(tanh(u · x_j + c)) x_j,  j ∈ {e, s, d}
 *
 * @source Moon, Shah, Kumar and Subba 2019 (OpenDialKG), section 4.1
 */
import { normalValues } from '../../../src/nn/parameters.js';
import { type CellState, Recurrent } from '../../../src/nn/recurrent.js';
import type { Tape, Taped } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { attended } from '../heads/attention.js';
import { hostRows, renumbering } from '../heads/batch-rows.js';
import type { FrozenTables, StateBatch } from '../heads/head.js';
import type { Starts } from '../heads/network.js';
import type { Sequences } from './said-words.js';

const wordDim = 300;

interface WordEncoderOptions {
  /** Words of the table, that for unknown ones included. */
  numWords: number;
  tables: Pick<FrozenTables, 'entities' | 'entityDim'>;
  /** Width of the output: even. */
  width: number;
}

/** Encodes dialogues: [dialogues, width]. */
type WordEncoder = (tape: Tape, batch: Pick<StateBatch, 'start' | 'words'>) => Taped;

/** Adds the initial weights; vectors of words are drawn at random. */
export function wordEncoder(starts: Starts, { numWords, tables, width }: WordEncoderOptions): WordEncoder {
  const vectors = normalValues(Rng.named(starts.seed, 'walker/words.table'), 0.1, numWords * wordDim);
  starts.set('words.table', [numWords, wordDim], vectors);
  const reader = (name: string, inputs: number) => sequenceReader(starts, { name, inputs, units: width / 2 });
  const readLast = reader('words.last', wordDim);
  const readEach = reader('words.each', wordDim);
  const readDialogue = reader('words.dialogue', width);
  starts.add('words.start', tables.entityDim, width);
  starts.add('words.part', width, 1, true);
  const renumber = renumbering(numWords);

  return (tape, { start, words }) => {
    const { messages, numLast, dialogues, stateOf } = words!;
    const { ids, indices } = renumber(messages.rows);
    const local = { rows: indices[0]!, offsets: messages.offsets };
    const table = tape.rows(tape.parameter('words.table'), ids);
    const last = readLast(tape, table, firstOf(local, numLast));
    const each = readEach(tape, table, local);
    const lastOf = Int32Array.from(stateOf, (_, i) => dialogues.rows[dialogues.offsets[i + 1]! - 1]!);
    const ofStart = hostRows(
      tables.entities,
      tables.entityDim,
      stateOf.map((s) => start[s]!),
    );
    const parts = [
      tape.times(tape.constant(ofStart, tables.entityDim), 'words.start'),
      tape.rows(last, lastOf),
      readDialogue(tape, each, dialogues),
    ];
    const all = tape.reshape(tape.concat(parts), width);
    const ends = Int32Array.from({ length: stateOf.length + 1 }, (_, i) => i * parts.length);
    return attended(tape, tape.layer(all, 'words.part', 'tanh'), all, ends);
  };
}

function firstOf({ rows, offsets }: Sequences, count: number): Sequences {
  return { rows: rows.subarray(0, offsets[count]), offsets: offsets.subarray(0, count + 1) };
}

/**
 * A bidirectional LSTM whose places attention makes one vector of; adds the weights of `NAME.forward`, `NAME.backward` and `NAME.attention`.
 *
 *   h_l = [→h_l ; ←h_l]        s_l = b · tanh(A h_l + a)        out = Σ_l softmax(s)_l h_l
 *
 * @returns reads sequences of rows [n, inputs]: [sequences, 2 · units]
 */
export function sequenceReader(
  starts: Starts,
  { name, inputs, units }: { name: string; inputs: number; units: number },
): (tape: Tape, rows: Taped, sequences: Sequences) => Taped {
  const ways = ['forward', 'backward'] as const;
  for (const way of ways) starts.lstm(`${name}.${way}`, inputs, units);
  starts.add(`${name}.attention`, 2 * units, units, true);
  starts.add(`${name}.attention.out`, units, 1);
  return (tape, rows, sequences) => {
    const plan = planOf(sequences.offsets);
    const read = ways.map((way) => {
      const layer = new Recurrent(tape, 'lstm', `${name}.${way}`, units);
      const places = plan[way];
      const inOrder = new Int32Array(places.length);
      places.forEach((place, i) => (inOrder[place] = sequences.rows[i]!));
      return tape.rows(run(layer, tape.rows(layer.given(rows), inOrder), plan.active), places);
    });
    const both = tape.concat(read);
    const scores = tape.times(tape.layer(both, `${name}.attention`, 'tanh'), `${name}.attention.out`);
    return attended(tape, scores, both, sequences.offsets);
  };
}

/** Order for reading sequences of several lengths: the longest first, so that unfinished ones are the first rows of every step. */
interface Plan {
  /** Sequences that have each step. */
  active: number[];
  /** int32 [length of all]: place of each element among the rows of all steps. */
  forward: Int32Array;
  /** The same, read from the end. */
  backward: Int32Array;
}

function planOf(offsets: Int32Array): Plan {
  const lengthOf = (i: number) => offsets[i + 1]! - offsets[i]!;
  const order = Array.from(offsets.subarray(1).keys()).sort((a, b) => lengthOf(b) - lengthOf(a) || a - b);
  const active = Array.from(
    { length: lengthOf(order[0]!) },
    (_, step) => order.filter((i) => lengthOf(i) > step).length,
  );
  const [forward, backward] = [new Int32Array(offsets.at(-1)!), new Int32Array(offsets.at(-1)!)];
  active.reduce((begin, count, step) => {
    for (const [rank, i] of order.slice(0, count).entries()) {
      forward[offsets[i]! + step] = backward[offsets[i + 1]! - 1 - step] = begin + rank;
    }
    return begin + count;
  }, 0);
  return { active, forward, backward };
}

/** Goes through all steps: hidden rows in the order of `given`. @param active rows of each step, never more than before */
function run(layer: Recurrent, given: Taped, active: readonly number[]): Taped {
  const { tape } = layer;
  const outputs: Taped[] = [];
  let state: CellState = layer.start(active[0]!);
  active.reduce((begin, count) => {
    const unfinished = state.map((part) => (part.rows === count ? part : tape.slice(part, 0, count)));
    state = layer.step(tape.slice(given, begin, count), unfinished);
    outputs.push(state[0]!);
    return begin + count;
  }, 0);
  return tape.stack(outputs);
}
