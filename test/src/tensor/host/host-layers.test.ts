import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../../src/run/seeds.js';
import { Arena } from '../../../../src/simd/arena.js';
import { openKernels } from '../../../../src/simd/kernels.js';
import { openBackend } from '../../../../src/tensor/backend.js';
import { Diverged } from '../../../../src/tensor/diverged.js';
import { HostAdamW } from '../../../../src/tensor/host/host-adamw.js';
import { denseStarts, HostLayers } from '../../../../src/tensor/host/host-layers.js';
import { HostParameters, type HostOutputs } from '../../../../src/tensor/host/host-parameters.js';
import { ParameterSet } from '../../../../src/tensor/parameters.js';
import { adamWOf } from '../../../../src/tensor/adamw.js';
import type { Optimizer, Outputs } from '../../../../src/tensor/trainable.js';

const normals = (rng: Rng, length: number) => Float32Array.from({ length }, () => rng.normal());

/** Three layers, the second without a bias, and `rows` inputs; every parameter is scattered. */
function small(rows: number) {
  const rng = Rng.named(1, 'test/layers');
  const layers = [
    { name: 'a', width: 8, biased: true, gain: Math.SQRT2 },
    { name: 'b', width: 6, biased: false, gain: 1 },
    { name: 'c', width: 5, biased: true, gain: 1 },
  ];
  const parameters = new HostParameters(denseStarts(12, layers, (name) => Rng.named(2, name)));
  for (const { name, biased } of layers) if (biased) parameters.value(`${name}.bias`).set(normals(rng, 5));
  const input = normals(rng, rows * 12);
  const network = new HostLayers(parameters, 12, layers);
  const compute = () => {
    network.input(rows).set(input);
    return network.compute(rows);
  };
  return { network, parameters, layers, input, compute, rng };
}

/** The same network in float64, without kernels. */
function plain({ parameters, layers, input }: ReturnType<typeof small>): number[] {
  return Array.from({ length: input.length / 12 }, (_, row) => {
    let x = [...input.subarray(12 * row, 12 * row + 12)];
    layers.forEach(({ name, width, biased }, layer) => {
      const weight = parameters.value(name);
      const bias = biased ? parameters.value(`${name}.bias`) : new Float32Array(width);
      const sums = Array.from(bias, (b, j) => x.reduce((sum, value, i) => sum + value * weight[i * width + j]!, b));
      x = layer < 2 ? sums.map(Math.tanh) : sums;
    });
    return x;
  }).flat();
}

test.each([
  [1, 1, 1],
  [4, 8, 8],
  [5, 7, 11],
  [9, 16, 50],
])(
  'products of %i × %i × %i are those of plain loops, for all strides, and the same bits for a row alone',
  (m, k, n) => {
    const arena = new Arena();
    const kernels = openKernels(arena.memory);
    const rng = Rng.named(0, 'test/matmul');
    const [a, b, c] = [
      arena.hold(normals(rng, m * k)),
      arena.hold(normals(rng, k * n)),
      arena.hold(normals(rng, m * n)),
    ];
    const panel = arena.float32(8 * k + 32);
    const before = c.slice();
    const expected = (
      i: number,
      j: number,
      aAt: (i: number, p: number) => number,
      bAt: (p: number, j: number) => number,
    ) => Array.from({ length: k }, (_, p) => a[aAt(i, p)]! * b[bAt(p, j)]!).reduce((sum, x) => sum + x, 0);
    for (const [aRow, aCol, bRow, bCol, add] of [
      [k, 1, n, 1, 0],
      [1, m, n, 1, 1],
      [k, 1, 1, k, 0],
    ] as const) {
      c.set(before);
      kernels.matMul(a.byteOffset, aRow, aCol, b.byteOffset, bRow, bCol, c.byteOffset, m, k, n, panel.byteOffset, add);
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          const sum = expected(
            i,
            j,
            (x, p) => x * aRow + p * aCol,
            (p, y) => p * bRow + y * bCol,
          );
          expect(c[i * n + j]).toBeCloseTo(sum + (add ? before[i * n + j]! : 0), 4);
        }
      }
    }
    kernels.matMul(a.byteOffset, k, 1, b.byteOffset, n, 1, c.byteOffset, m, k, n, panel.byteOffset, 0);
    const last = c.slice((m - 1) * n);
    kernels.matMul(
      a.byteOffset + 4 * (m - 1) * k,
      k,
      1,
      b.byteOffset,
      n,
      1,
      c.byteOffset,
      1,
      k,
      n,
      panel.byteOffset,
      0,
    );
    expect(c.slice(0, n)).toEqual(last);
  },
);

