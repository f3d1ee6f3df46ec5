/**
 * Steps of reasoning over entities, on the tape. A message depends on the entity that it comes from through one number alone, its
 * share: what comes to an entity by a relation is a sum of numbers, and of vectors there is one a question and relation.
 */
import type { Tape, Taped } from '../../../src/tensor/host/tape.js';
import type { EntityBatch } from './entity-batch.js';

/** S = Σ p_u over the edges of each run: [runs, 1]. @param shares [rows, 1] */
export function arrivals(tape: Tape, shares: Taped, { offsets, from }: Pick<EntityBatch, 'offsets' | 'from'>): Taped {
  const sums = tape.buffer(offsets.length - 1);
  for (let run = 0; run < sums.length; run++) {
    let sum = 0;
    for (let edge = offsets[run]!; edge < offsets[run + 1]!; edge++) sum += shares.values[from[edge]!]!;
    sums[run] = sum;
  }
  return tape.taped(sums, 1, (grads) => {
    if (!shares.grads) return;
    for (let run = 0; run < sums.length; run++) {
      for (let edge = offsets[run]!; edge < offsets[run + 1]!; edge++) shares.grads[from[edge]!]! += grads[run]!;
    }
  });
}

/** Rows that meet: `weights[i] · table[tableRows[i]]` is added to row `rows[i]`. */
export interface Messages {
  /** [messages, 1] */
  weights: Taped;
  table: Taped;
  /** int32 [messages], as is `tableRows`. */
  rows: Int32Array;
  tableRows: Int32Array;
}

/** Σ messages of each row: [rows, width]. */
export function sums(tape: Tape, messages: Messages, rows: number): Taped {
  const { width } = messages.table;
  const out = tape.buffer(rows * width).fill(0);
  return tape.taped(out, width, addMessages(tape, messages, out));
}

/** σ(Σ messages) of each row: [rows, width]. */
export function sigmoidOfSums(tape: Tape, messages: Messages, rows: number): Taped {
  const { kernels } = tape.parameters;
  const { width } = messages.table;
  const out = tape.buffer(rows * width).fill(0);
  const back = addMessages(tape, messages, out);
  // σ(x) = ½ + ½ tanh(x / 2): the kernel has tanh.
  for (let i = 0; i < out.length; i++) out[i]! *= 0.5;
  kernels.tanhAll(out.byteOffset, out.length);
  for (let i = 0; i < out.length; i++) out[i] = 0.5 + 0.5 * out[i]!;
  return tape.taped(out, width, (grads) => {
    for (let i = 0; i < out.length; i++) grads[i]! *= out[i]! * (1 - out[i]!);
    back(grads);
  });
}

/** relu(e · W + b + Σ messages): the states of entities after a step, [rows, width]. */
export function nextStates(tape: Tape, states: Taped, weight: Taped, bias: Taped, messages: Messages): Taped {
  const { products, parameters } = tape;
  const { width } = weight;
  const out = tape.buffer(states.rows * width);
  products.biased(states.values, states.rows, states.width, weight.values, bias.values, out);
  const back = addMessages(tape, messages, out);
  parameters.kernels.reluAll(out.byteOffset, out.length);
  return tape.taped(out, width, (grads) => {
    parameters.kernels.reluGrad(grads.byteOffset, out.byteOffset, out.length);
    back(grads);
    products.bias(grads, states.rows, bias.grads!);
    products.weights(states.values, states.rows, states.width, grads, width, weight.grads!);
    if (states.grads) products.back(grads, states.rows, width, weight.values, states.width, states.grads, true);
  });
}

/** Adds messages to rows of `out`. @returns the backward pass, given the gradients by those rows */
function addMessages(
  tape: Tape,
  { weights, table, ...of }: Messages,
  out: Float32Array,
): (grads: Float32Array) => void {
  const { kernels } = tape.parameters;
  const { width } = table;
  const rows = tape.index(of.rows).byteOffset;
  const tableRows = tape.index(of.tableRows).byteOffset;
  const count = of.rows.length;
  const by = weights.values.byteOffset;
  kernels.addScaledRows(out.byteOffset, rows, by, 1, table.values.byteOffset, tableRows, width, count);
  return (grads) => {
    const upstream = grads.byteOffset;
    if (weights.grads) {
      const ofWeights = weights.grads.byteOffset;
      kernels.addDots(ofWeights, upstream, rows, table.values.byteOffset, tableRows, width, count, 1);
    }
    if (table.grads) kernels.addScaledRows(table.grads.byteOffset, tableRows, by, 1, upstream, rows, width, count);
  };
}

/**
 * softmax of each question's scores over the rows that are reached, 0 elsewhere; zeros where none is: [rows, 1].
 * @param scores [rows, 1] @param reached uint8 [rows]
 */
export function reachedShares(tape: Tape, scores: Taped, bounds: Int32Array, reached: Uint8Array): Taped {
  const out = tape.buffer(scores.values.length);
  softmaxOfReached(scores.values, bounds, reached, out);
  return tape.taped(out, 1, (grads) => {
    if (!scores.grads) return;
    for (let q = 0; q + 1 < bounds.length; q++) {
      let whole = 0;
      for (let row = bounds[q]!; row < bounds[q + 1]!; row++) whole += out[row]! * grads[row]!;
      for (let row = bounds[q]!; row < bounds[q + 1]!; row++) scores.grads[row]! += out[row]! * (grads[row]! - whole);
    }
  });
}

/** The same of plain numbers. @param out float32 [rows] @returns ln of each question's divisor, −∞ where nothing is reached */
export function softmaxOfReached(
  scores: Float32Array,
  bounds: Int32Array,
  reached: Uint8Array,
  out: Float32Array,
): Float64Array {
  return Float64Array.from({ length: bounds.length - 1 }, (_, q) => {
    const [begin, end] = [bounds[q]!, bounds[q + 1]!];
    let most = -Infinity;
    for (let row = begin; row < end; row++) if (reached[row] === 1) most = Math.max(most, scores[row]!);
    let sum = 0;
    for (let row = begin; row < end; row++) if (reached[row] === 1) sum += Math.exp(scores[row]! - most);
    const log = most + Math.log(sum);
    for (let row = begin; row < end; row++) out[row] = reached[row] === 1 ? Math.exp(scores[row]! - log) : 0;
    return sum === 0 ? -Infinity : log;
  });
}
