/** Recurrent layers, one step at a time: LSTM and GRU. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Rng } from '../run/seeds.js';
import { columns, matMul, type Tf } from './ops.js';
import { orthogonalValues, type ParameterSet } from './parameters.js';

type Tensor2D = tfTypes.Tensor2D;

/** State of a layer, a row per sequence: the hidden rows first, then the memory of an LSTM; each float32 [rows, dim]. */
export type CellState = Tensor2D[];

/** A layer whose weights are among the parameters of a network. */
export interface RecurrentLayer {
  readonly dim: number;
  /** Zeros. */
  start(rows: number): CellState;
  /** Input terms of the gates, of one step or many at once: float32 [rows, inputs] → [rows, gates · dim]. */
  given(inputs: Tensor2D): Tensor2D;
  /** @param given of this step's inputs */
  step(given: Tensor2D, before: CellState): CellState;
}

/**
 * Adds the weights `NAME.input`, `NAME.recurrent` and `NAME.bias`. Each gate starts orthogonal by itself; an LSTM forgets little
 * at first, with a bias of 1 that keeps 73 %, so that it learns sooner (Jozefowicz et al. 2015, section 2.2).
 * @param rngOf generator of a gate's start by `NAME.input/0` and so on; zeros without it, for weights to be imported
 */
export function createRecurrentLayer(
  tf: Tf,
  parameters: ParameterSet,
  { cell, name, inputs, dim }: { cell: 'lstm' | 'gru'; name: string; inputs: number; dim: number },
  rngOf?: (weights: string) => Rng,
): RecurrentLayer {
  const gates = cell === 'lstm' ? 4 : 3;
  const layer = (part: string, rows: number) => {
    const values = new Float32Array(rows * gates * dim);
    for (let gate = 0; rngOf && gate < gates; gate++) {
      const own = orthogonalValues(rngOf(`${part}/${gate}`), rows, dim, 1);
      for (let row = 0; row < rows; row++) {
        values.set(own.subarray(row * dim, (row + 1) * dim), (row * gates + gate) * dim);
      }
    }
    parameters.add(part, [rows, gates * dim], values);
  };
  layer(`${name}.input`, inputs);
  layer(`${name}.recurrent`, dim);
  const bias = new Float32Array(gates * dim);
  if (cell === 'lstm') bias.fill(1, dim, 2 * dim);
  parameters.add(`${name}.bias`, [gates * dim], bias);
  const weight = (part: string) => parameters.get(`${name}.${part}`) as unknown as Tensor2D;
  const next = cell === 'lstm' ? lstmCell : gruCell;
  return {
    dim,
    start: (rows) => Array.from({ length: cell === 'lstm' ? 2 : 1 }, () => tf.zeros([rows, dim])),
    given: (rows) => tf.add(matMul(tf, rows, weight('input')), weight('bias')) as Tensor2D,
    step: (given, before) => next(tf, given, before, weight('recurrent'), dim),
  };
}

/** Gates in the order input, forget, output, candidate. @source Hochreiter and Schmidhuber 1997, with forget gates */
function lstmCell(tf: Tf, given: Tensor2D, before: CellState, recurrent: Tensor2D, dim: number): CellState {
  const all = tf.add(given, matMul(tf, before[0]!, recurrent));
  const gates = tf.sigmoid(columns(tf, all, 0, 3 * dim));
  const candidate = tf.tanh(columns(tf, all, 3 * dim, dim));
  const kept = tf.mul(columns(tf, gates, dim, dim), before[1]!);
  const memory = tf.add(kept, tf.mul(columns(tf, gates, 0, dim), candidate)) as Tensor2D;
  return [tf.mul(columns(tf, gates, 2 * dim, dim), tf.tanh(memory)) as Tensor2D, memory];
}

/** Gates in the order update, reset, candidate. @source Cho et al. 2014, arXiv:1406.1078, appendix A.1.1 */
function gruCell(tf: Tf, given: Tensor2D, before: CellState, recurrent: Tensor2D, dim: number): CellState {
  const hidden = before[0]!;
  // The reset gate is applied behind the product, as in the kernels of the field: one product serves all gates.
  const own = matMul(tf, hidden, recurrent);
  const gates = tf.sigmoid(tf.add(columns(tf, given, 0, 2 * dim), columns(tf, own, 0, 2 * dim)));
  const update = columns(tf, gates, 0, dim);
  const reset = columns(tf, gates, dim, dim);
  const candidate = tf.tanh(tf.add(columns(tf, given, 2 * dim, dim), tf.mul(reset, columns(tf, own, 2 * dim, dim))));
  return [tf.add(tf.mul(update, hidden), tf.mul(tf.sub(1, update), candidate)) as Tensor2D];
}
