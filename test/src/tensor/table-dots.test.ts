import { describe, expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend } from '../../../src/tensor/backend.js';
import { gatherRows, readTensor, type TensorOutputs } from '../../../src/tensor/ops.js';
import { frozenDots, lastTrainedDots, trainedDots } from '../../../src/tensor/table-dots.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';
import { gradientsOf } from '../../fixtures/gradient-check.js';

const widths = [3, 6];
const heights = [5, 9];

/** States with 0 to 40 edges, whose tails repeat. */
function problem(seed: number) {
  const rng = Rng.named(seed, 'test/dots');
  const counts = [0, 40, ...Array.from({ length: 4 }, () => rng.integer(41))];
  const left = Int32Array.from(counts.flatMap((count, state) => Array<number>(count).fill(state)));
  const right = heights.map((height) => left.map(() => rng.integer(height - 1)));
  const numbers = (rows: number, columns: number) =>
    Array.from({ length: rows }, () => Array.from({ length: columns }, () => rng.normal()));
  const grads = Float32Array.from(left, () => rng.normal());
  return {
    states: numbers(6, 9),
    tables: heights.map((height, k) => numbers(height, widths[k]!)),
    left,
    right,
    grads,
  };
}

const backends = await backendsHere(['tensorflow-gpu']);

describe.each(backends)('dot products with rows of tables on %s', (backend) => {
  test.each([
    ['trained', trainedDots],
    ['trained, last of a network', lastTrainedDots],
    ['frozen', undefined],
  ])('%s: are those of pairs of rows, table by table, with every gradient', async (_, make) => {
    const { tf } = await openBackend(backend);
    for (let seed = 0; seed < 2; seed++) {
      const { states, tables, left, right, grads } = problem(seed);
      const frozen = frozenDots(
        tables.map((rows, k) => ({ values: Float32Array.from(rows.flat()), width: widths[k]! })),
      );
      const variables = [states, ...tables].map((values) => tf.variable(tf.tensor2d(values)));
      const [own, ...rows] = variables as unknown as [tfTypes.Tensor2D, ...tfTypes.Tensor2D[]];
      const ours = () => {
        const rowsOf = tf.mul(own, 1) as tfTypes.Tensor2D;
        return make ? make(tf, rowsOf, rows, { left, right }) : frozen(rowsOf, { left, right });
      };
      const plain = () => {
        const rowsOf = (table: tfTypes.Tensor2D, index: Int32Array) => gatherRows(tf, table, index);
        const part = (k: number, column: number) =>
          tf.sum(tf.mul(rowsOf(tf.slice(own, [0, column], [6, widths[k]!]), left), rowsOf(rows[k]!, right[k]!)), 1);
        return tf.add(part(0, 0), part(1, 3));
      };
      const outcome = async (outputs: () => TensorOutputs) => {
        const gradients = await gradientsOf(
          tf,
          { outputs, grad: () => grads },
          make ? variables : variables.slice(0, 1),
        );
        const values = await Promise.all(gradients.map((gradient) => gradient.data()));
        tf.dispose(gradients);
        return [await readTensor(tf, outputs), ...values];
      };
      const [got, expected] = [await outcome(ours), await outcome(plain)];
      expected.forEach((values, k) => values.forEach((value, i) => expect(got[k]![i]).toBeCloseTo(value, 4)));
      // The last row of each table is unused.
      (make ? [1, 2] : []).forEach((k) =>
        expect(got[k + 1]!.slice(-widths[k - 1]!).every((value) => value === 0)).toBe(true),
      );
      tf.dispose(variables);
    }
  });
});
