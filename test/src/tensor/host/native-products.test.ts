import { expect, test } from '@jest/globals';
import { Rng } from '../../../../src/run/seeds.js';
import { Arena } from '../../../../src/simd/arena.js';
import { openKernels, type Kernels } from '../../../../src/simd/kernels.js';
import { openBackend, type Tf } from '../../../../src/tensor/backend.js';
import { adamWOf } from '../../../../src/tensor/adamw.js';
import { HostMlp } from '../../../../src/tensor/host/host-mlp.js';
import { withNativeProducts } from '../../../../src/tensor/host/native-products.js';

const [rows, units] = [96, 224];

/** Outputs and weights of a net with two hidden layers after each of 3 steps of Adam down the slope of Σ out² / 2. */
async function trained(kernelsOf: (kernels: Kernels, arena: Arena) => Kernels): Promise<Float32Array[]> {
  const rng = Rng.named(0, 'test/native-products');
  const arena = new Arena();
  const table = { rows: arena.hold(Float32Array.from({ length: rows * 24 }, () => rng.normal())), dim: 24 };
  const kernels = kernelsOf(openKernels(arena.memory), arena);
  const shape = { tables: [table], hidden: [units, units], outputs: 8, gain: 1 };
  const mlp = new HostMlp(shape, (name) => Rng.named(1, name), arena, kernels);
  const optimizer = adamWOf(mlp.parameters, { epsilon: 1e-3 });
  const ids = [Int32Array.from({ length: rows }, (_, i) => (i * 5) % rows)];
  const made: Float32Array[] = [];
  for (let step = 0; step < 3; step++) {
    const loss = {
      outputs: () => mlp.compute(ids),
      slope: (values: Float32Array) => {
        made.push(values.slice());
        return values.slice();
      },
    };
    // Twice: the second is added to the slopes of the first.
    await optimizer.minimize([loss, loss], 1e-2);
  }
  return [...made, mlp.parameters.values.slice()];
}

test.each(['cpu', 'wasm'] as const)('large products by %s train a net as the SIMD kernels do', async (name) => {
  const { tf } = await openBackend(name);
  const before = tf.memory().numTensors;
  let calls = 0;
  const counted: Tf = { ...tf, matMul: ((...args) => (calls++, tf.matMul(...args))) as Tf['matMul'] };
  const ours = await trained((kernels) => kernels);
  const theirs = await trained((kernels, arena) => withNativeProducts(counted, kernels, arena));
  // One on the way there and two on the way back; other layers are below the size.
  expect(calls).toBe(3 * 6);
  expect(tf.memory().numTensors).toBe(before);
  ours.forEach((values, i) => {
    const most = values.reduce((worst, value, j) => Math.max(worst, Math.abs(value - theirs[i]![j]!)), 0);
    expect(most).toBeLessThan(1e-4);
  });
});

test('a backend on a device is refused', () => {
  const device = { getBackend: () => 'webgpu', backend: () => ({}) } as unknown as Tf;
  const arena = new Arena();
  expect(() => withNativeProducts(device, openKernels(arena.memory), arena)).toThrow(/got webgpu/);
});
