/**
 * One suite that every rung of the ladder must pass: each operation that kgwalk's networks are made of, with its gradients,
 * with the plain backend. A rung that is not here is left out with its reason.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { gatherRows, gatherSum, matMul, matMulConst } from '../../../src/tensor/ops.js';
import { segmentLogSoftmaxColumns } from '../../../src/tensor/segments.js';
import { pairDot } from '../../../src/tensor/table-dots.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';

type Tensor = tfTypes.Tensor;
type Tensor2D = tfTypes.Tensor2D;

/** Largest difference, as a share of the largest number of the tensor: rounding of sums of some fifty float32 products. */
const tolerance = 1e-5;

const [rows, columns] = [53, 48];

interface Case {
  /** Exercised operations, by the names of tfjs. */
  operations: string;
  /** Shapes of the differentiable inputs, default one [rows, columns]. */
  shapes?: readonly number[][];
  /** Makes inputs positive, for roots and logarithms. */
  positive?: boolean;
  of(tf: Tf, inputs: Tensor2D[]): Tensor;
}

const index = Int32Array.from({ length: 71 }, (_, i) => (i * i * 5 + 3) % rows);
const other = Int32Array.from({ length: 71 }, (_, i) => (i * 11) % rows);
const square: [number, number] = [columns, columns];
const narrow: [number, number] = [rows, columns];

const cases: Case[] = [
  { operations: 'matMul', shapes: [narrow, square], of: (tf, [a, b]) => tf.matMul(a!, b!) },
  { operations: 'matMul, left transposed', shapes: [narrow, narrow], of: (tf, [a, b]) => tf.matMul(a!, b!, true) },
  {
    operations: 'matMul, right transposed',
    shapes: [narrow, narrow],
    of: (tf, [a, b]) => tf.matMul(a!, b!, false, true),
  },
  {
    operations: 'matMul, both transposed',
    shapes: [narrow, [columns, rows]],
    of: (tf, [a, b]) => tf.matMul(a!, b!, true, true),
  },
  { operations: 'our matMul, customGrad', shapes: [narrow, square], of: (tf, [a, b]) => matMul(tf, a!, b!) },
  {
    operations: 'our matMulConst',
    shapes: [square],
    of: (tf, [b]) => matMulConst(tf, tf.tensor2d(values(rows * columns, 'constant'), [rows, columns]), b!),
  },
  { operations: 'our gatherRows, gather', of: (tf, [table]) => gatherRows(tf, table!, index) },
  {
    operations: 'our gatherSum, addN',
    shapes: [narrow, narrow, narrow],
    of: (tf, tables) => gatherSum(tf, tables, [index, other, index]),
  },
  { operations: 'our pairDot', shapes: [narrow, narrow], of: (tf, [a, b]) => pairDot(tf, a!, b!, index, other) },
  { operations: 'add, a bias', shapes: [narrow, [columns]], of: (tf, [a, b]) => tf.add(a!, b!) },
  { operations: 'sub, mul, a column', shapes: [narrow, [rows, 1]], of: (tf, [a, b]) => tf.mul(tf.sub(a!, b!), b!) },
  {
    operations: 'addN, scalar',
    shapes: [narrow, narrow],
    of: (tf, [a, b]) => tf.addN([a!, b!, tf.mul(a!, tf.scalar(2))]),
  },
  {
    operations: 'addN, of many',
    shapes: Array.from({ length: 23 }, () => narrow),
    of: (tf, inputs) => tf.addN(inputs),
  },
  {
    operations: 'concat, of many',
    shapes: Array.from({ length: 23 }, () => narrow),
    of: (tf, inputs) => tf.concat(inputs, 1),
  },
  { operations: 'zeros', of: (tf, [a]) => tf.sub(tf.zeros(narrow), a!) },
  { operations: 'tanh', of: (tf, [a]) => tf.tanh(a!) },
  { operations: 'sign', of: (tf, [a]) => tf.mul(tf.sign(a!), a!) },
  { operations: 'relu', of: (tf, [a]) => tf.relu(a!) },
  { operations: 'sigmoid', of: (tf, [a]) => tf.sigmoid(a!) },
  { operations: 'exp, neg', of: (tf, [a]) => tf.exp(tf.neg(a!)) },
  { operations: 'square, sqrt, div', positive: true, of: (tf, [a]) => tf.div(tf.square(a!), tf.sqrt(a!)) },
  { operations: 'rsqrt', positive: true, of: (tf, [a]) => tf.rsqrt(a!) },
  { operations: 'softmax', of: (tf, [a]) => tf.softmax(a!) },
  { operations: 'logSoftmax', of: (tf, [a]) => tf.logSoftmax(a!) },
  { operations: 'concat, columns', shapes: [narrow, [rows, 7]], of: (tf, [a, b]) => tf.concat([a!, b!], 1) },
  { operations: 'concat, rows', shapes: [narrow, square], of: (tf, [a, b]) => tf.concat([a!, b!], 0) },
  { operations: 'slice', of: (tf, [a]) => tf.slice(a!, [3, 5], [40, 29]) },
  {
    operations: 'pad',
    of: (tf, [a]) =>
      tf.pad(a!, [
        [2, 1],
        [0, 5],
      ]),
  },
  { operations: 'reshape, transpose', of: (tf, [a]) => tf.transpose(tf.reshape(a!, [rows, 6, 8]), [1, 0, 2]) },
  { operations: 'transpose', of: (tf, [a]) => tf.transpose(a!) },
  { operations: 'minimum', shapes: [narrow, narrow], of: (tf, [a, b]) => tf.minimum(a!, b!) },
  { operations: 'stack', shapes: [narrow, narrow], of: (tf, [a, b]) => tf.stack([a!, b!]) },
  { operations: 'sum of rows', of: (tf, [a]) => tf.sum(a!, 1) },
  { operations: 'sum of columns', of: (tf, [a]) => tf.sum(a!, 0) },
  { operations: 'mean', of: (tf, [a]) => tf.mean(a!, 1) },
  { operations: 'max of rows', of: (tf, [a]) => tf.max(a!, 1) },
  { operations: 'logSumExp', of: (tf, [a]) => tf.logSumExp(a!, 1) },
  { operations: 'leakyRelu', of: (tf, [a]) => tf.leakyRelu(a!, 0.2) },
  { operations: 'expandDims', of: (tf, [a]) => tf.mul(tf.expandDims(a!, 1), tf.reshape(a!, [rows, 1, columns])) },
  { operations: 'split', of: (tf, [a]) => tf.split(a!, 3, 1).reduce((sum, part) => tf.mul(sum, part)) },
  { operations: 'zerosLike', of: (tf, [a]) => tf.sub(tf.zerosLike(a!), a!) },
  {
    operations: 'our segmentLogSoftmaxColumns, unsortedSegmentSum',
    of: (tf, [a]) => segmentLogSoftmaxColumns(tf, a!, Int32Array.of(0, 4, 5, 31, rows)),
  },
  {
    operations: 'oneHot, cast, tensor1d, chosen log-probabilities',
    of: (tf, [a]) =>
      tf.sum(
        tf.mul(
          tf.logSoftmax(a!),
          tf.cast(
            tf.oneHot(
              tf.tensor1d(
                Array.from(index.subarray(0, rows), (i) => i % columns),
                'int32',
              ),
              columns,
            ),
            'float32',
          ),
        ),
        1,
      ),
  },
];

