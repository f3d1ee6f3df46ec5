import { describe, expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { ParameterSet } from '../../../src/tensor/parameters.js';
import { gatherRows, readTensor, type TensorOutputs } from '../../../src/tensor/ops.js';
import { segmentLogSoftmaxColumns, weightedRowSums } from '../../../src/tensor/segments.js';
import { frozenDots, lastTrainedDots, trainedDots } from '../../../src/tensor/table-dots.js';
import { checkGradient, expectClose, gradientsOf } from '../../fixtures/gradient-check.js';
import { backendsHere, opened } from '../../fixtures/tensor-backends.js';

const offsets = Int32Array.of(0, 1, 4, 6, 15, 16);
const count = offsets.at(-1)!;
const columns = 3;
const rng = Rng.named(1, 'test/segments');
const normals = (length: number, deviation = 1) => Float32Array.from({ length }, () => deviation * rng.normal());
const scores = normals(count * columns, 2);
const logWeights = Float32Array.from({ length: count }, (_, i) => Math.log(1 + (i % 4)));

const backends = [...(await backendsHere()), 'a device'] as const;

/** Parameters of the given values. */
function parametersOf(tf: Tf, values: Record<string, [rows: number, width: number, data: Float32Array]>) {
  const parameters = new ParameterSet(tf);
  for (const [name, [rows, width, data]] of Object.entries(values)) parameters.add(name, [rows, width], data);
  return { parameters, get: (name: string) => parameters.get(name) as unknown as tfTypes.Tensor2D };
}

describe.each(backends)('the softmax over segments on %s', (backend) => {
  test.each([undefined, logWeights])('makes each column of each segment sum to 1, weights counted', async (weights) => {
    const tf = await opened(backend);
    const out = await readTensor(tf, () =>
      segmentLogSoftmaxColumns(tf, tf.tensor2d(scores, [count, columns]), offsets, weights),
    );
    for (let s = 0; s + 1 < offsets.length; s++) {
      for (let h = 0; h < columns; h++) {
        const rows = Array.from({ length: offsets[s + 1]! - offsets[s]! }, (_, i) => offsets[s]! + i);
        const terms = rows.map((i) => Math.exp(scores[i * columns + h]! + (weights?.[i] ?? 0)));
        const sum = terms.reduce((a, b) => a + b, 0);
        const at = rows.map((i) => i * columns + h);
        expectClose(
          at.map((i) => out[i]!),
          at.map((i) => scores[i]! - Math.log(sum)),
          5e-5,
        );
      }
    }
  });

  test('stays finite for scores that are far apart', async () => {
    const tf = await opened(backend);
    const far = tf.tensor2d([500, -500, 900], [3, 1]);
    const out = await readTensor(tf, () => segmentLogSoftmaxColumns(tf, far, Int32Array.of(0, 2, 3)));
    expectClose(out, [0, -1000, 0], 1e-3);
    far.dispose();
  });

  test.each([undefined, logWeights])('has the gradient that its values have as gradients', async (weights) => {
    const tf = await opened(backend);
    const { parameters, get } = parametersOf(tf, { scores: [count, columns, scores] });
    await checkGradient(tf, parameters, () => segmentLogSoftmaxColumns(tf, get('scores'), offsets, weights));
    parameters.dispose();
  });
});

describe.each(backends)('weighted sums of rows on %s', (backend) => {
  const left = Int32Array.of(0, 0, 0, 0, 0, 3, 3, 1, 0);
  const right = Int32Array.of(2, 1, 1, 4, 0, 2, 3, 4, 4);
  const [rows, width] = [5, 4];
  const table = normals(6 * width);
  const weights = normals(left.length);

  test('add each row by its weight where it belongs, and nothing elsewhere', async () => {
    const tf = await opened(backend);
    const expected = new Float32Array(rows * width);
    left.forEach((row, i) => {
      for (let j = 0; j < width; j++) expected[row * width + j]! += weights[i]! * table[right[i]! * width + j]!;
    });
    const out = await readTensor(tf, () =>
      weightedRowSums(tf, tf.tensor1d(weights), tf.tensor2d(table, [6, width]), { left, right }, rows),
    );
    expectClose(out, expected);
    expect(Array.from(out.subarray(2 * width, 3 * width))).toEqual([0, 0, 0, 0]);
  });

  test('have the gradients that their values have as gradients', async () => {
    const tf = await opened(backend);
    const { parameters, get } = parametersOf(tf, { weights: [left.length, 1, weights], table: [6, width, table] });
    await checkGradient(tf, parameters, () =>
      weightedRowSums(tf, tf.reshape(get('weights'), [-1]), get('table'), { left, right }, rows),
    );
    parameters.dispose();
  });
});

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

describe.each(backends.filter((name) => name !== 'tensorflow-gpu'))(
  'dot products with rows of tables on %s',
  (backend) => {
    test.each([
      ['trained', trainedDots],
      ['trained, last of a network', lastTrainedDots],
      ['frozen', undefined],
    ])('%s: are those of pairs of rows, table by table, with every gradient', async (_, make) => {
      const tf = await opened(backend);
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
        expected.forEach((values, k) => expectClose(got[k]!, values, 5e-5));
        // The last row of each table is unused.
        (make ? [1, 2] : []).forEach((k) =>
          expect(got[k + 1]!.slice(-widths[k - 1]!).every((value) => value === 0)).toBe(true),
        );
        tf.dispose(variables);
      }
    });
  },
);
