import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../../src/run/seeds.js';
import { bidirectionalStarts, readBothWays } from '../../../../src/tensor/bidirectional.js';
import { HostParameters } from '../../../../src/tensor/host/host-parameters.js';
import { Tape, type Taped } from '../../../../src/tensor/host/tape.js';
import { type HostTensor, normalValues } from '../../../../src/tensor/parameters.js';

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
