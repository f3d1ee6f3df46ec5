/**
 * The dialogue as words: the last message, the last three of them, and the start, of which attention makes one vector.
 *
 *   x_s = reader of the last message's words           x_e = P frozen(v₀)
 *   x_d = reader of the last messages, each read by a second reader of words
 *   x = Σ_j softmax_j(tanh(u · x_j + c)) x_j,  j ∈ {e, s, d}
 *
 * @source Moon, Shah, Kumar and Subba 2019 (OpenDialKG), section 4.1
 */
import { readBothWays, type Sequences, ways } from '../../../src/nn/bidirectional.js';
import { normalValues } from '../../../src/nn/parameters.js';
import type { Tape, Taped } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { attended } from '../heads/attention.js';
import { hostRows, renumbering } from '../heads/batch-rows.js';
import type { FrozenTables, StateBatch } from '../heads/head.js';
import type { Starts } from '../heads/network.js';

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
  for (const way of ways) starts.lstm(`${name}.${way}`, inputs, units);
  starts.add(`${name}.attention`, 2 * units, units, true);
  starts.add(`${name}.attention.out`, units, 1);
  return (tape, rows, sequences) => {
    const { states } = readBothWays(tape, { cell: 'lstm', name, dim: units }, rows, sequences);
    const scores = tape.times(tape.layer(states, `${name}.attention`, 'tanh'), `${name}.attention.out`);
    return attended(tape, scores, states, sequences.offsets);
  };
}
