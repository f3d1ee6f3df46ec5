/**
 * The dialogue as words: the last message, the last three of them, and the start, of which attention makes one vector.
 *
 *   x_s = reader of the last message's words           x_e = P frozen(v₀)
 *   x_d = reader of the last messages, each read by a second reader of words
 *   x = Σ_j softmax_j(tanh(u · x_j + c)) x_j,  j ∈ {e, s, d}
 *
 * @source Moon, Shah, Kumar and Subba 2019 (OpenDialKG), section 4.1
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows, matMul, matMulConst } from '../../../src/tensor/ops.js';
import type { CellState, RecurrentLayer } from '../../../src/tensor/recurrent.js';
import { normalValues } from '../../../src/tensor/parameters.js';
import type { Layers } from '../heads/network.js';
import type { FrozenTables, StateBatch } from '../heads/head.js';
import { hostRows, renumbering } from '../heads/batch-rows.js';
import type { Sequences } from './said-words.js';

type Tensor2D = tfTypes.Tensor2D;

const wordDim = 300;

interface WordEncoderOptions {
  /** Words of the table, that for unknown ones included. */
  numWords: number;
  starts: Pick<FrozenTables, 'entities' | 'entityDim'>;
  /** Width of the output: even. */
  width: number;
  seed: number;
}

/** Encodes dialogues: float32 [dialogues, width]. */
type WordEncoder = (batch: Pick<StateBatch, 'start' | 'words'>) => Tensor2D;

/** Adds the weights; vectors of words are initialised at random. */
export function createWordEncoder(
  tf: Tf,
  layers: Layers,
  { numWords, starts, width, seed }: WordEncoderOptions,
): WordEncoder {
  const values = normalValues(Rng.named(seed, 'walker/words.table'), 0.1, numWords * wordDim);
  layers.parameters.add('words.table', [numWords, wordDim], values);
  const reader = (name: string, inputs: number) => createSequenceReader(tf, layers, { name, inputs, units: width / 2 });
  const readLast = reader('words.last', wordDim);
  const readEach = reader('words.each', wordDim);
  const readDialogue = reader('words.dialogue', width);
  layers.add('words.start', starts.entityDim, width);
  layers.add('words.part', width, 1, true);
  const renumber = renumbering(numWords);

  return ({ start, words }) => {
    const { messages, numLast, dialogues, stateOf } = words!;
    const { ids, indices } = renumber(messages.rows);
    const local = { rows: indices[0]!, offsets: messages.offsets };
    const table = gatherRows(tf, layers.weight('words.table'), ids);
    const last = readLast(table, firstOf(local, numLast));
    const each = readEach(table, local);
    const lastOf = Int32Array.from(stateOf, (_, i) => dialogues.rows[dialogues.offsets[i + 1]! - 1]!);
    const parts = [
      matMulConst(tf, startRows(stateOf.map((s) => start[s]!)), layers.weight('words.start')),
      gatherRows(tf, last, lastOf),
      readDialogue(each, dialogues),
    ];
    const scores = tf.concat(
      parts.map((part) => tf.tanh(layers.dense(part, 'words.part'))),
      1,
    );
    const shares = tf.split(tf.softmax(scores), parts.length, 1);
    return parts.map((part, j) => tf.mul(part, shares[j]!)).reduce((sum, part) => tf.add(sum, part)) as Tensor2D;
  };

  function startRows(ids: Int32Array): Tensor2D {
    return tf.tensor2d(hostRows(starts.entities, starts.entityDim, ids), [ids.length, starts.entityDim]);
  }
}

function firstOf({ rows, offsets }: Sequences, count: number): Sequences {
  return { rows: rows.subarray(0, offsets[count]), offsets: offsets.subarray(0, count + 1) };
}

/**
 * A bidirectional LSTM whose places attention makes one vector of; adds the layers `NAME.forward`, `NAME.backward` and `NAME.attention`.
 *
 *   h_l = [→h_l ; ←h_l]        s_l = b · tanh(A h_l + a)        out = Σ_l softmax(s)_l h_l
 *
 * @returns reads sequences of rows of float32 [n, inputs]: float32 [sequences, 2 · units]
 */
