import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import {
  gatherRows,
  gatherSum,
  matMul,
  matMulConst,
  readTensor,
  relu,
  roundedToBfloat16,
  throughBfloat16,
} from '../../../src/tensor/ops.js';
import { pairDot } from '../../../src/tensor/table-dots.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { backendsHere, opened } from '../../fixtures/tensor-backends.js';

type Tensor2D = tfTypes.Tensor2D;

interface Case {
  name: string;
  /** Shapes of the differentiable inputs. */
  shapes: [number, number][];
  ours(tf: Tf, inputs: Tensor2D[]): tfTypes.Tensor;
  stock(tf: Tf, inputs: Tensor2D[]): tfTypes.Tensor;
}

const left = Float32Array.from([0.5, -1, 2, 0, 1, 3]);
const first = Int32Array.from([2, 0, 2, 2, 1]);
const second = Int32Array.from([0, 1, 1, 0, 3]);
const rowsOf = (tf: Tf, table: Tensor2D, index: Int32Array) =>
  tf.gather(table, tf.tensor1d(index, 'int32')) as Tensor2D;

const cases: Case[] = [
  {
    name: 'matMul',
    shapes: [
      [3, 2],
      [2, 4],
    ],
    ours: (tf, [a, b]) => matMul(tf, a!, b!),
    stock: (tf, [a, b]) => tf.matMul(a!, b!),
  },
  {
    name: 'matMulConst',
    shapes: [[2, 3]],
    ours: (tf, [b]) => matMulConst(tf, tf.tensor2d(left, [3, 2]), b!),
    stock: (tf, [b]) => tf.matMul(tf.tensor2d(left, [3, 2]), b!),
  },
  {
    name: 'gatherRows',
    shapes: [[3, 4]],
    ours: (tf, [table]) => gatherRows(tf, table!, first),
    stock: (tf, [table]) => rowsOf(tf, table!, first),
  },
  {
    name: 'gatherSum',
    shapes: [
      [3, 2],
      [4, 2],
      [3, 2],
    ],
    ours: (tf, tables) => gatherSum(tf, tables, [first, second, first]),
    stock: (tf, [a, b, c]) => tf.addN([rowsOf(tf, a!, first), rowsOf(tf, b!, second), rowsOf(tf, c!, first)]),
  },
  {
    name: 'pairDot',
    shapes: [
      [3, 3],
      [4, 3],
    ],
    ours: (tf, [a, b]) => pairDot(tf, a!, b!, first, second),
    stock: (tf, [a, b]) => tf.sum(tf.mul(rowsOf(tf, a!, first), rowsOf(tf, b!, second)), 1),
  },
];

/** Values of an operation and the gradients of Σ upstream · value, on the host. */
function valueAndGradients(tf: Tf, operation: Case['ours'], inputs: { shape: [number, number]; data: Float32Array }[]) {
  return tf.tidy(() => {
    const tensors = inputs.map(({ shape, data }) => tf.tensor2d(data.slice(), shape));
    const value = operation(tf, tensors);
    const upstream = tf.tensor(upstreamOf(value.size), value.shape);
    const gradients = tf.grads((...args) => tf.sum(tf.mul(operation(tf, args as Tensor2D[]), upstream)))(tensors);
    return [value, ...gradients].map((tensor) => ({ shape: tensor.shape, data: Array.from(tensor.dataSync()) }));
  });
}

function upstreamOf(size: number): Float32Array {
  return Float32Array.from({ length: size }, (_, i) => Math.cos(i + 1));
}

function inputsOf({ name, shapes }: Case) {
  const rng = Rng.named(1, `test/${name}`);
  return shapes.map((shape) => ({
    shape,
    data: Float32Array.from({ length: shape[0] * shape[1] }, () => rng.normal()),
  }));
}

const names = [...(await backendsHere()), 'a device'] as const;
const { tf: stockTf } = await openBackend('cpu');
const oracles = cases.map((one) => valueAndGradients(stockTf, one.stock, inputsOf(one)));