/** Without numbers, or without a gradient; `argMax` and the attention of the language model have separate tests. */
const notNumeric =
  /^(tidy|keep|dispose|backend|ready|memory|customGrad|variable|variableGrads|tensor\w*|train|argMax|engine|\w*Kernel|\w+Backend\w*|enable\w+)$/;

test('every operation of the networks is in the suite', () => {
  const files = ['src', 'agents', 'trainers', 'models'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  const used = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\btf\.(\w+)\(/g)].map(([, operation]) => operation!),
  );
  const tested = new Set(
    cases.flatMap(({ of }) => [...of.toString().matchAll(/\btf\.(\w+)\(/g)].map(([, name]) => name!)),
  );
  // Within operations of ours, which on a host do without.
  for (const name of ['gather', 'unsortedSegmentSum']) tested.add(name);
  expect([...new Set(used)].filter((name) => !tested.has(name) && !notNumeric.test(name))).toEqual([]);
});

function values(count: number, name: string): Float32Array {
  const rng = Rng.named(1, `test/rungs/${name}`);
  return Float32Array.from({ length: count }, () => rng.normal());
}

/** The value and the gradients of Σ upstream · value, on the host. */
async function numbersOf(tf: Tf, { operations, shapes = [narrow], positive, of }: Case): Promise<Float32Array[]> {
  const tensors = tf.tidy(() => {
    const inputs = shapes.map((shape, i) => {
      const data = values(
        shape.reduce((a, b) => a * b, 1),
        `${operations}/${i}`,
      );
      return tf.tensor<tfTypes.Rank>(positive ? data.map((value) => 0.5 + Math.abs(value)) : data, [
        ...shape,
      ]) as Tensor2D;
    });
    const value = of(tf, inputs);
    const upstream = tf.tensor(
      Float32Array.from({ length: value.size }, (_, i) => Math.cos(i + 1)),
      value.shape,
    );
    const gradients = tf.grads((...args) => tf.sum(tf.mul(of(tf, args as Tensor2D[]), upstream)))(inputs);
    return [value, ...gradients];
  });
  const numbers = await Promise.all(tensors.map((tensor) => tensor.data()));
  tf.dispose(tensors);
  return numbers as Float32Array[];
}

const names = await backendsHere();
const plain = (await openBackend('cpu')).tf;
const expected = new Map<Case, Float32Array[]>();
for (const one of cases) expected.set(one, await numbersOf(plain, one));

describe.each(names)('%s agrees with the plain backend', (name) => {
  let tf: Tf;
  let before = 0;
  beforeAll(async () => {
    tf = (await openBackend(name)).tf;
    before = tf.memory().numTensors;
  });
  afterAll(() => expect(tf.memory().numTensors).toBe(before));

  test.each(cases.map((one) => [one.operations, one] as const))('on %s', async (_, one) => {
    const got = await numbersOf(tf, one);
    got.forEach((numbers, i) => {
      const theirs = expected.get(one)![i]!;
      expect(numbers.length).toBe(theirs.length);
      const scale = theirs.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
      const worst = numbers.reduce((most, value, k) => Math.max(most, Math.abs(value - theirs[k]!)), 0) / scale;
      expect(worst).toBeLessThan(tolerance);
    });
  });
});
