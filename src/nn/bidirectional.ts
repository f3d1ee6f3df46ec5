/**
 * A GRU over sequences of different lengths, read both ways, on the host: sequences are sorted by length, so that a step of all that still
 * run is one product over the first rows, and no number is computed of padding.
 *
 *   z = σ(W_z x + U_z h),  r = σ(W_r x + U_r h),  c = tanh(W_c x + r ⊙ U_c h),  h ← z ⊙ h + (1 − z) ⊙ c
 *
 * @source Cho et al. 2014, arXiv:1406.1078, appendix A.1.1; the reset gate behind the product, as in `recurrent.ts`
 */
import type { Rng } from '../run/seeds.js';
import type { HostTaped, SimdTape } from '../nn/simd/tape.js';
import { type HostTensor, uniformFanIn } from './parameters.js';

/** Encoding of concatenated sequences. */
export interface ReadBothWays {
  /** [all elements, 2 · dim]: each element's state read forwards, then backwards. */
  states: HostTaped;
  /** [sequences, 2 · dim]: the last state forwards, then the one of the first element backwards. */
  ends: HostTaped;
}

const ways = ['forward', 'backward'] as const;

/** Weights by name: `NAME.forward.input` [inputs, 3 · dim], `.recurrent` [dim, 3 · dim], `.bias`, and `backward`; uniform in ±1/√dim. */
export function bidirectionalStarts(
  name: string,
  inputs: number,
  dim: number,
  rngOf: (weights: string) => Rng,
): Record<string, HostTensor> {
  const start = (part: string, shape: number[]) => {
    const count = shape.reduce((product, size) => product * size, 1);
    return [part, { shape, data: uniformFanIn(rngOf(part), dim, count) }] as const;
  };
  return Object.fromEntries(
    ways.flatMap((way) => [
      start(`${name}.${way}.input`, [inputs, 3 * dim]),
      start(`${name}.${way}.recurrent`, [dim, 3 * dim]),
      start(`${name}.${way}.bias`, [3 * dim]),
    ]),
  );
}

/**
 * Reads sequences both ways, each from a state of zeros.
 * @param x [all elements, inputs], one sequence behind the other
 * @param offsets int32 [sequences + 1]: elements of sequence `i` are `offsets[i] .. offsets[i + 1] - 1`; at least one
 */
export function readBothWays(
  tape: SimdTape,
  name: string,
  x: HostTaped,
  offsets: Int32Array,
  dim: number,
): ReadBothWays {
  const count = offsets.length - 1;
  const lengthOf = (i: number) => offsets[i + 1]! - offsets[i]!;
  const order = Array.from({ length: count }, (_, i) => i).sort((a, b) => lengthOf(b) - lengthOf(a) || a - b);
  const steps = count === 0 ? 0 : lengthOf(order[0]!);
  /** Rows of step `s` are `begins[s] .. begins[s + 1] - 1`, the longest sequence first. */
  const begins = new Int32Array(steps + 1);
  for (let s = 0; s < steps; s++) begins[s + 1] = begins[s]! + order.filter((i) => lengthOf(i) > s).length;
  const read = ways.map((way) => {
    const packed = new Int32Array(x.rows);
    const unpacked = new Int32Array(x.rows);
    const last = new Int32Array(count);
    order.forEach((i, index) => {
      for (let s = 0; s < lengthOf(i); s++) {
        const element = way === 'forward' ? offsets[i]! + s : offsets[i + 1]! - 1 - s;
        packed[begins[s]! + index] = element;
        unpacked[element] = begins[s]! + index;
      }
      last[i] = begins[lengthOf(i) - 1]! + index;
    });
    const given = tape.dense(tape.rows(x, packed), `${name}.${way}.input`, 3 * dim, `${name}.${way}.bias`);
    const hidden = gru(tape, given, tape.parameter(`${name}.${way}.recurrent`, 3 * dim), begins);
    return { states: tape.rows(hidden, unpacked), ends: tape.rows(hidden, last) };
  });
  return {
    states: tape.concat(read.map(({ states }) => states)),
    ends: tape.concat(read.map(({ ends }) => ends)),
  };
}

/**
 * Hidden states of all steps.
 * @param given [rows, 3 · dim]: what the inputs bring to the gates update, reset and candidate, step by step
 * @param begins int32 [steps + 1]: first row of each step; no step has more rows than the one before, whose first rows it continues
 */
function gru(tape: SimdTape, given: HostTaped, recurrent: HostTaped, begins: Int32Array): HostTaped {
  const { executor } = tape;
  const { kernels } = executor;
  const dim = recurrent.rows;
  const { rows } = given;
  const hidden = tape.buffer(rows * dim);
  const gates = tape.buffer(rows * 2 * dim);
  const candidates = tape.buffer(rows * dim);
  // What the state brings to the gates; of the first step nothing.
  const first = begins[1] ?? 0;
  const own = tape.buffer(rows * 3 * dim);
  own.fill(0, 0, first * 3 * dim);
  /** States before all steps but the first. */
  const pasts = tape.buffer((rows - first) * dim);
  const steps = begins.length - 1;
  const from = (array: Float32Array, row: number, width: number) => array.byteOffset + 4 * row * width;
  const part = (array: Float32Array, row: number, width: number) => array.subarray(row * width);
  for (let s = 0; s < steps; s++) {
    const [begin, end] = [begins[s]!, begins[s + 1]!];
    if (s > 0) {
      const past = part(pasts, begin - first, dim);
      kernels.copyBlock(past.byteOffset, dim, from(hidden, begins[s - 1]!, dim), dim, end - begin, dim);
      executor.matMul('ab', past, recurrent.values, part(own, begin, 3 * dim), end - begin, dim, 3 * dim);
    }
    kernels.gruStep(
      ...([from(given.values, begin, 3 * dim), from(own, begin, 3 * dim)] as const),
      ...([s === 0 ? 0 : from(pasts, begin - first, dim), from(gates, begin, 2 * dim)] as const),
      ...([from(candidates, begin, dim), from(hidden, begin, dim), end - begin, dim] as const),
    );
  }
  return tape.taped(hidden, dim, (grads) => {
    const ofOwn = tape.buffer(rows * 3 * dim);
    for (let s = steps - 1; s >= 0; s--) {
      const [begin, end] = [begins[s]!, begins[s + 1]!];
      const ofPast = s === 0 ? undefined : part(grads, begins[s - 1]!, dim);
      kernels.gruGrad(
        ...([from(grads, begin, dim), from(own, begin, 3 * dim)] as const),
        ...([s === 0 ? 0 : from(pasts, begin - first, dim), from(gates, begin, 2 * dim)] as const),
        ...([from(candidates, begin, dim), from(given.grads!, begin, 3 * dim)] as const),
        ...([from(ofOwn, begin, 3 * dim), ofPast?.byteOffset ?? 0, end - begin, dim] as const),
      );
      const upstream = part(ofOwn, begin, 3 * dim);
      if (ofPast) executor.matMul('abT', upstream, recurrent.values, ofPast, end - begin, 3 * dim, dim, true);
    }
    executor.matMul('aTb', pasts, part(ofOwn, first, 3 * dim), recurrent.grads!, dim, rows - first, 3 * dim, true);
  });
}
