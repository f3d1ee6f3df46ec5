import { expect, test } from '@jest/globals';
import { roundedToBfloat16 } from '../../../src/nn/bfloat16.js';
import { Rng } from '../../../src/run/seeds.js';
import { float32Numbers } from '../../fixtures/float32-numbers.js';

/** The nearest number of 8 significant bits, the even one of two, by arithmetic in float64. */
function nearest(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - 7);
  const steps = value / unit;
  const down = Math.floor(steps);
  const half = steps - down === 0.5;
  return unit * (half ? down + (down % 2 === 0 ? 0 : 1) : Math.round(steps));
}

test('rounding to bfloat16 takes the nearest number of 8 significant bits, at ties the even one', () => {
  expect([...roundedToBfloat16(Float32Array.of(1, 257, 258, 259, 261, -257, -259, 1 / 3))]).toEqual([
    1, 256, 258, 260, 260, -256, -260, 0.333984375,
  ]);
  const rng = Rng.named(1, 'test/bfloat16');
  const numbers = Float32Array.from([...float32Numbers(), ...Array.from({ length: 5000 }, () => rng.normal()), 0, -0]);
  expect(roundedToBfloat16(numbers)).toEqual(Float32Array.from(numbers, nearest));
});

test('rounding to bfloat16 leaves what is not finite and what it was given', () => {
  const given = Float32Array.of(NaN, Infinity, -Infinity, 1.001);
  expect([...roundedToBfloat16(given)]).toEqual([NaN, Infinity, -Infinity, 1]);
  expect(given[3]).toBe(Math.fround(1.001));
  // Not the first of its memory.
  expect([...roundedToBfloat16(given.subarray(3))]).toEqual([1]);
});
