import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tensorValues } from '../../../src/llama/read-types.js';
import { toBlocks, toFloat16 } from '../../../src/llama/write-types.js';

const fromFloat16 = (halves: Uint16Array) => tensorValues('F16', new Uint8Array(halves.buffer), halves.length);
const halves = (...values: number[]) => [...toFloat16(Float32Array.from(values))];

describe('half-precision numbers', () => {
  test('every one comes back from its value', () => {
    const all = Uint16Array.from({ length: 65_536 }, (_, bits) => bits).filter((bits) => (bits & 0x7fff) <= 0x7c00);
    expect(toFloat16(fromFloat16(all))).toEqual(all);
  });

  test('known values have their known bits', () => {
    expect(halves(1, -2, 0, -0, 65_504, 2 ** -14, 2 ** -24, 1 / 3)).toEqual([
      0x3c00, 0xc000, 0, 0x8000, 0x7bff, 0x0400, 0x0001, 0x3555,
    ]);
    expect(halves(65_519, 65_520, 1e9, -Infinity, NaN)).toEqual([0x7bff, 0x7c00, 0x7c00, 0xfc00, 0x7e00]);
  });

  test('a tie goes to the even neighbour, among subnormals too', () => {
    const ulp = 2 ** -10;
    expect(halves(1 + ulp / 2, 1 + (3 * ulp) / 2, 1 + ulp / 2 + 2 ** -23)).toEqual([0x3c00, 0x3c02, 0x3c01]);
    expect(halves(2 ** -25, 3 * 2 ** -25, 2 ** -25 * (1 + 2 ** -23), 2 ** -14 - 2 ** -25)).toEqual([0, 2, 1, 0x0400]);
  });

  test('no half is nearer than the one chosen', () => {
    fc.assert(
      fc.property(fc.float({ min: -65_504, max: 65_504, noNaN: true }), (value) => {
        const [bits] = toFloat16(Float32Array.of(value));
        const [below, at, above] = fromFloat16(
          Uint16Array.of(Math.max(0, (bits! & 0x7fff) - 1), bits! & 0x7fff, (bits! & 0x7fff) + 1),
        );
        const gap = Math.abs(Math.abs(value) - at!);
        expect(gap).toBeLessThanOrEqual(Math.abs(Math.abs(value) - below!));
        expect(gap).toBeLessThanOrEqual(Math.abs(Math.abs(value) - above!));
      }),
    );
  });
});

test('a block of Q8_0 is a half-precision scale and a byte a value', () => {
  const values = Float32Array.from({ length: 64 }, (_, i) => (i === 0 ? 127 : i === 1 ? -63.6 : 0));
  const bytes = toBlocks(values);
  expect([...bytes.subarray(0, 5)]).toEqual([0, 0x3c, 127, 256 - 64, 0]);
  expect(bytes).toHaveLength(2 * 34);
  expect([...tensorValues('Q8_0', bytes, 64)]).toEqual([127, -64, ...Array<number>(62).fill(0)]);
});
