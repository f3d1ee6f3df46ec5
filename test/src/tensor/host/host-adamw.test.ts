import { expect, describe, test } from '@jest/globals';
import { Diverged } from '../../../../src/tensor/diverged.js';
import { HostAdamW } from '../../../../src/tensor/host/host-adamw.js';
import { HostParameters, type HostOutputs } from '../../../../src/tensor/host/host-parameters.js';
import type { Optimizer, Outputs } from '../../../../src/tensor/trainable.js';

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
