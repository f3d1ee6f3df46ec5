/** Rounding to bfloat16. */

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
