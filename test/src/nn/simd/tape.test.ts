/** Operations of the tape over SIMD kernels alone. */
import { expect, test } from '@jest/globals';
import { bidirectionalStarts, readBothWays } from '../../../../src/nn/bidirectional.js';
import { type HostTensor, normalValues } from '../../../../src/nn/parameters.js';
import { type HostTaped, SimdParameters, SimdTape } from '../../../../src/nn/simd/tape.js';
import { Rng } from '../../../../src/run/seeds.js';

const rng = (name: string) => Rng.named(1, name);
const matrix = (name: string, rows: number, width: number): HostTensor => ({
  shape: [rows, width],
  data: normalValues(rng(name), 0.7, rows * width),
});

test('a sequence is read alike alone and among others, and the ends are its last states', () => {
  const starts = { x: matrix('x', 8, 4), ...bidirectionalStarts('gru', 4, 3, rng) };
  const tape = new SimdTape(new SimdParameters(starts));
  const read = (x: HostTaped, ...offsets: number[]) => {
    const sequences = { rows: Int32Array.from({ length: x.rows }, (_, i) => i), offsets: Int32Array.from(offsets) };
    return readBothWays(tape, { cell: 'gru', name: 'gru', dim: 3 }, x, sequences);
  };
  const all = read(tape.parameter('x'), 0, 1, 5, 8);
  const [states, ends] = [all.states.values.slice(), all.ends.values.slice()];
  const alone = read(tape.constant(starts.x.data.slice(4, 20), 4), 0, 4);
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
