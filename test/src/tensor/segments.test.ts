import { describe, expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { ParameterSet } from '../../../src/tensor/parameters.js';
import { readTensor } from '../../../src/tensor/ops.js';
import { paddedLogSoftmax, segmentLogSoftmaxColumns, weightedRowSums } from '../../../src/tensor/segments.js';
import { checkGradient, expectClose, gradientsOf } from '../../fixtures/gradient-check.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';

const offsets = Int32Array.of(0, 1, 4, 6, 15, 16);
const count = offsets.at(-1)!;
const columns = 3;
const rng = Rng.named(1, 'test/segments');
const normals = (length: number, deviation = 1) => Float32Array.from({ length }, () => deviation * rng.normal());
const scores = normals(count * columns, 2);
const logWeights = Float32Array.from({ length: count }, (_, i) => Math.log(1 + (i % 4)));

const backends = await backendsHere(['webgpu']);

/** Parameters of the given values. */
function parametersOf(tf: Tf, values: Record<string, [rows: number, width: number, data: Float32Array]>) {
  const parameters = new ParameterSet(tf);
  for (const [name, [rows, width, data]] of Object.entries(values)) parameters.add(name, [rows, width], data);
  return { parameters, get: (name: string) => parameters.get(name) as unknown as tfTypes.Tensor2D };
}

describe.each(backends)('the softmax over segments on %s', (backend) => {
  test.each([undefined, logWeights])('makes each column of each segment sum to 1, weights counted', async (weights) => {
    const { tf } = await openBackend(backend);
    const out = await readTensor(tf, () =>
      segmentLogSoftmaxColumns(tf, tf.tensor2d(scores, [count, columns]), offsets, weights),
    );
    for (let s = 0; s + 1 < offsets.length; s++) {
      for (let h = 0; h < columns; h++) {
        const rows = Array.from({ length: offsets[s + 1]! - offsets[s]! }, (_, i) => offsets[s]! + i);
        const terms = rows.map((i) => Math.exp(scores[i * columns + h]! + (weights?.[i] ?? 0)));
        const sum = terms.reduce((a, b) => a + b, 0);
        for (const i of rows) expect(out[i * columns + h]).toBeCloseTo(scores[i * columns + h]! - Math.log(sum), 4);
      }
    }
  });

  test('stays finite for scores that are far apart', async () => {
    const { tf } = await openBackend(backend);
    const far = tf.tensor2d([500, -500, 900], [3, 1]);
    const out = await readTensor(tf, () => segmentLogSoftmaxColumns(tf, far, Int32Array.of(0, 2, 3)));
    expectClose(out, [0, -1000, 0], 1e-3);
    far.dispose();
  });

  test.each([undefined, logWeights])('has the gradient that its values have as gradients', async (weights) => {
    const { tf } = await openBackend(backend);
    const { parameters, get } = parametersOf(tf, { scores: [count, columns, scores] });
    await checkGradient(tf, parameters, () => segmentLogSoftmaxColumns(tf, get('scores'), offsets, weights));
    parameters.dispose();
  });

  test('is the same by the stock operations of a device, in values and gradient', async () => {
    const { tf } = await openBackend(backend);
    const { parameters, get } = parametersOf(tf, { scores: [count, columns, scores] });
    const grads = normals(count * columns);
    const outcome = async (outputs: () => tfTypes.Tensor) => {
      const [gradient] = await gradientsOf(tf, { outputs, grad: () => grads }, parameters.variables);
      const values = (await gradient!.data()) as Float32Array;
      gradient!.dispose();
      return [await readTensor(tf, outputs), values];
    };
    const expected = await outcome(() => segmentLogSoftmaxColumns(tf, get('scores'), offsets, logWeights));
    const got = await outcome(() => paddedLogSoftmax(tf, get('scores'), offsets, logWeights));
    got.forEach((values, k) => expectClose(values, expected[k]!, 1e-4));
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
    const { tf } = await openBackend(backend);
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
    const { tf } = await openBackend(backend);
    const { parameters, get } = parametersOf(tf, { weights: [left.length, 1, weights], table: [6, width, table] });
    await checkGradient(tf, parameters, () =>
      weightedRowSums(tf, tf.reshape(get('weights'), [-1]), get('table'), { left, right }, rows),
    );
    parameters.dispose();
  });
});
