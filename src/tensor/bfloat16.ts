/**
 * bfloat16 emulated in float32: numbers of 8 significant bits, to the nearest, ties to even. What is computed between them is
 * float32, as in the units of accelerators that take bfloat16 and sum in float32.
 */
import type * as tfTypes from '@tensorflow/tfjs';
import type { WalkerSettings } from '../../agents/walker/settings.js';
import type { Tf } from './backend.js';

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

/** What every tensor of a forward pass goes through: nothing for f32. */
export function roundingOf(tf: Tf, precision: WalkerSettings['precision']) {
  return <T extends tfTypes.Tensor>(x: T): T => (precision === 'bf16' ? throughBfloat16(tf, x) : x);
}