describe('HostLayers', () => {
  test('computes what plain loops compute, at any number of rows', () => {
    for (const rows of [1, 6, 3, 40]) {
      const made = small(rows);
      const values = made.compute();
      expect(values).toHaveLength(5 * rows);
      plain(made).forEach((expected, i) => expect(values[i]).toBeCloseTo(expected, 5));
    }
  });

  test('starts orthogonal, without biases', () => {
    const starts = denseStarts(3, [{ name: 'x', width: 7, biased: true, gain: 2 }], () => new Rng(1));
    const { data, shape } = starts.x!;
    expect(shape).toEqual([3, 7]);
    for (const [a, b] of [
      [0, 0],
      [0, 1],
      [1, 2],
    ] as const) {
      const dot = data.slice(7 * a, 7 * a + 7).reduce((sum, value, i) => sum + value * data[7 * b + i]!, 0);
      expect(dot).toBeCloseTo(a === b ? 4 : 0, 5);
    }
    expect(starts['x.bias']).toEqual({ shape: [7], data: new Float32Array(7) });
    expect(denseStarts(3, [{ name: 'x', width: 7, biased: false, gain: 2 }])).toEqual({
      x: { shape: [3, 7], data: new Float32Array(21) },
    });
  });

  test('tanh is tanh from end to end', () => {
    const arena = new Arena();
    const kernels = openKernels(arena.memory);
    const x = arena.hold(Float32Array.from({ length: 4004 }, (_, i) => (i - 2002) / 130));
    const expected = Array.from(x, Math.tanh);
    kernels.tanhAll(x.byteOffset, x.length);
    expect(Math.max(...expected.map((value, i) => Math.abs(value - x[i]!)))).toBeLessThan(3e-7);
    const far = arena.hold(Float32Array.of(-Infinity, 1e30, 0, NaN));
    kernels.tanhAll(far.byteOffset, 4);
    expect([...far.subarray(0, 3)]).toEqual([-1, 1, 0]);
    expect(far[3]).toBeNaN();
  });

  test('its backward pass is the gradient of its outputs, of every parameter and of the input', () => {
    const made = small(10);
    const { network, parameters, input, rng } = made;
    const grad = normals(rng, 50);
    const lossNow = () => plain(made).reduce((sum, value, i) => sum + value * grad[i]!, 0);
    made.compute();
    network.outputGrads(10).set(grad);
    const ofInput = network.back(10, true)!.slice();
    const grads = parameters.grads.slice();
    const check = (values: Float32Array, gradient: Float32Array) => {
      for (let i = 0; i < values.length; i++) {
        const value = values[i]!;
        values[i] = value + 1e-2;
        const up = values[i]! - value;
        const above = lossNow();
        values[i] = value - up;
        const below = lossNow();
        values[i] = value;
        expect(Math.abs(gradient[i]! - (above - below) / (2 * up))).toBeLessThan(2e-2);
      }
    };
    check(parameters.values, grads);
    check(input, ofInput);
    made.compute();
    network.outputGrads(10).set(grad);
    expect(network.back(10, false)).toBeUndefined();
    // It adds to what is there.
    grads.forEach((value, i) => expect(parameters.grads[i]).toBeCloseTo(2 * value, 4));
  });
});

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
