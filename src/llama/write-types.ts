/**
 * Number types of GGUF tensors that are written: half precision (IEEE 754 binary16), which no supported Node has an array type for, and
 * Q8_0.
 * @source ggml `block_q8_0`
 */

/** Values that share one scale in Q8_0. */
export const blockValues = 32;
const blockBytes = 2 + blockValues;

const word = new Uint32Array(1);
const single = new Float32Array(word.buffer);

/** Bits of each value, as `halfOf` has them. */
export function toFloat16(values: Float32Array): Uint16Array {
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) halves[i] = halfOf(values[i]!);
  return halves;
}

/** Bits of the nearest half, ties to even; beyond ±65,504 infinite. */
function halfOf(value: number): number {
  single[0] = value;
  const sign = (word[0]! >>> 16) & 0x8000;
  const bits = word[0]! & 0x7fffffff;
  if (bits > 0x7f800000) return sign | 0x7e00;
  if (bits >= 0x47800000) return sign | 0x7c00;
  if (bits < 0x38800000) {
    // Subnormal halves count 2^-24, the last place of a single between 0.5 and 1: the addition rounds.
    single[0] = Math.abs(value) + 0.5;
    return sign | (word[0]! - 0x3f000000);
  }
  return sign | ((bits + 0xfff + ((bits >>> 13) & 1) - 0x38000000) >>> 13);
}

/** Blocks of a half-precision scale and a byte a value: the nearest of 127 steps to each side of zero. */
export function toBlocks(values: Float32Array): Buffer {
  const blocks = values.length / blockValues;
  const scales = new Float32Array(blocks);
  for (let i = 0; i < values.length; i++) {
    const block = Math.floor(i / blockValues);
    scales[block] = Math.max(scales[block]!, Math.abs(values[i]!) / 127);
  }
  const halves = toFloat16(scales);
  const bytes = Buffer.alloc(blocks * blockBytes);
  for (let block = 0, at = 0; block < blocks; block++) {
    at = bytes.writeUInt16LE(halves[block]!, at);
    for (const value of values.subarray(block * blockValues, (block + 1) * blockValues)) {
      at = bytes.writeInt8(Math.round(value / (scales[block]! || 1)), at);
    }
  }
  return bytes;
}
