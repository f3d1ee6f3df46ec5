/**
 * Differentiable operations over segments of rows, such as the out-edges of each state or the in-edges of each entity: softmax
 * within each, several columns (heads of attention) at once, and weighted sums of a table's rows. Gradients are in closed
 * form where tensors can be read at once; a device has its own kernels.
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { gatherRows, readsAtOnce, type Tf } from './ops.js';
import { sharedRowDots } from './row-dots.js';

type Tensor2D = tfTypes.Tensor2D;
type Save = (tensors: tfTypes.Tensor[]) => void;

/**
 * Log-softmax of each column within each segment of rows: out[i, h] = x[i, h] − ln Σ_j exp(x[j, h] + w[j]), j in the segment
 * of i. Sums run in float64 on the host; numbers that are not finite stay so, for the loss to find.
 * @param scores float32 [N, columns]
 * @param offsets int32 [segments + 1]: rows of segment `s` are `offsets[s] .. offsets[s + 1] - 1`; none may be empty
 * @param logWeights float32 [N], ln of how many each row stands for; default 0
 * @returns [N, columns]
 */
export function segmentLogSoftmaxColumns(
  tf: Tf,
  scores: Tensor2D,
  offsets: Int32Array,
  logWeights?: Float32Array,
): Tensor2D {
  if (!readsAtOnce(tf)) return paddedLogSoftmax(tf, scores, offsets, logWeights);
  const op = tf.customGrad((x, save) => {
    (save as Save)([]);
    const columns = scores.shape[1];
    const out = logSoftmax((x as Tensor2D).dataSync() as Float32Array, offsets, columns, logWeights);
    return {
      value: tf.tensor2d(out, scores.shape),
      gradFunc: (dy: tfTypes.Tensor) => {
        const upstream = dy.dataSync() as Float32Array;
        return tf.tensor2d(logSoftmaxGradient(out, upstream, offsets, columns, logWeights), scores.shape);
      },
    };
  });
  return op(scores) as Tensor2D;
}

function logSoftmax(x: Float32Array, offsets: Int32Array, columns: number, logWeights?: Float32Array): Float32Array {
  const out = new Float32Array(x.length);
  for (let s = 0; s + 1 < offsets.length; s++) {
    const [begin, end] = [offsets[s]!, offsets[s + 1]!];
    for (let h = 0; h < columns; h++) {
      let max = -Infinity;
      for (let i = begin; i < end; i++) max = Math.max(max, x[i * columns + h]! + (logWeights ? logWeights[i]! : 0));
      let sum = 0;
      for (let i = begin; i < end; i++) sum += Math.exp(x[i * columns + h]! + (logWeights ? logWeights[i]! : 0) - max);
      const logSum = max + Math.log(sum);
      for (let i = begin; i < end; i++) out[i * columns + h] = x[i * columns + h]! - logSum;
    }
  }
  return out;
}

/** dx[i] = dy[i] − exp(out[i] + w[i]) · Σ_j dy[j] */
function logSoftmaxGradient(
  out: Float32Array,
  upstream: Float32Array,
  offsets: Int32Array,
  columns: number,
  logWeights?: Float32Array,
): Float32Array {
  const gradient = new Float32Array(out.length);
  for (let s = 0; s + 1 < offsets.length; s++) {
    const [begin, end] = [offsets[s]!, offsets[s + 1]!];
    for (let h = 0; h < columns; h++) {
      let sum = 0;
      for (let i = begin; i < end; i++) sum += upstream[i * columns + h]!;
      for (let i = begin; i < end; i++) {
        const index = i * columns + h;
        gradient[index] = upstream[index]! - Math.exp(out[index]! + (logWeights ? logWeights[i]! : 0)) * sum;
      }
    }
  }
  return gradient;
}

/**
 * The same by stock operations, for a device: segments of like length are padded to the next power of two, so that less than
 * as many rows again are added.
 */
