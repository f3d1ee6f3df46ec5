import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../../src/run/seeds.js';
import { bidirectionalStarts, readBothWays } from '../../../../src/tensor/bidirectional.js';
import { HostParameters, type HostOutputs } from '../../../../src/tensor/host/host-parameters.js';
import { Tape, type Taped } from '../../../../src/tensor/host/tape.js';
import { type HostTensor, normalValues } from '../../../../src/tensor/parameters.js';
import { adamW, mlp } from '../../../../src/tensor/index.js';
import { Diverged } from '../../../../src/tensor/diverged.js';
import { HostAdamW } from '../../../../src/tensor/host/host-adamw.js';
import type { Optimizer, Outputs } from '../../../../src/tensor/trainable.js';

const rng = (name: string) => Rng.named(1, name);
const matrix = (name: string, rows: number, width: number): HostTensor => ({
  shape: [rows, width],
  data: normalValues(rng(name), 0.7, rows * width),
});

/** Compares the backward pass of Σ cos(i + 1) · out[i] with gradients measured on every fifth weight; the difference is below 1e-4 of a gradient. */
function check(starts: Record<string, HostTensor>, build: (tape: Tape) => readonly Taped[]) {
  const parameters = new HostParameters(starts);
  const tape = new Tape(parameters);
  const outputs = () => {
    tape.begin();
    return tape.outputs(build(tape));
  };
  const objective = () => outputs().values.reduce((sum, value, i) => sum + value * Math.cos(i + 1), 0);
  const { values, back } = outputs();
  parameters.grads.fill(0);
  back(values.map((_, i) => Math.cos(i + 1)));
  const grads = parameters.copies(parameters.grads);
  const step = 2 ** -8;
  for (const name of parameters.names) {
    const own = parameters.value(name);
    for (let i = 0; i < own.length; i += 5) {
      const at = (offset: number) => {
        const kept = own[i]!;
        own[i] = kept + offset;
        const sum = objective();
        own[i] = kept;
        return sum;
      };
      // Of fourth order, so that float32 allows steps that are long.
      const measured = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
      const error = Math.abs(measured - grads[name]!.data[i]!) / (1 + Math.abs(measured));
      expect({ name, i, small: error < 5e-4 }).toEqual({ name, i, small: true });
    }
  }
}

describe('the backward pass of operations on the tape is their gradient', () => {
  const x = (tape: Tape) => tape.parameter('x', 4);
  const two = { x: matrix('x', 6, 4), y: matrix('y', 6, 4) };

  test('dense layers behind tanh, with their input', () => {
    check({ x: matrix('x', 6, 4), w: matrix('w', 4, 3), 'w.bias': matrix('b', 1, 3) }, (tape) => [
      tape.tanh(tape.dense(x(tape), 'w', 3)),
    ]);
  });
  test('relu, away from its corner', () => {
    const far = { x: { shape: [2, 4], data: Float32Array.of(1, -1, 2, -2, 0.5, -0.5, 3, -3) } };
    check(far, (tape) => [tape.relu(x(tape))]);
  });
  test('sums and products, by number and by row', () => {
    check({ ...two, row: matrix('row', 1, 4) }, (tape) => {
      const y = tape.parameter('y', 4);
      return [tape.multiply(tape.add(x(tape), y), y), tape.multiply(x(tape), tape.parameter('row', 4))];
    });
  });
  test('rows of a table, some of them twice, concatenated with others', () => {
    check(two, (tape) => [
      tape.concat([
        tape.rows(x(tape), Int32Array.of(3, 0, 3)),
        tape.rows(tape.parameter('y', 4), Int32Array.of(1, 1, 5)),
      ]),
    ]);
  });
  test('rows of length 1, and what dropout leaves', () => {
    check(two, (tape) => [tape.unit(x(tape)), tape.dropout(tape.parameter('y', 4), 0.4, rng('dropout'))]);
  });
  test('attention of each query over its rows', () => {
    for (const dim of [4, 6]) {
      check({ x: matrix('x', 6, dim), query: matrix('q', 2, dim) }, (tape) => [
        tape.attend(tape.parameter('query', dim), tape.parameter('x', dim), Int32Array.of(0, 4, 6)),
      ]);
    }
  });
  test('a GRU both ways over sequences of different lengths', () => {
    // Of one vector of the processor with lanes to spare, and of one and a part of another.
    for (const dim of [3, 6]) {
      check({ x: matrix('x', 8, 4), ...bidirectionalStarts('gru', 4, dim, rng) }, (tape) => {
        const { states, ends } = readBothWays(tape, 'gru', x(tape), Int32Array.of(0, 1, 5, 8), dim);
        return [states, ends];
      });
    }
  });
});

