/** One table of all operations of the tape: gradients are those that differences measure, on every executor, and numbers are those of SIMD kernels. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readBothWays } from '../../../src/nn/bidirectional.js';
import { normalValues } from '../../../src/nn/parameters.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Tape } from '../../../src/nn/tape.js';
import { TfjsExecutor } from '../../../src/nn/tfjs/executor.js';
import { Rng } from '../../../src/run/seeds.js';
import { openHere } from '../../fixtures/executors.js';
import {
  type Build,
  checkGradients,
  computedOn,
  expectNear,
  type Shapes,
  startsOf,
} from '../../fixtures/tape-check.js';

const int = (...values: number[]) => Int32Array.from(values);
/** A matrix that nothing is learned behind. */
const frozen = (tape: Tape, rows: number, width: number) =>
  tape.constant(normalValues(Rng.named(1, 'test/frozen'), 0.8, rows * width), width);

const [x, y, row] = [[6, 4] as const, [6, 4] as const, [1, 4] as const];
const dense = { x, w: [4, 3], 'w.bias': [1, 3] } as const;
const segments = int(0, 1, 4, 6, 15, 16);
const equal = int(0, 3, 6);
const logWeights = Float32Array.from({ length: 16 }, (_, i) => Math.log(1 + (i % 4)));
/** Groups of rows, of 12 pairs; the last rows have none. */
const [ofX, ofY] = [int(0, 2, 2, 3, 6, 7), int(0, 3, 4, 4, 6, 6)];
const [grouped, others] = [[7, 4] as const, [7, 4] as const];
const none = new Int32Array(0);

interface Case {
  shapes: Shapes;
  build: Build;
  far?: true;
}

