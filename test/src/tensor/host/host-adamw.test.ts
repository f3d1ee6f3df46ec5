import { expect, describe, test } from '@jest/globals';
import { Rng } from '../../../../src/run/seeds.js';
import { adamWOf } from '../../../../src/tensor/adamw.js';
import { openBackend } from '../../../../src/tensor/backend.js';
import { Diverged } from '../../../../src/tensor/diverged.js';
import { HostAdamW } from '../../../../src/tensor/host/host-adamw.js';
import { HostParameters, type HostOutputs } from '../../../../src/tensor/host/host-parameters.js';
import { normalValues, ParameterSet } from '../../../../src/tensor/parameters.js';
import type { Optimizer, Outputs } from '../../../../src/tensor/trainable.js';

const normals = (rng: Rng, length: number) => normalValues(rng, 1, length);

/** One step down a gradient by the outputs. */
const descend = (optimizer: Optimizer, outputs: () => Outputs, grad: Float32Array, rate: number) =>
  optimizer.step(async (record) => (await record(outputs)).back(grad), rate);

describe('HostAdamW', () => {
  const shapes = {
    w: { shape: [2, 3], data: Float32Array.of(1, -2, 3, 0.5, 0, 7) },
    b: { shape: [1], data: Float32Array.of(2) },
  };
  const outputs = (parameters: HostParameters): HostOutputs => ({
    values: new Float32Array(7),
    back: (by) => {
      parameters.grad('w').set(by.subarray(0, 6));
      parameters.grad('b').set(by.subarray(6));
    },
  });

  test('steps as the optimizer of tensors does, with clip and decay, and resumes from a saved state', async () => {
    const { tf } = await openBackend('cpu');
    const options = { maxGradNorm: 2, weightDecay: 0.1, epsilon: 1e-5 };
    const host = new HostParameters(shapes);
    const tensors = new ParameterSet(tf);
    for (const [name, { shape, data }] of Object.entries(shapes)) tensors.add(name, shape, data);
    const [ours, theirs] = [adamWOf(host, options), adamWOf(tensors, options)];
    const rng = Rng.named(3, 'test/adam');
    const step = async (optimizer: Optimizer, parameters: HostParameters, grad: Float32Array) =>
      descend(optimizer, () => outputs(parameters), grad, 0.05);
    for (let i = 0; i < 5; i++) {
      const grad = normals(rng, 7);
      const norm = await step(ours, host, grad);
      const flat = () => tf.concat([tf.reshape(tensors.get('w'), [6]), tf.reshape(tensors.get('b'), [1])]);
      expect(norm).toBeCloseTo(await descend(theirs, flat, grad, 0.05), 5);
      const expected = await tensors.export();
      for (const [name, { data }] of Object.entries(await host.export())) {
        data.forEach((value, j) => expect(value).toBeCloseTo(expected[name]!.data[j]!, 5));
      }
    }
    const saved = await ours.exportState('x/');
    const other = new HostParameters(shapes);
    other.import(await host.export());
    const resumed = new HostAdamW(other, options);
    resumed.importState('x/', saved.steps, saved.tensors);
    const grad = normals(rng, 7);
    await step(ours, host, grad);
    await step(resumed, other, grad);
    expect(other.values).toEqual(host.values);
    expect(() => other.import({ w: shapes.w })).toThrow(/parameter b of shape \[1\], got none/);
  });

  test('leaves everything as it was where a number would not be finite', async () => {
    const host = new HostParameters(shapes);
    const optimizer = new HostAdamW(host);
    const before = host.values.slice();
    const to = (grad: Float32Array, rate: number) => descend(optimizer, () => outputs(host), grad, rate);
    await expect(to(Float32Array.of(0, 0, NaN, 0, 0, 0, 0), 0.1)).rejects.toThrow(
      /finite gradient of w, got NaN, at index 2/,
    );
    await expect(to(Float32Array.of(0, 0, 0, 1e30, 0, 0, 0), 0.1)).rejects.toThrow(/second moment of w, got Infinity/);
    await expect(to(new Float32Array(7).fill(1), Infinity)).rejects.toBeInstanceOf(Diverged);
    expect(host.values).toEqual(before);
    expect((await optimizer.exportState('')).tensors['second/w']!.data).toEqual(new Float32Array(6));
  });
});
