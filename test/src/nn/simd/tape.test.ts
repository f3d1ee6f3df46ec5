/** Operations of the tape over SIMD kernels alone. */
import { describe, expect, test } from '@jest/globals';
import { bidirectionalStarts, readBothWays } from '../../../../src/nn/bidirectional.js';
import { type HostTensor, normalValues } from '../../../../src/nn/parameters.js';
import { SimdParameters, SimdTape } from '../../../../src/nn/simd/tape.js';
import { Rng } from '../../../../src/run/seeds.js';
import { checkSimdGradients } from '../../../fixtures/tape-check.js';

const rng = (name: string) => Rng.named(1, name);
const matrix = (name: string, rows: number, width: number): HostTensor => ({
  shape: [rows, width],
  data: normalValues(rng(name), 0.7, rows * width),
});

describe('the backward pass is the gradient that differences measure', () => {
  test('of attention of each query over its rows', async () => {
    for (const dim of [4, 6]) {
      await checkSimdGradients({ x: matrix('x', 6, dim), query: matrix('q', 2, dim) }, (tape) => [
        tape.attend(tape.parameter('query'), tape.parameter('x'), Int32Array.of(0, 4, 6)),
      ]);
    }
  });

  test('of a GRU both ways over sequences of different lengths', async () => {
    // Of one vector of the processor with lanes to spare, and of one and a part of another.
    for (const dim of [3, 6]) {
      await checkSimdGradients({ x: matrix('x', 8, 4), ...bidirectionalStarts('gru', 4, dim, rng) }, (tape) => {
        const { states, ends } = readBothWays(tape, 'gru', tape.parameter('x'), Int32Array.of(0, 1, 5, 8), dim);
        return [states, ends];
      });
    }
  });
});

test('a sequence is read alike alone and among others, and the ends are its last states', () => {
  const starts = { x: matrix('x', 8, 4), ...bidirectionalStarts('gru', 4, 3, rng) };
  const tape = new SimdTape(new SimdParameters(starts));
  const all = readBothWays(tape, 'gru', tape.parameter('x'), Int32Array.of(0, 1, 5, 8), 3);
  const [states, ends] = [all.states.values.slice(), all.ends.values.slice()];
  const alone = readBothWays(tape, 'gru', tape.constant(starts.x.data.slice(4, 20), 4), Int32Array.of(0, 4), 3);
  expect(alone.states.values).toEqual(states.slice(6, 30));
  expect(alone.ends.values).toEqual(ends.slice(6, 12));
  expect([...ends.slice(6, 9)]).toEqual([...states.slice(24, 27)]);
  expect([...ends.slice(9, 12)]).toEqual([...states.slice(9, 12)]);
});

test('outputs are there at once, as a copy', async () => {
  const tape = new SimdTape(new SimdParameters({ x: matrix('x', 6, 4) }));
  const outputs = tape.outputs([tape.tanh(tape.parameter('x'))]);
  const values = outputs.values.slice();
  tape.begin();
  tape.zeros(6, 4);
  expect(outputs.values).toEqual(values);
  expect(await outputs.read()).toEqual(values);
});
