/**
 * Recurrent layers over sequences of different lengths, read both ways: sequences are sorted by length, so that a step of all that still run
 * is one product over the first rows, and no number is computed of padding.
 */
import type { Rng } from '../run/seeds.js';
import type { Numbers, Rows } from './executor.js';
import { type HostTensor, uniformFanIn } from './parameters.js';
import { type Cell, type CellState, Recurrent } from './recurrent.js';
import type { Tape, Taped } from './tape.js';

/** Rows of some table in sequences, one sequence behind the other. */
export interface Sequences {
  /** int32 [elements]: row of each element. */
  rows: Int32Array;
  /** int32 [sequences + 1]: elements of sequence `i` are `offsets[i] .. offsets[i + 1] - 1`; at least one. */
  offsets: Int32Array;
}

/** Encoding of sequences. */
export interface ReadBothWays<N extends Numbers = Numbers> {
  /** [elements, 2 · dim]: each element's state read forwards, then backwards. */
  states: Taped<N>;
  /** [sequences, 2 · dim]: the last state forwards, then the one of the first element backwards. */
  ends: Taped<N>;
}

/** Names of the two layers. */
export const ways = ['forward', 'backward'] as const;

/** Weights of GRUs by name: `NAME.forward.input` [inputs, 3 · dim], `.recurrent` [dim, 3 · dim], `.bias`, and `backward`; uniform in ±1/√dim. */
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
 * @param layer kind, name and units of the two layers `NAME.forward` and `NAME.backward`
 * @param x [rows, inputs]
 */
export function readBothWays<N extends Numbers, R extends Rows>(
  tape: Tape<N, R>,
  { cell, name, dim }: { cell: Cell; name: string; dim: number },
  x: Taped<N>,
  { rows, offsets }: Sequences,
): ReadBothWays<N> {
  const plan = planOf(offsets);
  const read = ways.map((way) => {
    const layer = new Recurrent(tape, cell, `${name}.${way}`, dim);
    const places = plan[way];
    const inOrder = new Int32Array(places.length);
    places.forEach((place, i) => (inOrder[place] = rows[i]!));
    const hidden = run(layer, tape.rows(layer.given(x), inOrder), plan.active);
    const last = offsets.subarray(0, -1).map((begin, i) => places[way === 'forward' ? offsets[i + 1]! - 1 : begin]!);
    return { states: tape.rows(hidden, places), ends: tape.rows(hidden, last) };
  });
  return { states: tape.concat(read.map(({ states }) => states)), ends: tape.concat(read.map(({ ends }) => ends)) };
}

/** Order for reading sequences of several lengths: the longest first, so that unfinished ones are the first rows of every step. */
interface Plan {
  /** Sequences that have each step. */
  active: number[];
  /** int32 [elements]: place of each element among the rows of all steps. */
  forward: Int32Array;
  /** The same, read from the end. */
  backward: Int32Array;
}

function planOf(offsets: Int32Array): Plan {
  const lengthOf = (i: number) => offsets[i + 1]! - offsets[i]!;
  const order = Array.from(offsets.subarray(1).keys()).sort((a, b) => lengthOf(b) - lengthOf(a) || a - b);
  const active = Array.from(
    { length: order.length === 0 ? 0 : lengthOf(order[0]!) },
    (_, step) => order.filter((i) => lengthOf(i) > step).length,
  );
  const [forward, backward] = [new Int32Array(offsets.at(-1)!), new Int32Array(offsets.at(-1)!)];
  active.reduce((begin, count, step) => {
    for (const [rank, i] of order.slice(0, count).entries()) {
      forward[offsets[i]! + step] = backward[offsets[i + 1]! - 1 - step] = begin + rank;
    }
    return begin + count;
  }, 0);
  return { active, forward, backward };
}

/** Goes through all steps: hidden rows in the order of `given`. @param active rows of each step, never more than before */
function run<N extends Numbers, R extends Rows>(
  layer: Recurrent<N, R>,
  given: Taped<N>,
  active: readonly number[],
): Taped<N> {
  const { tape } = layer;
  const outputs: Taped<N>[] = [];
  let state: CellState<N> = layer.start(active[0] ?? 0);
  active.reduce((begin, count) => {
    const unfinished = state.map((part) => (part.rows === count ? part : tape.slice(part, 0, count)));
    state = layer.step(tape.slice(given, begin, count), unfinished);
    outputs.push(state[0]!);
    return begin + count;
  }, 0);
  return outputs.length === 0 ? state[0]! : tape.stack(outputs);
}
