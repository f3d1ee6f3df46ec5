import { describe, expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend } from '../../../src/tensor/backend.js';
import { readTensor } from '../../../src/tensor/ops.js';
import { ParameterSet } from '../../../src/tensor/parameters.js';
import { scatterSums } from '../../../src/tensor/scatter-sums.js';
import { checkGradient, expectClose } from '../../fixtures/gradient-check.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';

const [places, rows, columns] = [40, 31, 5];
const rng = Rng.named(1, 'test/scatter-sums');
const values = Float32Array.from({ length: places }, () => rng.normal());
const edges = Array.from({ length: 200 }, () => ({
  u: rng.integer(places),
  v: rng.integer(rows),
  r: rng.integer(columns),
}));
const pairs = {
  from: Int32Array.from(edges, ({ u }) => u),
  into: Int32Array.from(edges, ({ v, r }) => v * columns + r),
};

describe.each(await backendsHere(['webgpu']))('sums over edges on %s', (backend) => {
  test('add what leaves each place to the row it comes to, in the column of the relation', async () => {
    const { tf } = await openBackend(backend);
    const out = await readTensor(tf, () => scatterSums(tf, tf.tensor1d(values), pairs, [rows, columns]));
    const expected = Array.from({ length: rows * columns }, (_, cell) =>
      edges
        .filter(({ v, r }) => v === Math.floor(cell / columns) && r === cell % columns)
        .reduce((sum, { u }) => sum + values[u]!, 0),
    );
    expectClose(out, expected);
    expect(expected).toContain(0);
  });

  test('have the gradient that their values have as slopes, also where a place has no edge', async () => {
    const { tf } = await openBackend(backend);
    const parameters = new ParameterSet(tf);
    parameters.add('values', [places], values);
    const some = { from: pairs.from.subarray(0, 25), into: pairs.into.subarray(0, 25) };
    for (const which of [pairs, some]) {
      const read = () =>
        scatterSums(tf, parameters.get('values') as unknown as tfTypes.Tensor1D, which, [rows, columns]);
      await checkGradient(tf, parameters, () => tf.mul(read(), read()));
    }
    parameters.dispose();
  });
});
