import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Rng } from '../../../src/run/seeds.js';
import { RowDots, type RowPairs, type Rows } from '../../../src/tensor/row-dots.js';
import { checkProperty } from '../../fixtures/property.js';

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

const calls = fc.array(fc.tuple(cases, fc.boolean()), { minLength: 1, maxLength: 4 });

test.each([
  ['SIMD', undefined],
  ['plain loops, over tables that are too large', 0],
])(
  'dot products of paired rows and their gradient by %s are, to the bit, those of one pair after the other',
  (_, most) => {
    checkProperty(
      fc.property(calls, (drawn) => {
        const dots = new RowDots(most);
        for (const [shape, isHeld] of drawn) {
          const { left, right, pairs, begun, upstream } = problem(shape);
          const table = isHeld ? { ...right, values: dots.hold(right.values) } : right;
          const [ours, plain] = [begun.slice(), begun.slice()];
          for (let i = 0; i < 2; i++) dots.addRowDots(ours, left, table, pairs);
          for (let i = 0; i < 2; i++) plainDots(plain, left, right, pairs);
          expect(ours).toEqual(plain);
          const [mine, theirs] = [left, left].map(({ values, ...place }) => ({ ...place, values: values.slice() }));
          dots.addRowDotsGradient(mine!, upstream, table, pairs);
          plainGradient(theirs!, upstream, right, pairs);
          expect(mine!.values).toEqual(theirs!.values);
        }
      }),
    );
  },
);
