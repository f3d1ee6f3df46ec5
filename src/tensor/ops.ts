/**
 * Differentiable operations that stock tfjs lacks or does slowly: on wasm and the plain backend, gathers and the gradient of matMul. Those work
 * on host arrays there; native TensorFlow uses its own kernels.
 */
import type * as tfTypes from '@tensorflow/tfjs-core';

/** The tfjs module, as a value that is passed around. */
export type Tf = typeof tfTypes;

type Tensor2D = tfTypes.Tensor2D;
type Tensor3D = tfTypes.Tensor3D;
type Save = (tensors: tfTypes.Tensor[]) => void;

/** Returns whether this backend's memory is the host's: readable at any time, at the price of a copy at most. */
export function onHost(tf: Tf): boolean {
  return ['wasm', 'cpu'].includes(tf.getBackend());
}

/** True if a tensor can be read at any time without waiting for a device: also where native TensorFlow computes on the processor. */
export function readsAtOnce(tf: Tf): boolean {
  return onHost(tf) || (tf.backend() as { isUsingGpuDevice?: boolean }).isUsingGpuDevice === false;
}

/** Product [m, k] × [k, n] whose gradient transposes explicitly, which keeps wasm on its fast kernel. */
export function matMul(tf: Tf, a: Tensor2D, b: Tensor2D): Tensor2D {
  if (!onHost(tf)) return tf.matMul(a, b);
  const op = tf.customGrad((x, y, save) => {
    (save as Save)([x as Tensor2D, y as Tensor2D]);
    return {
      value: tf.matMul(x as Tensor2D, y as Tensor2D),
      gradFunc: (dy: tfTypes.Tensor, saved: tfTypes.Tensor[]) => {
        const [left, right] = saved as [Tensor2D, Tensor2D];
        return [tf.matMul(dy as Tensor2D, tf.transpose(right)), tf.matMul(tf.transpose(left), dy as Tensor2D)];
      },
    };
  });
  return op(a, b) as Tensor2D;
}

/** Product with a constant left side: no gradient is computed for it. */
export function matMulConst(tf: Tf, a: Tensor2D, b: Tensor2D): Tensor2D {
  const op = tf.customGrad((y, save) => {
    // Saved, since the forward pass frees what it made before the gradient is asked for.
    (save as Save)([a]);
    return {
      value: tf.matMul(a, y as Tensor2D),
      gradFunc: (dy: tfTypes.Tensor, saved: tfTypes.Tensor[]) => {
        const left = saved[0] as Tensor2D;
        return onHost(tf)
          ? tf.matMul(tf.transpose(left), dy as Tensor2D)
          : tf.matMul(left, dy as Tensor2D, true, false);
      },
    };
  });
  return op(b) as Tensor2D;
}

/** Batched a·b, either side transposed first: [n, r, i] × [n, i, c] → [n, r, c], without gradient. wasm is fast without transpose flags only. */
export function batchProduct(tf: Tf, a: Tensor3D, b: Tensor3D, turnA: boolean, turnB: boolean): Tensor3D {
  if (tf.getBackend() === 'tensorflow') return tf.matMul(a, b, turnA, turnB);
  const turned = (x: Tensor3D, turn: boolean) => (turn ? tf.transpose(x, [0, 2, 1]) : x);
  return tf.matMul(turned(a, turnA), turned(b, turnB));
}

/** Dot products of all rows with all rows, batch by batch: [n, r, d] and [n, c, d] → [n, r, c]. */
export function batchDots(tf: Tf, a: Tensor3D, b: Tensor3D): Tensor3D {
  const op = tf.customGrad((x, y, save) => {
    (save as Save)([x as Tensor3D, y as Tensor3D]);
    return {
      value: batchProduct(tf, x as Tensor3D, y as Tensor3D, false, true),
      gradFunc: (dy: tfTypes.Tensor, saved: tfTypes.Tensor[]) => {
        const [left, right] = saved as [Tensor3D, Tensor3D];
        return [
          batchProduct(tf, dy as Tensor3D, right, false, false),
          batchProduct(tf, dy as Tensor3D, left, true, false),
        ];
      },
    };
  });
  return op(a, b) as Tensor3D;
}

/** max(x, 0). Native TensorFlow makes the stock gradient's step of five operations; the sign of the result is the same. */
export function relu<T extends tfTypes.Tensor>(tf: Tf, x: T): T {
  if (tf.getBackend() !== 'tensorflow') return tf.relu(x);
  const op = tf.customGrad((input, save) => {
    const value = tf.relu(input as tfTypes.Tensor);
    (save as Save)([value]);
    return { value, gradFunc: (dy: tfTypes.Tensor, [kept]: tfTypes.Tensor[]) => tf.mul(dy, tf.sign(kept!)) };
  });
  return op(x) as T;
}

/** Columns `from .. from + count - 1` of rows, float32 [rows, count]; differentiable. */
export function columns(tf: Tf, rows: tfTypes.Tensor, from: number, count: number): Tensor2D {
  return tf.slice(rows as Tensor2D, [0, from], [-1, count]);
}

/** Rows of a table on a device: [n, d] by int32 [m] → [m, d]; differentiable. */
export function deviceRows(tf: Tf, table: Tensor2D, index: Int32Array): Tensor2D {
  return tf.gather(table, tf.tensor1d(index, 'int32'));
}

/** Rows of a table: [n, d] by int32 [m] → [m, d]. */
export function gatherRows(tf: Tf, table: Tensor2D, index: Int32Array): Tensor2D {
  return gatherSum(tf, [table], [index]);
}