export function createSequenceReader(
  tf: Tf,
  layers: Layers,
  { name, inputs, units }: { name: string; inputs: number; units: number },
): (rows: Tensor2D, sequences: Sequences) => Tensor2D {
  const forward = layers.lstm(`${name}.forward`, inputs, units);
  const backward = layers.lstm(`${name}.backward`, inputs, units);
  layers.add(`${name}.attention`, 2 * units, units, true);
  layers.add(`${name}.attention.out`, units, 1);
  return (rows, sequences) => {
    const plan = planOf(sequences);
    const { numSequences, longest } = plan;
    const read = (layer: RecurrentLayer, { inputs: indices, outputs }: Direction) =>
      gatherRows(tf, run(tf, layer, gatherRows(tf, layer.given(rows), indices), plan.active), outputs);
    const both = tf.concat([read(forward, plan.forward), read(backward, plan.backward)], 1);
    const tanh: Tensor2D = tf.tanh(layers.dense(both, `${name}.attention`));
    const scores = tf.reshape(matMul(tf, tanh, layers.weight(`${name}.attention.out`)), [numSequences, longest]);
    const shares = tf.softmax(tf.add(scores, tf.tensor2d(plan.beyond, [numSequences, longest])));
    const weighted = tf.mul(
      tf.reshape(both, [numSequences, longest, 2 * units]),
      tf.reshape(shares, [numSequences, longest, 1]),
    );
    return tf.sum(weighted, 1);
  };
}

/** Input rows step by step, and the index of the output of each position of each sequence. */
interface Direction {
  inputs: Int32Array;
  /** int32 [sequences · longest]; places beyond the end of a sequence are its first. */
  outputs: Int32Array;
}

/** Order for reading sequences of several lengths: the longest first, so that unfinished ones are the first rows of every step. */
interface Plan {
  numSequences: number;
  longest: number;
  /** Sequences that have each step. */
  active: number[];
  forward: Direction;
  backward: Direction;
  /** float32 [sequences, longest]: 0 in a sequence, −1e9 beyond its end. */
  beyond: Float32Array;
}

function planOf({ rows, offsets }: Sequences): Plan {
  const numSequences = offsets.length - 1;
  const lengthOf = (i: number) => offsets[i + 1]! - offsets[i]!;
  const order = Array.from({ length: numSequences }, (_, i) => i).sort((a, b) => lengthOf(b) - lengthOf(a) || a - b);
  const longest = lengthOf(order[0]!);
  const active = Array.from({ length: longest }, (_, step) => order.filter((i) => lengthOf(i) > step).length);
  const begins = new Int32Array(longest);
  for (let step = 1; step < longest; step++) begins[step] = begins[step - 1]! + active[step - 1]!;
  const direction = (): Direction => ({
    inputs: new Int32Array(rows.length),
    outputs: new Int32Array(numSequences * longest),
  });
  const [forward, backward] = [direction(), direction()];
  const beyond = new Float32Array(numSequences * longest).fill(-1e9);
  order.forEach((i, rank) => {
    const length = lengthOf(i);
    const begin = i * longest;
    const at = (step: number) => begins[step]! + rank;
    for (let index = 0; index < length; index++) {
      const back = length - 1 - index;
      forward.inputs[at(index)] = backward.inputs[at(back)] = rows[offsets[i]! + index]!;
      forward.outputs[begin + index] = at(index);
      backward.outputs[begin + index] = at(back);
      beyond[begin + index] = 0;
    }
    for (let index = length; index < longest; index++) {
      forward.outputs[begin + index] = forward.outputs[begin]!;
      backward.outputs[begin + index] = backward.outputs[begin]!;
    }
  });
  return { numSequences, longest, active, forward, backward, beyond };
}

/** Goes through all steps: hidden rows in the order of `given`. @param active rows of each step, never more than before */
function run(tf: Tf, layer: RecurrentLayer, given: Tensor2D, active: readonly number[]): Tensor2D {
  const steps: Tensor2D[] = active.length > 1 ? tf.split(given, [...active], 0) : [given];
  const outputs: Tensor2D[] = [];
  let state: CellState = layer.start(active[0]!);
  steps.forEach((step, i) => {
    const rows = active[i]!;
    const unfinished = state.map((part) => (part.shape[0] === rows ? part : tf.slice(part, [0, 0], [rows, -1])));
    state = layer.step(step, unfinished);
    outputs.push(state[0]!);
  });
  return outputs.length > 1 ? tf.concat(outputs, 0) : outputs[0]!;
}
