import { expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { openBackend } from '../../../src/tensor/backend.js';
import { readTensor } from '../../../src/tensor/ops.js';
import { deviceRows, deviceRowSums, summedRows } from '../../../src/tensor/row-sums.js';
import { Rng } from '../../../src/run/seeds.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';

// Rows with nothing, with one, with a power of two and with others; not in their order.
const index = Int32Array.of(4, 1, 1, 6, 4, 4, 2, 2, 2, 2, 4, 4, 1);
const [rows, width] = [8, 3];
const rng = Rng.named(1, 'test/row-sums');
const values = Float32Array.from({ length: index.length * width }, () => rng.normal());

const byHand = new Float32Array(rows * width);
index.forEach((row, i) => {
  for (let j = 0; j < width; j++) byHand[row * width + j]! += values[i * width + j]!;
});

const backends = await backendsHere();

test.each(backends)('rows are added where they belong, zeros elsewhere, on %s', async (name) => {
  const { tf } = await openBackend(name);
  const x = tf.tensor2d(values, [index.length, width]);
  const sums = await readTensor(tf, () => summedRows(tf, x, index, rows));
  expectClose(sums, byHand, 1e-6);
  expect(Array.from(sums.subarray(0, width))).toEqual([0, 0, 0]);
  x.dispose();
});

// The library has no such sum on wasm, where the host takes and adds rows.
test.each(backends.filter((name) => name !== 'wasm'))(
  'taking rows and adding them are each the gradient of the other, on %s',
  async (name) => {
    const { tf } = await openBackend(name);
    const x = tf.tensor2d(values, [index.length, width]);
    const table = tf.tensor2d(byHand, [rows, width]);
    const ofTable = await readTensor(tf, () =>
      tf.grad((t) => tf.sum(tf.mul(deviceRows(tf, t as tfTypes.Tensor2D, index), x)))(table),
    );
    expectClose(ofTable, byHand, 1e-6);
    const ofRows = await readTensor(tf, () =>
      tf.grad((v) => tf.sum(tf.mul(deviceRowSums(tf, v as tfTypes.Tensor2D, index, rows), table)))(x),
    );
    expectClose(
      ofRows,
      Float32Array.from(values, (_, i) => byHand[index[Math.floor(i / width)]! * width + (i % width)]!),
      1e-6,
    );
    tf.dispose([x, table]);
  },
);
