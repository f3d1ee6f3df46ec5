import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Rng } from '../../../src/run/seeds.js';
import { holdTables, inPlace } from '../../../src/tensor/table-dots.js';
import { addRowDots, addRowDotsGradient, type RowPairs, type Rows, simdRowDots } from '../../../src/tensor/row-dots.js';

/** The same sums, one pair after the other. */
function plainDots(out: Float32Array, left: Rows, right: Rows, { width, left: p, right: q }: RowPairs): void {
  for (let i = 0; i < out.length; i++) {
    let sum = 0;
    for (let j = 0; j < width; j++) sum += at(left, p[i]!, j) * at(right, q[i]!, j);
    out[i]! += Math.fround(sum);
  }
}

function plainGradient(gradient: Rows, upstream: Float32Array, right: Rows, { width, left, right: q }: RowPairs): void {
  for (let i = 0; i < upstream.length; i++) {
    for (let j = 0; j < width; j++) {
      gradient.values[left[i]! * gradient.stride + gradient.column + j]! += upstream[i]! * at(right, q[i]!, j);
    }
  }
}

const at = ({ values, stride, column }: Rows, row: number, j: number) => values[row * stride + column + j]!;

/** States with 0 to 9 edges each, or in any order; rows with columns to both sides that take no part. */
const cases = fc.record({
  seed: fc.integer(),
  width: fc.integer({ min: 1, max: 9 }),
  counts: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 }),
  shuffled: fc.boolean(),
});

function problem({
  seed,
  width,
  counts,
  shuffled,
}: {
  seed: number;
  width: number;
  counts: number[];
  shuffled: boolean;
}) {
  const rng = Rng.named(seed, 'rows');
  const numbers = (length: number) => Float32Array.from({ length }, () => rng.normal());
  const rows = Int32Array.from(counts.flatMap((count, row) => Array<number>(count).fill(row)));
  const table = (length: number): Rows => ({ values: numbers(length * (width + 3)), stride: width + 3, column: 2 });
  return {
    left: table(counts.length),
    right: table(5),
    pairs: { width, left: shuffled ? rng.shuffle(rows) : rows, right: rows.map(() => rng.integer(5)) },
    begun: numbers(rows.length),
    upstream: numbers(rows.length).map((value) => (rng.uniform() < 0.2 ? 0 : value)),
  };
}

describe('dot products of paired rows', () => {
  test('are, to the bit, those of one pair after the other', () => {
    fc.assert(
      fc.property(cases, (shape) => {
        const { left, right, pairs, begun } = problem(shape);
        const [ours, plain] = [begun.slice(), begun.slice()];
        addRowDots(ours, left, right, pairs);
        plainDots(plain, left, right, pairs);
        expect(ours).toEqual(plain);
      }),
    );
  });

  test('have, to the bit, the gradient of one pair after the other, and leave other columns alone', () => {
    fc.assert(
      fc.property(cases, (shape) => {
        const { left, right, pairs, upstream } = problem(shape);
        const [ours, plain] = [left, left].map(({ values, ...place }) => ({ ...place, values: values.slice() }));
        addRowDotsGradient(ours!, upstream, right, pairs);
        plainGradient(plain!, upstream, right, pairs);
        expect(ours!.values).toEqual(plain!.values);
      }),
    );
  });

  test('are, with their gradient, the same to the bit by SIMD over rows that change', () => {
    fc.assert(
      fc.property(fc.array(cases, { minLength: 1, maxLength: 4 }), (shapes) => {
        const simd = simdRowDots();
        for (const shape of shapes) {
          const { left, right, pairs, begun, upstream } = problem(shape);
          const [ours, plain] = [begun.slice(), begun.slice()];
          simd.addRowDots(ours, left, right, pairs);
          addRowDots(plain, left, right, pairs);
          expect(ours).toEqual(plain);
          const [mine, theirs] = [left, left].map(({ values, ...place }) => ({ ...place, values: values.slice() }));
          simd.addRowDotsGradient(mine!, upstream, right, pairs);
          addRowDotsGradient(theirs!, upstream, right, pairs);
          expect(mine!.values).toEqual(theirs!.values);
        }
      }),
    );
  });

  test('are, with their gradient, the same to the bit by SIMD, through batches that grow', () => {
    fc.assert(
      fc.property(fc.array(cases, { minLength: 1, maxLength: 4 }), (shapes) => {
        const rng = Rng.named(shapes.length, 'tables');
        const { width } = shapes[0]!;
        const tables = [width, width + 2].map((each) => ({
          values: Float32Array.from({ length: 5 * each }, () => rng.normal()),
          width: each,
        }));
        const [simd, plain] = [holdTables(tables), inPlace(tables)];
        for (const shape of shapes) {
          const { pairs, upstream } = problem(shape);
          const both = { left: pairs.left, right: [pairs.right, pairs.right.map((row) => 4 - row)] };
          const left = Float32Array.from({ length: shape.counts.length * (2 * width + 2) }, () => rng.normal());
          expect(simd.dots(left, both)).toEqual(plain.dots(left, both));
          expect(simd.gradient(upstream, left.length, both)).toEqual(plain.gradient(upstream, left.length, both));
        }
      }),
      { numRuns: 30 },
    );
  });
});
