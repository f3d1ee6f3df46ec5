/** Numbers that operations of the tape give, on every executor; their gradients are held in `operations.test.ts`. */
import { describe, expect, test } from '@jest/globals';
import { roundedToBfloat16 } from '../../../src/nn/bfloat16.js';
import { normalValues, Parameters } from '../../../src/nn/parameters.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Tape, type Taped } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { openHere } from '../../fixtures/executors.js';
import { float32Numbers } from '../../fixtures/float32-numbers.js';
import { type Build, computedOn, expectNear, type Shapes, startsOf } from '../../fixtures/tape-check.js';

const int = (...values: number[]) => Int32Array.from(values);
const segments = int(0, 1, 4, 6, 15, 16);
const logWeights = Float32Array.from({ length: 16 }, (_, i) => Math.log(1 + (i % 4)));

/** Operations on x = [1 2; 3 4] and y = [5 6; 7 8]. */
const goldens: Record<string, [build: (tape: Tape, x: Taped, y: Taped) => Taped, expected: number[]]> = {
  product: [(tape, x, y) => tape.product(x, y), [19, 22, 43, 50]],
  'product, transposed': [(tape, x, y) => tape.product(x, y, true), [17, 23, 39, 53]],
  dense: [(tape, x) => tape.dense(x, 'w', 2), [11.5, 12.5, 23.5, 26.5]],
  relu: [(tape, x) => tape.relu(tape.add(x, tape.constant(Float32Array.of(-2, -2, -2, -2), 2))), [0, 0, 1, 2]],
  leaky: [(tape, x) => tape.activated('leaky', tape.scaled(x, -5)), [-1, -2, -3, -4]],
  exp: [(tape, x) => tape.exp(tape.scaled(x, Math.LN2)), [2, 4, 8, 16]],
  sigmoid: [(tape, x) => tape.sigmoid(tape.scaled(x, Math.log(3))), [3 / 4, 9 / 10, 27 / 28, 81 / 82]],
  tanh: [(tape, x) => tape.tanh(tape.scaled(x, Math.log(3))), [8 / 10, 80 / 82, 728 / 730, 6560 / 6562]],
  add: [(tape, x, y) => tape.add(x, y, -2), [-9, -10, -11, -12]],
  biased: [(tape, x, y) => tape.biased(x, tape.slice(y, 1, 1)), [8, 10, 10, 12]],
  multiply: [(tape, x, y) => tape.multiply(x, y), [5, 12, 21, 32]],
  'multiply by one row': [(tape, x, y) => tape.multiply(x, tape.slice(y, 1, 1)), [7, 16, 21, 32]],
  rows: [(tape, x) => tape.rows(x, int(1, 0, 1)), [3, 4, 1, 2, 3, 4]],
  concat: [(tape, x, y) => tape.concat([y, x]), [5, 6, 1, 2, 7, 8, 3, 4]],
  stack: [(tape, x, y) => tape.stack([y, x]), [5, 6, 7, 8, 1, 2, 3, 4]],
  columns: [(tape, x) => tape.columns(x, 1, 1), [2, 4]],
  slice: [(tape, x) => tape.slice(x, 1, 1), [3, 4]],
  sumOfRows: [
    (tape, x, y) =>
      tape.sumOfRows(
        [
          [x, int(1, 1)],
          [y, int(0, 1)],
        ],
        { base: [x, y] },
      ),
    [27, 32, 53, 62],
  ],
  dots: [(tape, x, y) => tape.dots(x, int(0, 1, 1), y, int(1, 0, 1), 2), [46, 78, 106]],
  weightedSums: [
    (tape, x, y) => tape.weightedSums(tape.reshape(x, 1), y, int(2, 2, 0, 0), int(0, 1, 1, 1), 3),
    [49, 56, 0, 0, 19, 22],
  ],
  groupProducts: [(tape, x, y) => tape.groupProducts(x, int(0, 0, 1, 2), y, int(0, 0, 2, 2)), [17, 23]],
  groupSums: [(tape, x, y) => tape.groupSums(tape.reshape(x, 1), int(0, 2), y, int(0, 2)), [19, 22, 43, 50]],
  segmentLogSoftmax: [
    (tape, x) =>
      tape.exp(
        tape.segmentLogSoftmax(
          tape.scaled(tape.reshape(x, 1), Math.LN2),
          int(0, 1, 4),
          Float32Array.of(0, Math.log(3), 0, 0),
        ),
      ),
    [1, 4 / 36, 8 / 36, 16 / 36],
  ],
  segmentMax: [(tape, x) => tape.segmentMax(tape.reshape(x, 1), int(0, 3, 4)), [3, 4]],
  logSumExp: [(tape, x) => tape.exp(tape.logSumExp(tape.scaled(x, Math.LN2))), [6, 24]],
  logSoftmax: [(tape, x) => tape.exp(tape.logSoftmax(tape.scaled(x, Math.LN2))), [1 / 3, 2 / 3, 1 / 3, 2 / 3]],
  sums: [(tape, x) => tape.sums(x), [3, 7]],
  unit: [(tape, x) => tape.unit(tape.stack([tape.slice(x, 1, 1), tape.zeros(1, 2)])), [0.6, 0.8, 0, 0]],
  layerNorm: [(tape, x) => tape.layerNorm(tape.scaled(x, 1000), 'n'), [-1.5, 3.5, -1.5, 3.5]],
  rmsNorm: [
    (tape, x) => tape.rmsNorm(x, tape.parameter('n.gain', 2), 1.5),
    [1, 3, 6 / Math.sqrt(14), 12 / Math.sqrt(14)],
  ],
  bfloat16: [(tape, x) => tape.bfloat16(tape.scaled(x, 257)), [256, 512, 772, 1024]],
};

