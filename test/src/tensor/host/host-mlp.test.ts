import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../../src/run/seeds.js';
import { Arena } from '../../../../src/simd/arena.js';
import { openKernels } from '../../../../src/simd/kernels.js';
import { openBackend } from '../../../../src/tensor/backend.js';
import { Diverged } from '../../../../src/tensor/diverged.js';
import { HostAdamW } from '../../../../src/tensor/host/host-adamw.js';
import { HostMlp } from '../../../../src/tensor/host/host-mlp.js';
import { HostParameters, type HostOutputs } from '../../../../src/tensor/host/host-parameters.js';
import { ParameterSet } from '../../../../src/tensor/parameters.js';
import { adamWOf } from '../../../../src/tensor/adamw.js';

const normals = (rng: Rng, length: number) => Float32Array.from({ length }, () => rng.normal());

/** A network of 3 inputs over 2 tables, one of them twice, and ids of `rows` inputs. */
function small(rows: number, hidden = [8, 4], outputs = 5) {
  const rng = Rng.named(1, 'test/mlp');
  const arena = new Arena();
  const [first, second] = [
    { rows: arena.hold(normals(rng, 7 * 3)), dim: 3 },
    { rows: arena.hold(normals(rng, 4 * 6)), dim: 6 },
  ];
  const tables = [first, second, first];
  const network = new HostMlp({ tables, hidden, outputs, gain: 1 }, (name) => Rng.named(2, name), arena);
  const ids = tables.map((table) => {
    const count = table.rows.length / table.dim;
    return Int32Array.from({ length: rows }, () => rng.integer(count));
  });
  return { network, tables, ids, rng };
}

/** The same network in float64, without kernels. */
function plain({ network, tables, ids }: ReturnType<typeof small>, widths: readonly number[]): number[] {
  const { parameters } = network;
  return Array.from(ids[0]!, (_, row) => {
    let x = tables.flatMap(({ rows, dim }, part) => [
      ...rows.subarray(ids[part]![row]! * dim, (ids[part]![row]! + 1) * dim),
    ]);
    widths.forEach((width, layer) => {
      const [weight, bias] = [parameters.value(`${layer}`), parameters.value(`${layer}.bias`)];
      const sums = Array.from(bias, (b, j) => x.reduce((sum, value, i) => sum + value * weight[i * width + j]!, b));
      x = layer < widths.length - 1 ? sums.map(Math.tanh) : sums;
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

describe('HostMlp', () => {
  test('computes what plain loops compute, at any number of rows', () => {
    for (const rows of [1, 6, 3, 40]) {
      const made = small(rows);
      const { values } = made.network.compute(made.ids);
      plain(made, [8, 4, 5]).forEach((expected, i) => expect(values[i]).toBeCloseTo(expected, 5));
    }
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

  test('its way back is the slope of its outputs, of every parameter', () => {
    const made = small(10);
    const { network, ids, rng } = made;
    const { parameters } = network;
    const slope = normals(rng, 50);
    const lossNow = () => plain(made, [8, 4, 5]).reduce((sum, value, i) => sum + value * slope[i]!, 0);
    network.compute(ids).back(slope);
    const slopes = parameters.slopes.slice();
    for (let i = 0; i < parameters.values.length; i++) {
      const value = parameters.values[i]!;
      parameters.values[i] = value + 1e-2;
      const up = parameters.values[i]! - value;
      const above = lossNow();
      parameters.values[i] = value - up;
      const below = lossNow();
      parameters.values[i] = value;
      expect(Math.abs(slopes[i]! - (above - below) / (2 * up))).toBeLessThan(2e-2);
    }
  });

  test('refuses the way back of what it has forgotten, and layers that do not fill vectors', () => {
    const { network, ids } = small(3);
    const first = network.compute(ids);
    network.compute(ids);
    expect(first.current()).toBe(false);
    expect(() => first.back(new Float32Array(15))).toThrow(/expected the latest computation/);
    expect(() => small(3, [6])).toThrow(/multiple of 4, got 6/);
  });
});

describe('HostAdamW', () => {
  const shapes = {
    w: { shape: [2, 3], data: Float32Array.of(1, -2, 3, 0.5, 0, 7) },
    b: { shape: [1], data: Float32Array.of(2) },
  };
  const outputs = (parameters: HostParameters, slope: Float32Array): HostOutputs => ({
    values: new Float32Array(7),
    current: () => true,
    back: (by) => {
      parameters.slope('w').set(by.subarray(0, 6));
      parameters.slope('b').set(by.subarray(6));
      void slope;
    },
  });

  test('steps as the optimizer of tensors does, with clip and decay, and goes on from a saved state', async () => {
    const { tf } = await openBackend('cpu');
    const options = { maxGradNorm: 2, weightDecay: 0.1, epsilon: 1e-5 };
    const host = new HostParameters(shapes);
    const tensors = new ParameterSet(tf);
    for (const [name, { shape, data }] of Object.entries(shapes)) tensors.add(name, shape, data);
    const [ours, theirs] = [adamWOf(host, options), adamWOf(tensors, options)];
    const rng = Rng.named(3, 'test/adam');
    const step = async (optimizer: typeof ours, parameters: HostParameters, slope: Float32Array) =>
      optimizer.minimize([{ outputs: () => outputs(parameters, slope), slope: () => slope }], 0.05);
    for (let i = 0; i < 5; i++) {
      const slope = normals(rng, 7);
      const norm = await step(ours, host, slope);
      const flat = () => tf.concat([tf.reshape(tensors.get('w'), [6]), tf.reshape(tensors.get('b'), [1])]);
      expect(norm).toBeCloseTo(await theirs.minimize([{ outputs: flat, slope: () => slope }], 0.05), 5);
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
    const slope = normals(rng, 7);
    await step(ours, host, slope);
    await step(resumed, other, slope);
    expect(other.values).toEqual(host.values);
    expect(() => other.import({ w: shapes.w })).toThrow(/parameter b of shape \[1\], got none/);
  });

  test('leaves everything as it was where a number would not be finite', async () => {
    const host = new HostParameters(shapes);
    const optimizer = new HostAdamW(host);
    const before = host.values.slice();
    const to = (slope: Float32Array, rate: number) =>
      optimizer.minimize([{ outputs: () => outputs(host, slope), slope: () => slope }], rate);
    await expect(to(Float32Array.of(0, 0, NaN, 0, 0, 0, 0), 0.1)).rejects.toThrow(
      /finite gradient of w, got NaN, at index 2/,
    );
    await expect(to(Float32Array.of(0, 0, 0, 1e30, 0, 0, 0), 0.1)).rejects.toThrow(/second moment of w, got Infinity/);
    await expect(to(new Float32Array(7).fill(1), Infinity)).rejects.toBeInstanceOf(Diverged);
    expect(host.values).toEqual(before);
    expect((await optimizer.exportState('')).tensors['second/w']!.data).toEqual(new Float32Array(6));
  });
});