const cases: Record<string, Case> = {
  product: { shapes: { x, w: [4, 3] }, build: (tape, at) => [tape.product(at('x'), at('w'))] },
  'product, transposed': { shapes: { x, w: [5, 4] }, build: (tape, at) => [tape.product(at('x'), at('w'), true)] },
  'product with itself, transposed': { shapes: { x }, build: (tape, at) => [tape.product(at('x'), at('x'), true)] },
  'product with itself': { shapes: { x: [4, 4] }, build: (tape, at) => [tape.product(at('x'), at('x'))] },
  'product of one row': { shapes: { row, w: [4, 5] }, build: (tape, at) => [tape.product(at('row'), at('w'))] },
  'product of one column': {
    shapes: { x: [6, 1], w: [1, 4] },
    build: (tape, at) => [tape.product(at('x'), at('w'))],
  },
  'product with a frozen factor': {
    shapes: { x, w: [6, 3] },
    build: (tape, at) => [tape.product(at('x'), frozen(tape, 4, 3)), tape.product(frozen(tape, 2, 6), at('w'))],
  },
  'product with a frozen factor, transposed': {
    shapes: { x, w: [6, 3] },
    build: (tape, at) => [
      tape.product(at('x'), frozen(tape, 5, 4), true),
      tape.product(frozen(tape, 2, 3), at('w'), true),
    ],
  },
  dense: { shapes: dense, build: (tape, at) => [tape.dense(at('x'), 'w', 3)] },
  'dense of a frozen input, under a prefix': {
    shapes: { 'p/w': [4, 3], 'p/b': [1, 3] },
    build: (tape) => [tape.under('p/', () => tape.dense(frozen(tape, 5, 4), 'w', 3, 'b', 'sigmoid'))],
  },
  'layer, twice': {
    shapes: { x: [6, 3], w: [3, 3], 'w.bias': [1, 3] },
    build: (tape, at) => [tape.layer(tape.layer(at('x'), 'w', 'tanh'), 'w', 'exp')],
  },
  times: { shapes: { x, w: [4, 3] }, build: (tape, at) => [tape.times(at('x'), 'w')] },
  'times, behind tanh': { shapes: { x, w: [4, 3] }, build: (tape, at) => [tape.times(at('x'), 'w', 'tanh')] },
  'activated, leaky': { shapes: { x }, build: (tape, at) => [tape.activated('leaky', at('x'))], far: true },
  tanh: { shapes: { x }, build: (tape, at) => [tape.tanh(at('x'))] },
  'relu, away from its corner': { shapes: { x }, build: (tape, at) => [tape.relu(at('x'))], far: true },
  sigmoid: { shapes: { x }, build: (tape, at) => [tape.sigmoid(at('x'))] },
  exp: { shapes: { x }, build: (tape, at) => [tape.exp(at('x'))] },
  attend: {
    shapes: { x, query: [2, 4] },
    build: (tape, at) => [tape.attend(at('query'), at('x'), int(0, 4, 6))],
  },
  'attend over frozen rows': {
    shapes: { query: [2, 5] },
    build: (tape, at) => [tape.attend(at('query'), frozen(tape, 6, 5), int(0, 5, 6))],
  },
  // Of one vector of the processor with lanes to spare, and of one and a part of another.
  gruCell: {
    shapes: { given: [2, 9], own: [2, 9], past: [2, 3] },
    build: (tape, at) => [tape.gruCell(at('given'), at('own'), at('past'))],
  },
  'gruCell of a frozen past': {
    shapes: { given: [2, 18] },
    build: (tape, at) => [tape.gruCell(at('given'), frozen(tape, 2, 18), frozen(tape, 2, 6))],
  },
  'a GRU both ways over sequences of different lengths': {
    shapes: Object.fromEntries([
      ['x', [8, 4]],
      ...['gru.forward', 'gru.backward'].flatMap((way) => [
        [`${way}.input`, [4, 9]],
        [`${way}.recurrent`, [3, 9]],
        [`${way}.bias`, [1, 9]],
      ]),
    ]) as Shapes,
    build(tape, at) {
      const layer = { cell: 'gru', name: 'gru', dim: 3 } as const;
      const sequences = { rows: int(0, 1, 2, 3, 4, 5, 6, 7), offsets: int(0, 1, 5, 8) };
      const { states, ends } = readBothWays(tape, layer, at('x'), sequences);
      return [states, ends];
    },
  },
  add: { shapes: { x, y }, build: (tape, at) => [tape.add(tape.add(at('x'), at('y'), -0.7), at('y'))] },
  'add to itself': { shapes: { x }, build: (tape, at) => [tape.add(at('x'), at('x'), 0.3)] },
  'add of frozen numbers': {
    shapes: { x, y },
    build: (tape, at) => [tape.add(at('x'), frozen(tape, ...x)), tape.add(frozen(tape, ...y), at('y'), 2)],
  },
  scaled: { shapes: { x }, build: (tape, at) => [tape.scaled(at('x'), -1.5)] },
  biased: {
    shapes: { x, row },
    build: (tape, at) => [tape.biased(tape.biased(at('x'), at('row')), frozen(tape, 1, 4))],
  },
  'biased frozen numbers': { shapes: { row }, build: (tape, at) => [tape.biased(frozen(tape, ...x), at('row'))] },
  multiply: { shapes: { x, y }, build: (tape, at) => [tape.multiply(at('x'), at('y'))] },
  'multiply with itself': { shapes: { x }, build: (tape, at) => [tape.multiply(at('x'), at('x'))] },
  'multiply by one row': { shapes: { x, row }, build: (tape, at) => [tape.multiply(at('x'), at('row'))] },
  'multiply one row by one': {
    shapes: { row, other: row },
    build: (tape, at) => [tape.multiply(at('row'), at('other')), tape.multiply(at('row'), at('row'))],
  },
  'multiply with frozen numbers': {
    shapes: { x, row },
    build: (tape, at) => [
      tape.multiply(at('x'), frozen(tape, 1, 4)),
      tape.multiply(frozen(tape, ...x), at('row')),
      tape.multiply(at('x'), frozen(tape, ...x)),
    ],
  },
  reshape: { shapes: { x }, build: (tape, at) => [tape.tanh(tape.reshape(tape.tanh(at('x')), 3))] },
  'rows, some twice': {
    shapes: { x, y },
    build: (tape, at) => [tape.rows(at('x'), int(3, 0, 3, 5)), tape.rows(tape.tanh(at('y')), int(1, 1))],
  },
  'rows, of no row': {
    shapes: { x },
    build: (tape, at) => [tape.stack([tape.tanh(tape.rows(at('x'), none)), at('x')])],
  },
  concat: {
    shapes: { x, z: [6, 3] },
    build: (tape, at) => [tape.tanh(tape.concat([at('x'), at('z'), frozen(tape, 6, 2), at('x')]))],
  },
  stack: {
    shapes: { x, row },
    build: (tape, at) => [tape.tanh(tape.stack([at('row'), at('x'), frozen(tape, 2, 4), at('row')]))],
  },
  columns: {
    shapes: { x },
    build: (tape, at) => [
      tape.tanh(tape.columns(at('x'), 1, 2)),
      tape.columns(at('x'), 0, 2),
      tape.columns(at('x'), 2, 2),
    ],
  },
  slice: {
    shapes: { x },
    build: (tape, at) => [tape.tanh(tape.slice(at('x'), 1, 3)), tape.slice(at('x'), 0, 2), tape.slice(at('x'), 4, 2)],
  },
  sumOfRows: {
    shapes: { x, y, z: [3, 4] },
    build: (tape, at) => [
      tape.sumOfRows([
        [at('x'), int(0, 5, 2, 2)],
        [at('z'), int(1, 1, 0, 1)],
        [at('x'), int(0, 3, 2, 1)],
        [frozen(tape, 3, 4), int(2, 0, 1, 2)],
      ]),
      tape.sumOfRows([[at('y'), int(4, 4)]]),
    ],
  },
  'sumOfRows with a product, behind tanh': {
    shapes: { x, z: [4, 2], w: [2, 4] },
    build: (tape, at) => [
      tape.sumOfRows([[at('x'), int(0, 5, 2, 2)]], { base: [at('z'), at('w')], act: 'tanh' }),
      tape.sumOfRows([[at('x'), int(1, 4)]], { base: [frozen(tape, 2, 2), at('w')] }),
      tape.sumOfRows([[at('x'), int(1, 4, 3, 3)]], { base: [at('z'), frozen(tape, 2, 4)] }),
    ],
  },
  dots: {
    shapes: { x, z: [3, 4] },
    build: (tape, at) => [
      tape.dots(at('x'), int(0, 0, 5, 0, 3), at('z'), int(2, 1, 1, 2, 0), 0.4),
      tape.dots(at('x'), int(1, 4), at('x'), int(1, 2)),
    ],
  },
  'dots with frozen rows': {
    shapes: { x, z: [3, 4] },
    build: (tape, at) => [
      tape.dots(at('x'), int(0, 0, 5), frozen(tape, 3, 4), int(2, 1, 1), 2),
      tape.dots(frozen(tape, 2, 4), int(0, 1, 1), at('z'), int(2, 1, 1)),
    ],
  },
  'dots with several tables': {
    shapes: { x: [6, 5], y: [3, 2], z: [4, 3] },
    build: (tape, at) => [
      tape.dotsOfParts(
        at('x'),
        int(0, 0, 5, 3),
        [
          [at('y'), int(2, 1, 1, 0)],
          [at('z'), int(3, 0, 0, 3)],
        ],
        0.4,
      ),
      tape.dotsOfParts(frozen(tape, 2, 5), int(0, 1), [
        [frozen(tape, 2, 2), int(1, 0)],
        [at('z'), int(1, 2)],
      ]),
    ],
  },
  'dots, of no pair': {
    shapes: { x },
    build: (tape, at) => [tape.stack([tape.dots(at('x'), none, at('x'), none), tape.reshape(at('x'), 1)])],
  },
  weightedSums: {
    shapes: { weights: [9, 1], x },
    build: (tape, at) => [
      tape.weightedSums(at('weights'), at('x'), int(0, 0, 0, 0, 0, 3, 3, 1, 0), int(2, 1, 1, 4, 0, 2, 3, 4, 4), 5),
    ],
  },
  'weightedSums with frozen weights, or rows': {
    shapes: { weights: [3, 1], x },
    build: (tape, at) => [
      tape.weightedSums(frozen(tape, 3, 1), at('x'), int(1, 0, 1), int(2, 1, 1), 2),
      tape.weightedSums(at('weights'), frozen(tape, 3, 4), int(1, 0, 1), int(2, 1, 1), 3),
    ],
  },
  'groupProducts, some of no pair': {
    shapes: { x: grouped, y: others },
    build: (tape, at) => [tape.groupProducts(at('x'), ofX, at('y'), ofY)],
  },
  'groupProducts of a matrix with itself': {
    shapes: { x },
    build: (tape, at) => [tape.groupProducts(at('x'), equal, at('x'), equal)],
  },
  'groupProducts with frozen rows': {
    shapes: { x: grouped, y: others },
    build: (tape, at) => [
      tape.groupProducts(at('x'), ofX, frozen(tape, ...others), ofY),
      tape.groupProducts(frozen(tape, ...others), ofX, at('y'), ofY),
    ],
  },
  'groupSums, some of no row': {
    shapes: { weights: [12, 1], y: others },
    build: (tape, at) => [tape.groupSums(at('weights'), ofX, at('y'), ofY)],
  },
  'groupSums with frozen weights, or rows': {
    shapes: { weights: [12, 1], y: others },
    build: (tape, at) => [
      tape.groupSums(frozen(tape, 12, 1), ofX, at('y'), ofY),
      tape.groupSums(at('weights'), ofX, frozen(tape, ...others), ofY),
    ],
  },
  segmentLogSoftmax: {
    shapes: { s: [16, 3] },
    build: (tape, at) => [tape.segmentLogSoftmax(at('s'), segments)],
  },
  'segmentLogSoftmax, weighted': {
    shapes: { s: [16, 1] },
    build: (tape, at) => [tape.segmentLogSoftmax(tape.tanh(at('s')), segments, logWeights)],
  },
  'segmentLogSoftmax of columns, weighted': {
    shapes: { s: [16, 2] },
    build: (tape, at) => [tape.segmentLogSoftmax(at('s'), segments, logWeights)],
  },
  'segmentLogSoftmax of equal lengths, weighted': {
    shapes: { x },
    build: (tape, at) => [
      tape.segmentLogSoftmax(at('x'), equal),
      tape.segmentLogSoftmax(at('x'), equal, logWeights.slice(0, 6)),
    ],
  },
  segmentMax: { shapes: { s: [16, 1] }, build: (tape, at) => [tape.segmentMax(at('s'), segments)] },
  logSumExp: { shapes: { x }, build: (tape, at) => [tape.logSumExp(at('x'))] },
  logSoftmax: { shapes: { x: [5, 3] }, build: (tape, at) => [tape.logSoftmax(at('x'))] },
  sums: { shapes: { x }, build: (tape, at) => [tape.sums(at('x'))] },
  unit: { shapes: { x }, build: (tape, at) => [tape.unit(at('x'))] },
  layerNorm: {
    shapes: { x: [6, 5], 'n.gain': [1, 5], 'n.bias': [1, 5] },
    build: (tape, at) => [tape.layerNorm(at('x'), 'n')],
  },
  rmsNorm: { shapes: { x: [6, 5], n: [1, 5] }, build: (tape, at) => [tape.rmsNorm(at('x'), at('n'), 1e-5)] },
  'dropout, of all rows in turn and of each alone': {
    shapes: { x },
    build: (tape, at) => [
      tape.dropout(at('x'), 0.4, new Rng(3)),
      tape.dropout(at('x'), 0.5, [new Rng(3), new Rng(4)], int(0, 4, 6)),
    ],
  },
};