function paddedLogSoftmax(tf: Tf, scores: Tensor2D, offsets: Int32Array, logWeights?: Float32Array): Tensor2D {
  const columns = scores.shape[1];
  const placeOf = new Int32Array(scores.shape[0]);
  let placed = 0;
  const sums = Array.from(byPaddedLength(offsets), ([width, segments]) => {
    const rows = new Int32Array(segments.length * width);
    const added = new Float32Array(rows.length).fill(-1e30);
    segments.forEach((s, k) => {
      const begin = offsets[s]!;
      const length = offsets[s + 1]! - begin;
      rows.fill(begin, k * width, (k + 1) * width);
      for (let i = 0; i < length; i++) {
        rows[k * width + i] = begin + i;
        added[k * width + i] = logWeights?.[begin + i] ?? 0;
        placeOf[begin + i] = placed;
      }
      placed++;
    });
    const padded = tf.add(gatherRows(tf, scores, rows), tf.tensor2d(added, [rows.length, 1]));
    return tf.logSumExp(tf.reshape(padded, [segments.length, width, columns]), 1) as Tensor2D;
  });
  return tf.sub(scores, gatherRows(tf, tf.concat(sums, 0), placeOf)) as Tensor2D;
}

/** Segments that are not empty by the power of two that their length is padded to. @param offsets int32 [segments + 1] */
function byPaddedLength(offsets: Int32Array): Map<number, number[]> {
  const classes = new Map<number, number[]>();
  for (let s = 0; s + 1 < offsets.length; s++) {
    const length = offsets[s + 1]! - offsets[s]!;
    if (length === 0) continue;
    const padded = 2 ** Math.ceil(Math.log2(length));
    if (!classes.get(padded)?.push(s)) classes.set(padded, [s]);
  }
  return classes;
}

/**
 * Sums `out[left[i]] = Σ weights[i] · table[right[i]]`, without the [m, d] products: how messages over edges are added up.
 * @param pairs int32 [m] each; equal ones of `left` best side by side
 * @returns differentiable, of `weights` [m] and `table` [k, d]; [rows, d], zeros where nothing is added
 */
export function weightedRowSums(
  tf: Tf,
  weights: tfTypes.Tensor1D,
  table: Tensor2D,
  { left, right }: Record<'left' | 'right', Int32Array>,
  rows: number,
): Tensor2D {
  const width = table.shape[1];
  if (!readsAtOnce(tf)) {
    const scaled = tf.mul(gatherRows(tf, table, right), tf.reshape(weights, [-1, 1])) as Tensor2D;
    return tf.unsortedSegmentSum(scaled, tf.tensor1d(left, 'int32'), rows) as Tensor2D;
  }
  const dots = sharedRowDots();
  const rowsOf = (values: Float32Array) => ({ values, stride: width, column: 0 });
  const op = tf.customGrad((w, t, save) => {
    (save as unknown as Save)([]);
    const by = (w as tfTypes.Tensor).dataSync() as Float32Array;
    const values = (t as tfTypes.Tensor).dataSync() as Float32Array;
    const out = new Float32Array(rows * width);
    dots.addRowDotsGradient(rowsOf(out), by, rowsOf(values), { width, left, right });
    return {
      value: tf.tensor2d(out, [rows, width]),
      gradFunc: (dy: tfTypes.Tensor) => {
        const upstream = rowsOf(dy.dataSync() as Float32Array);
        const ofWeights = new Float32Array(by.length);
        dots.addRowDots(ofWeights, upstream, rowsOf(values), { width, left, right });
        const ofTable = new Float32Array(table.size);
        dots.addRowDotsGradient(rowsOf(ofTable), by, upstream, { width, left: right, right: left });
        return [tf.tensor1d(ofWeights), tf.tensor2d(ofTable, table.shape)];
      },
    };
  });
  return op(weights, table) as Tensor2D;
}