describe.each(names)('operations on %s', (name) => {
  let tf: Tf;
  let before = 0;
  beforeAll(async () => {
    tf = await opened(name);
    before = tf.memory().numTensors;
  });
  afterAll(() => expect(tf.memory().numTensors).toBe(before));

  test.each(cases.map((one, i) => [one.name, one, oracles[i]!] as const))(
    '%s has the values and gradients of the stock operation',
    (_, one, oracle) => {
      const ours = valueAndGradients(tf, one.ours, inputsOf(one));
      ours.forEach(({ shape, data }, i) => {
        expect(shape).toEqual(oracle[i]!.shape);
        expectClose(data, oracle[i]!.data, 1e-5);
      });
    },
  );

  test.each(cases.map((one) => [one.name, one] as const))('the gradient of %s is the grad of its value', (_, one) => {
    const inputs = inputsOf(one);
    const [, ...gradients] = valueAndGradients(tf, one.ours, inputs);
    const objective = () =>
      valueAndGradients(tf, one.ours, inputs)[0]!.data.reduce((sum, v, i) => sum + v * Math.cos(i + 1), 0);
    inputs.forEach(({ data }, which) => {
      for (let i = 0; i < data.length; i++) {
        // Linear in each input, so that a wide difference is exact and keeps rounding small.
        const at = data[i]!;
        data[i] = at + 0.5;
        const above = objective();
        data[i] = at - 0.5;
        const below = objective();
        data[i] = at;
        expect(gradients[which]!.data[i]).toBeCloseTo(above - below, 4);
      }
    });
  });

  test('relu has the values and the gradient of the stock one, at zero too', () => {
    const input = [-2, -0, 0, 0.5, 3, -1e-30, 1e-30];
    const grads = [relu, (_: Tf, x: tfTypes.Tensor) => tf.relu(x)].map((op) =>
      tf.tidy(() => {
        const { value, grad } = tf.valueAndGrad((x) => op(tf, x))(
          tf.tensor1d(input),
          tf.tensor1d([1, 2, 3, 4, 5, 6, 7]),
        );
        return [Array.from(value.dataSync()), Array.from(grad.dataSync())].map((row) => row.map((v) => v + 0));
      }),
    );
    expect(grads[0]).toEqual(grads[1]);
    expect(grads[0]![1]).toEqual([0, 0, 0, 4, 5, 0, 7]);
  });

  test('the same table may be gathered twice', () => {
    const gradient = tf.tidy(() =>
      Array.from(
        tf
          .grad((x) => tf.sum(gatherSum(tf, [x as Tensor2D, x as Tensor2D], [first, second.map((i) => i % 3)])))(
            tf.zeros([3, 1]),
          )
          .dataSync(),
      ),
    );
    // Row 0: once in first, three times in second (3 % 3 = 0 too); row 1: 1 + 2; row 2: 3.
    expect(gradient).toEqual([4, 3, 3]);
  });

  test('a tensor that was read is a copy and leaves nothing behind', async () => {
    const table = tf.tensor1d([1, 2]);
    const held = tf.memory().numTensors;
    const values = await readTensor(tf, () => tf.add(table, 1));
    values[0] = 99;
    expect(Array.from(await readTensor(tf, () => tf.add(table, 1)))).toEqual([2, 3]);
    expect(tf.memory().numTensors).toBe(held);
    table.dispose();
  });
});

/** float32 numbers from their bits. */
const fromBits = (bits: readonly number[]) => new Float32Array(Uint32Array.from(bits).buffer);

/** The nearest number of 8 significant bits, the even one of two, by arithmetic in float64. */
function nearest(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - 7);
  const steps = value / unit;
  const down = Math.floor(steps);
  const half = steps - down === 0.5;
  return unit * (half ? down + (down % 2 === 0 ? 0 : 1) : Math.round(steps));
}

/** Every upper half of a binade with lower halves at, next to and away from the tie, at several sizes and both signs. */
function manyNumbers(): Float32Array {
  const bits: number[] = [];
  for (const exponent of [1, 30, 100, 126, 127, 128, 140, 200, 230]) {
    for (let upper = 0; upper < 128; upper++) {
      for (const lower of [0, 1, 0x1234, 0x7fff, 0x8000, 0x8001, 0xc000, 0xffff]) {
        const magnitude = exponent * 2 ** 23 + upper * 2 ** 16 + lower;
        bits.push(magnitude, magnitude + 2 ** 31);
      }
    }
  }
  const rng = Rng.named(1, 'test/bfloat16');
  return Float32Array.from([...fromBits(bits), ...Array.from({ length: 5000 }, () => rng.normal()), 0, -0]);
}

const numbers = manyNumbers();

describe('rounding to bfloat16', () => {
  test('takes the nearest number of 8 significant bits, at ties the even one', () => {
    expect([...roundedToBfloat16(Float32Array.of(1, 257, 258, 259, 261, -257, -259, 1 / 3))]).toEqual([
      1, 256, 258, 260, 260, -256, -260, 0.333984375,
    ]);
    expect(roundedToBfloat16(numbers)).toEqual(Float32Array.from(numbers, nearest));
  });

  test('leaves what is not finite and what it was given', () => {
    const given = Float32Array.of(NaN, Infinity, -Infinity, 1.001);
    expect([...roundedToBfloat16(given)]).toEqual([NaN, Infinity, -Infinity, 1]);
    expect(given[3]).toBe(Math.fround(1.001));
    // Not the first of its memory.
    expect([...roundedToBfloat16(given.subarray(3))]).toEqual([1]);
  });
});

describe.each(await backendsHere())('rounding to bfloat16 on %s', (name) => {
  let tf: Tf;
  let before = 0;
  beforeAll(async () => {
    tf = (await openBackend(name)).tf;
    before = tf.memory().numTensors;
  });
  afterAll(() => expect(tf.memory().numTensors).toBe(before));

  test('a tensor is rounded as bits are', async () => {
    const rounded = await readTensor(tf, () => throughBfloat16(tf, tf.tensor1d(numbers)));
    expect(rounded).toEqual(roundedToBfloat16(numbers));
  });

  test('gradients pass straight through, of a tensor that is read twice too', async () => {
    const grads = await readTensor(tf, () => {
      // x² + bf16(x) · 3: where nothing were rounded 2x + 3.
      const both = (x: Parameters<typeof tf.square>[0]) => {
        const input = x as ReturnType<typeof tf.tensor1d>;
        return tf.sum(tf.add(tf.square(input), tf.mul(throughBfloat16(tf, input), 3)));
      };
      return tf.grad(both)(tf.tensor1d([1.001, -2, 0]));
    });
    [5.002, -1, 3].forEach((grad, i) => expect(grads[i]).toBeCloseTo(grad, 5));
  });
});