/** Their gradients are not those of their values. */
const apart = ['bfloat16', 'fixed'];
/** Methods that compute nothing. */
const noOperations = ['constructor', 'begin', 'parameter', 'has', 'under', 'constant', 'zeros', 'result', 'outputs'];

test('every operation is in the table', () => {
  const used = Object.values(cases).flatMap(({ build }) =>
    [...build.toString().matchAll(/\btape\.(\w+)\(/g)].map(([, name]) => name!),
  );
  const all = Object.getOwnPropertyNames(Tape.prototype);
  expect(all.filter((name) => ![...used, ...apart, ...noOperations].includes(name))).toEqual([]);
});

const executors = await openHere();

describe.each(executors)('on %s', (name, executor) => {
  const tensors = () => (executor instanceof TfjsExecutor ? executor.tf.memory().numTensors : 0);
  let before = 0;
  beforeAll(() => void (before = tensors()));
  afterAll(() => expect(tensors()).toBe(before));

  test.each(Object.entries(cases))('%s', async (_, { shapes, build, far }) => {
    const starts = startsOf(shapes, far);
    const { values, gradients } = await checkGradients(executor, starts, build, { most: name === 'webgpu' ? 3 : 12 });
    const expected = await computedOn(new SimdExecutor(), starts, build);
    expectNear(values, expected.values);
    for (const [name, numbers] of Object.entries(expected.gradients)) expectNear(gradients[name]!, numbers);
  });
});
