/** Half-precision numbers (IEEE 754 binary16), which no supported Node has an array type for. */

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