const executors = await openHere();

describe.each(executors)('on %s', (_, executor) => {
  test.each(Object.entries(goldens))('%s gives these numbers', async (_, [build, expected]) => {
    const matrix = (...data: number[]) => ({ shape: [2, 2], data: Float32Array.from(data) });
    const vector = (...data: number[]) => ({ shape: [1, 2], data: Float32Array.from(data) });
    const starts = {
      ...{ x: matrix(1, 2, 3, 4), y: matrix(5, 6, 7, 8), w: matrix(1, 2, 5, 5), 'w.bias': vector(0.5, 0.5) },
      ...{ 'n.gain': vector(2, 3), 'n.bias': vector(0.5, 0.5) },
    };
    const { values } = await computedOn(executor, starts, (tape, at) => [build(tape, at('x'), at('y'))]);
    expectNear(values, Float32Array.from(expected));
  });

  test('gradients pass bfloat16 as if nothing were rounded, which it does to the bit', async () => {
    const starts = { x: { shape: [8, 2048], data: float32Numbers() } };
    const { values, gradients } = await computedOn(executor, starts, (tape, at) => [tape.bfloat16(at('x'))]);
    expect(values).toEqual(roundedToBfloat16(starts.x.data));
    const plain = await computedOn(executor, starts, (_, at) => [at('x')]);
    expect(gradients.x).toEqual(plain.gradients.x);
  });

  test('gradients do not pass what is fixed', async () => {
    const starts = startsOf({ x: [6, 4] });
    const { gradients } = await computedOn(executor, starts, (tape, at) => [
      tape.multiply(tape.fixed(at('x')), at('x')),
    ]);
    const other = await computedOn(executor, starts, (tape, at) => [
      tape.multiply(tape.constant(starts.x!.data, 4), at('x')),
    ]);
    expect(gradients).toEqual(other.gradients);
  });

  test('a softmax stays finite for scores that are far apart', async () => {
    const starts = { s: { shape: [3, 1], data: Float32Array.of(500, -500, 900) } };
    const { values } = await computedOn(executor, starts, (tape, at) => [
      tape.segmentLogSoftmax(at('s'), int(0, 2, 3)),
    ]);
    expect([...values]).toEqual([0, -1000, 0]);
  });

  const wide: Shapes = {
    ...{ table: [70, 48], first: [48, 130], 'first.bias': [1, 130], second: [130, 33], 'second.bias': [1, 33] },
    ...{ 'norm.gain': [1, 130], 'norm.bias': [1, 130], keys: [90, 130] },
  };
  const count = 53;
  const at = (step: number, most: number) => Int32Array.from({ length: count }, (_, i) => (i * i * step + 3) % most);
  const ends = int(0, 4, 5, 31, count);
  const network: Build = (tape, get) => {
    const hidden = tape.layerNorm(tape.layer(tape.rows(get('table'), at(5, 60)), 'first', 'tanh'), 'norm');
    const scores = tape.dots(hidden, at(7, count), get('keys'), at(11, 90), 0.1);
    return [
      tape.logSoftmax(tape.layer(hidden, 'second')),
      tape.segmentLogSoftmax(scores, ends),
      tape.groupProducts(tape.unit(hidden), ends, tape.unit(get('keys')), int(0, 40, 50, 50, 90)),
    ];
  };

  test('a larger network has the numbers and gradients of SIMD kernels', async () => {
    const starts = startsOf(wide);
    const [got, expected] = [
      await computedOn(executor, starts, network),
      await computedOn(new SimdExecutor(), starts, network),
    ];
    expectNear(got.values, expected.values);
    for (const [name, numbers] of Object.entries(expected.gradients)) expectNear(got.gradients[name]!, numbers);
  });

  (executor.rowsAreIndependent ? test : test.skip)('a row has the same numbers alone and among others', async () => {
    const parameters = new Parameters(
      executor,
      startsOf({ w: [37, 18], 'w.bias': [1, 18], keys: [9, 18], 'n.gain': [1, 18], 'n.bias': [1, 18], more: [20, 18] }),
    );
    const tape = new Tape(parameters, false);
    const inputs = normalValues(Rng.named(1, 'test/inputs'), 1, 60 * 37);
    const rowsFrom = async (begin: number, rows: number) => {
      tape.begin();
      const hidden = tape.layerNorm(
        tape.layer(tape.constant(inputs.slice(begin * 37, (begin + rows) * 37), 37), 'w', 'sigmoid'),
        'n',
      );
      const all = Int32Array.from({ length: rows }, (_, i) => i);
      const of = all.map((i) => (begin + i) % 9);
      const each = Int32Array.from({ length: rows + 1 }, (_, i) => i);
      const parts = [
        ...[hidden, tape.unit(hidden), tape.logSoftmax(hidden), tape.logSumExp(hidden), tape.sums(hidden)],
        ...[tape.dots(hidden, all, tape.parameter('keys'), of), tape.product(hidden, tape.parameter('keys'), true)],
        tape.sumOfRows(
          [
            [hidden, all],
            [tape.parameter('more'), of],
          ],
          { act: 'tanh' },
        ),
        tape.groupProducts(hidden, each, tape.rows(tape.parameter('keys'), of), each),
      ];
      return tape.outputs([tape.concat(parts)]).read();
    };
    const whole = await rowsFrom(0, 60);
    const width = whole.length / 60;
    for (const [begin, rows] of [
      [0, 1],
      [17, 1],
      [59, 1],
      [3, 2],
      [8, 7],
      [20, 33],
    ] as const) {
      expect(await rowsFrom(begin, rows)).toEqual(whole.slice(begin * width, (begin + rows) * width));
    }
    tape.begin();
    parameters.dispose();
  });

  test('a segment has the same numbers alone and among others', async () => {
    const scores = normalValues(Rng.named(1, 'test/scores'), 2, 16);
    const softmax = async (values: Float32Array, offsets: Int32Array, weights: Float32Array) =>
      (
        await computedOn(executor, { s: { shape: [values.length, 1], data: values } }, (tape, get) => [
          tape.segmentLogSoftmax(get('s'), offsets, weights),
        ])
      ).values;
    const whole = await softmax(scores, segments, logWeights);
    for (let s = 0; s + 1 < segments.length; s++) {
      const part = (of: Float32Array) => of.slice(segments[s], segments[s + 1]);
      const own = await softmax(part(scores), int(0, segments[s + 1]! - segments[s]!), part(logWeights));
      if (executor.rowsAreIndependent) expect(own).toEqual(part(whole));
      else expectNear(own, part(whole));
    }
  });

  test('outputs are read as they were, though another computation begins or parameters change before they are there', async () => {
    const parameters = new Parameters(executor, startsOf({ x: [6, 4] }));
    const tape = new Tape(parameters);
    const outputs = () => {
      tape.begin();
      return tape.outputs([tape.parameter('x'), tape.tanh(tape.parameter('x'))]);
    };
    const early = await outputs().read();
    const reading = outputs().read();
    executor.fill(parameters.weights.whole, 2);
    const later = outputs().read();
    tape.begin();
    expect(await reading).toEqual(early);
    const twos = new Float32Array(24).fill(2);
    expect(await later).toEqual(Float32Array.of(...twos, ...twos.map(Math.tanh)));
    parameters.dispose();
  });

  test('an earlier computation, or one that was followed by a step, has no backward pass any more', () => {
    const parameters = new Parameters(executor, startsOf({ x: [6, 4] }));
    const tape = new Tape(parameters);
    const outputs = () => {
      tape.begin();
      return tape.outputs([tape.tanh(tape.parameter('x'))]);
    };
    const grad = new Float32Array(24);
    const early = outputs();
    const later = outputs();
    expect(() => early.backward(grad)).toThrow('expected the latest computation, got an earlier one');
    parameters.version++;
    expect(() => later.backward(grad)).toThrow('expected the latest computation');
    tape.begin();
    parameters.dispose();
  });
});

test.each(executors)('what is held on %s is a copy, one for each array', async (_, executor) => {
  const values = Float32Array.of(1, 2, 3);
  const held = executor.hold(values);
  expect(executor.hold(values)).toBe(held);
  values[0] = 9;
  const read = await executor.read(held);
  expect([...read]).toEqual([1, 2, 3]);
  read[0] = 9;
  expect([...(await executor.read(held))]).toEqual([1, 2, 3]);
});