/** Sums of one row from each table: out[i] = Σ_k tables[k][indices[k][i]], [m, d]. @param tables each [n_k, d] @param indices each int32 [m] */
export function gatherSum(tf: Tf, tables: Tensor2D[], indices: Int32Array[]): Tensor2D {
  const width = tables[0]!.shape[1];
  const count = indices[0]!.length;
  if (!onHost(tf)) {
    return tables.map((table, k) => deviceRows(tf, table, indices[k]!)).reduce((sum, rows) => tf.add(sum, rows));
  }
  const op = tf.customGrad((...args) => {
    const inputs = args.slice(0, -1) as Tensor2D[];
    (args.at(-1) as Save)([]);
    const out = new Float32Array(count * width);
    inputs.forEach((input, k) => addRows(out, input.dataSync() as Float32Array, indices[k]!, width, k === 0));
    return {
      value: tf.tensor2d(out, [count, width]),
      gradFunc: (dy: tfTypes.Tensor) => {
        const upstream = dy.dataSync() as Float32Array;
        return tables.map((table, k) => {
          const gradient = new Float32Array(table.size);
          scatterRows(gradient, upstream, indices[k]!, width);
          return tf.tensor2d(gradient, table.shape);
        });
      },
    };
  });
  return op(...tables) as Tensor2D;
}

function addRows(out: Float32Array, table: Float32Array, index: Int32Array, width: number, first: boolean): void {
  for (let i = 0; i < index.length; i++) {
    const from = index[i]! * width;
    const to = i * width;
    if (first) out.set(table.subarray(from, from + width), to);
    else for (let j = 0; j < width; j++) out[to + j]! += table[from + j]!;
  }
}

function scatterRows(gradient: Float32Array, upstream: Float32Array, index: Int32Array, width: number): void {
  for (let i = 0; i < index.length; i++) {
    const to = index[i]! * width;
    const from = i * width;
    for (let j = 0; j < width; j++) gradient[to + j]! += upstream[from + j]!;
  }
}

/** Outputs that a device begins and the host ends, where the last part of a network would cost a device more in calls and copies. */
export interface EndedOnHost {
  /** Inputs of the computation on the host; differentiable, owned by the caller (or its tidy). */
  readonly device: tfTypes.Tensor;
  /** @param read float32, row-major: the numbers of `device` */
  end(read: Float32Array): HostEnd;
}

/** Outputs of the host with the backward pass. */
export interface HostEnd {
  /** float32: the outputs. */
  values: Float32Array;
  /** @param grad by every output @returns float32: by every number that was read */
  back(grad: Float32Array): Float32Array;
}

/** A tensor, or what the host ends. */
export type TensorOutputs<T extends tfTypes.Tensor = tfTypes.Tensor> = T | EndedOnHost;

/** The host's share of outputs, which is nothing for a tensor. */
export function endOf(outputs: TensorOutputs): EndedOnHost {
  if ('device' in outputs) return outputs;
  return { device: outputs, end: (values) => ({ values, back: (grad) => grad }) };
}

/** Computes a tensor in its own tidy and copies it to the host; `tf.tidy` would search a returned array element by element. */
export async function readTensor(tf: Tf, compute: () => TensorOutputs): Promise<Float32Array> {
  let end: EndedOnHost['end'];
  const tensor = tf.tidy(() => {
    const outputs = endOf(compute());
    ({ end } = outputs);
    return outputs.device;
  });
  try {
    return end!(await hostValues(tf, tensor)).values;
  } finally {
    tensor.dispose();
  }
}

/** A host copy of a float32 tensor. */
export async function hostValues(tf: Tf, tensor: tfTypes.Tensor): Promise<Float32Array> {
  const values = (await tensor.data()) as Float32Array;
  // The plain backend hands out the very memory of the tensor.
  return tf.getBackend() === 'cpu' ? values.slice() : values;
}

/** Veltkamp's splitter for 24 − 16 significant bits. */
const splitter = 2 ** 16 + 1;

/** A rounded copy of host values. NaN and infinities stay. */
export function roundedToBfloat16(values: Float32Array): Float32Array {
  const rounded = values.slice();
  const bits = new Uint32Array(rounded.buffer, rounded.byteOffset, rounded.length);
  for (let i = 0; i < bits.length; i++) {
    const all = bits[i]!;
    if (Number.isNaN(rounded[i]!)) continue;
    bits[i] = (all + 0x7fff + ((all >>> 16) & 1)) & 0xffff0000;
  }
  return rounded;
}

/**
 * The same of a tensor, to the bit on every backend, where there are no operations on bits; gradients pass as if nothing were
 * rounded. Only numbers below 2^-126 keep more bits, and those from 2^111 on may become NaN.
 * @source Veltkamp's splitting, in Dekker 1971, doi:10.1007/BF01397083
 */
export function throughBfloat16<T extends tfTypes.Tensor>(tf: Tf, x: T): T {
  const op = tf.customGrad((input, save) => {
    (save as (tensors: tfTypes.Tensor[]) => void)([]);
    const wide = tf.mul(input as tfTypes.Tensor, splitter);
    return { value: tf.sub(wide, tf.sub(wide, input as tfTypes.Tensor)), gradFunc: (dy: tfTypes.Tensor) => dy };
  });
  return op(x) as T;
}

/** Rounding of every tensor of a forward pass: none for f32. */
export function roundingOf(tf: Tf, precision: 'f32' | 'bf16') {
  return <T extends tfTypes.Tensor>(x: T): T => (precision === 'bf16' ? throughBfloat16(tf, x) : x);
}
