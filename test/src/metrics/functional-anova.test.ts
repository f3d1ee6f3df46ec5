import { describe, expect, test } from '@jest/globals';
import { functionalAnova } from '../../../src/metrics/functional-anova.js';
import { Rng } from '../../../src/run/seeds.js';

/** Random points in the unit cube with their function values. */
function sampleOf(count: number, dimensions: number, say: (row: number[], rng: Rng) => number) {
  const rng = new Rng(3);
  const rows = Array.from({ length: count }, () => Array.from({ length: dimensions }, () => rng.uniform()));
  return [rows, rows.map((row) => say(row, rng))] as const;
}

describe('the share of a setting', () => {
  test('is all where nothing else matters', () => {
    const { shares, foretold } = functionalAnova(...sampleOf(60, 3, ([a]) => (a! < 0.5 ? 1 : 2)))!;
    expect(shares[0]!.value).toBeGreaterThan(0.95);
    expect(shares[1]!.value).toBeLessThan(0.03);
    expect(foretold).toBeGreaterThan(0.9);
  });

  test('is that of its variance where settings add up', () => {
    // Var(3a) : Var(b) = 9 : 1.
    const { shares } = functionalAnova(...sampleOf(400, 3, ([a, b]) => 3 * a! + b!))!;
    expect(shares[0]!.value).toBeCloseTo(0.9, 1);
    expect(shares[1]!.value).toBeCloseTo(0.1, 1);
    expect(shares[2]!.value).toBeLessThan(0.02);
  });

  test('leaves to both what only both explain', () => {
    // Each dimension alone has the same mean everywhere.
    const { shares, foretold } = functionalAnova(...sampleOf(400, 2, ([a, b]) => Number(a! < 0.5 === b! < 0.5)))!;
    for (const { value } of shares) expect(value).toBeLessThan(0.15);
    expect(foretold).toBeGreaterThan(0.8);
  });

  test('is said to mean nothing where values are noise', () => {
    const { foretold } = functionalAnova(...sampleOf(100, 3, (_, rng) => rng.normal()))!;
    expect(foretold).toBeLessThan(0.1);
  });

  test('is none of equal values, nor of three trials', () => {
    expect(functionalAnova(...sampleOf(20, 2, () => 1))).toBeUndefined();
    expect(functionalAnova(...sampleOf(3, 2, ([a]) => a!))).toBeUndefined();
  });

  test('does not change with the unit of the values, nor does what is foretold', () => {
    const [rows, values] = sampleOf(40, 3, ([a, b], rng) => a! + 0.5 * b! + 0.3 * rng.normal());
    // A power of two causes no rounding.
    const scaled = values.map((value) => 4096 * value);
    expect(functionalAnova(rows, scaled)).toEqual(functionalAnova(rows, values));
  });

  test('does not change with the zero of the values, nor does what is foretold', () => {
    const [rows, values] = sampleOf(60, 2, ([a]) => (a! < 0.5 ? 1 : 2));
    const shifted = values.map((value) => value + 64);
    expect(functionalAnova(rows, shifted)!.foretold).toBeCloseTo(functionalAnova(rows, values)!.foretold, 6);
  });

  test('is found in four trials, the fewest that are split', () => {
    const { shares } = functionalAnova([[0], [0.2], [0.8], [1]], [0, 0, 1, 1])!;
    expect(shares[0]!.value).toBeCloseTo(1, 9);
  });
});
