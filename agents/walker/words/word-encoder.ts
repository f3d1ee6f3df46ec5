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
import { gatherRows, matMulConst } from '../../../src/tensor/ops.js';
import { normalValues } from '../../../src/tensor/parameters.js';
import type { Layers } from '../heads/network.js';
import type { FrozenTables, StateBatch } from '../heads/head.js';
import { hostRows, renumbering } from '../heads/batch-rows.js';
import type { Sequences } from './said-words.js';
import { createSequenceReader } from './sequence-reader.js';

type Tensor2D = tfTypes.Tensor2D;

/** Numbers of a word's vector. */
const wordDim = 300;

export interface WordEncoderOptions {
  /** Words of the table, that for unknown ones included. */
  numWords: number;
  /** Frozen vectors of entities. */
  starts: Pick<FrozenTables, 'entities' | 'entityDim'>;
  /** Width of the output: even. */
  width: number;
  seed: number;
}

/** Encodes dialogues: float32 [dialogues, width]. */
export type WordEncoder = (batch: Pick<StateBatch, 'start' | 'words'>) => Tensor2D;

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
    const { ids, places } = renumber(messages.rows);
    const local = { rows: places[0]!, offsets: messages.offsets };
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