test('a sequence is read alike alone and among others, and the ends are its last states', () => {
  const starts = { x: matrix('x', 8, 4), ...bidirectionalStarts('gru', 4, 3, rng) };
  const tape = new Tape(new HostParameters(starts));
  const all = readBothWays(tape, 'gru', tape.parameter('x', 4), Int32Array.of(0, 1, 5, 8), 3);
  const [states, ends] = [all.states.values.slice(), all.ends.values.slice()];
  const alone = readBothWays(tape, 'gru', tape.constant(starts.x.data.slice(4, 20), 4), Int32Array.of(0, 4), 3);
  expect(alone.states.values).toEqual(states.slice(6, 30));
  expect(alone.ends.values).toEqual(ends.slice(6, 12));
  expect([...ends.slice(6, 9)]).toEqual([...states.slice(24, 27)]);
  expect([...ends.slice(9, 12)]).toEqual([...states.slice(9, 12)]);
});

test('a computation that was followed by a step has no backward pass any more', () => {
  const parameters = new HostParameters({ x: matrix('x', 6, 4) });
  const tape = new Tape(parameters);
  const { values, back } = tape.outputs([tape.tanh(tape.parameter('x', 4))]);
  parameters.version++;
  expect(() => back(values)).toThrow('expected the latest computation');
});

const rows = [
  [0, 0],
  [0, 1],
  [1, 0],
  [1, 1],
];

describe('a dense network on the host', () => {
  test('goes back along the gradients that differences measure, in every parameter', async () => {
    const network = mlp({ inputs: 2, hidden: [5, 3], outputs: 2, seed: 4 });
    const { parameters } = network;
    const weights = [0.3, -1, 0.5, 2, -0.4, 0.1, 1, -0.7];
    const objective = () => network.values(rows).reduce((sum, value, i) => sum + value * weights[i]!, 0);
    parameters.grads.fill(0);
    network.outputs(rows).back(Float32Array.from(weights));
    const grads = parameters.copies(parameters.grads);
    expect(parameters.names).toEqual(['mlp.1', 'mlp.1.bias', 'mlp.2', 'mlp.2.bias', 'mlp.out', 'mlp.out.bias']);
    for (const name of parameters.names) {
      const values = parameters.value(name);
      values.forEach((value, i) => {
        const at = (offset: number) => {
          values[i] = value + offset;
          return objective();
        };
        const measured = (at(2 ** -7) - at(-(2 ** -7))) / 2 ** -6;
        values[i] = value;
        expect(Math.abs(measured - grads[name]!.data[i]!)).toBeLessThan(2e-3);
      });
    }
    expect((await parameters.export())['mlp.1']!.shape).toEqual([2, 5]);
  });

  test('learns exclusive or, and a copy with its weights says the same', async () => {
    const network = mlp({ inputs: 2, hidden: [8], outputs: 1, seed: 1 });
    const wanted = [0, 1, 1, 0];
    const optimizer = adamW(network.parameters);
    for (let step = 0; step < 400; step++) {
      await optimizer.step(async (record) => {
        const { values, back } = await record(() => network.outputs(rows));
        back(Float32Array.from(values, (value, i) => value - wanted[i]!));
      }, 0.03);
    }
    const learned = [...network.values(rows)];
    learned.forEach((value, i) => expect(value).toBeCloseTo(wanted[i]!, 2));
    const copy = mlp({ inputs: 2, hidden: [8], outputs: 1 });
    expect([...copy.values(rows)]).toEqual([0, 0, 0, 0]);
    copy.parameters.import(await network.parameters.export());
    expect([...copy.values(rows)]).toEqual(learned);
    // Independent of the other rows.
    expect(copy.values([rows[1]!])[0]).toBe(learned[1]);
  });

  test('refuses the backward pass of an earlier computation', () => {
    const network = mlp({ inputs: 2, hidden: [], outputs: 1, seed: 1 });
    const early = network.outputs(rows);
    network.outputs(rows);
    expect(() => early.back(new Float32Array(4))).toThrow('expected the latest computation, got an earlier one');
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
