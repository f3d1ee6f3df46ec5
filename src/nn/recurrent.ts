/** Recurrent layers, one step at a time: LSTM and GRU. */
import type { Rng } from '../run/seeds.js';
import type { Numbers, Rows } from './executor.js';
import { type HostTensor, orthogonalValues } from './parameters.js';
import type { Tape, Taped } from './tape.js';

/** Kind of a layer. */
export type Cell = 'lstm' | 'gru';

/** State of a layer, a row per sequence: the hidden rows first, then the memory of an LSTM; each [rows, dim]. */
export type CellState<N extends Numbers = Numbers> = Taped<N>[];

/**
 * Initial weights `NAME.input`, `NAME.recurrent` and `NAME.bias`. Each gate starts orthogonal by itself; an LSTM forgets little
 * at first, with a bias of 1 that keeps 73 %, so that it learns sooner (Jozefowicz et al. 2015, section 2.2).
 * @param rngOf generator of a gate's start by `NAME.input/0` and so on; zeros without it, for weights to be imported
 */
export function recurrentStarts(
  { cell, name, inputs, dim }: { cell: Cell; name: string; inputs: number; dim: number },
  rngOf?: (weights: string) => Rng,
): Record<string, HostTensor> {
  const gates = cell === 'lstm' ? 4 : 3;
  const layer = (part: string, rows: number): [string, HostTensor] => {
    const data = new Float32Array(rows * gates * dim);
    for (let gate = 0; rngOf && gate < gates; gate++) {
      const own = orthogonalValues(rngOf(`${part}/${gate}`), rows, dim, 1);
      for (let row = 0; row < rows; row++) {
        data.set(own.subarray(row * dim, (row + 1) * dim), (row * gates + gate) * dim);
      }
    }
    return [part, { shape: [rows, gates * dim], data }];
  };
  const bias = new Float32Array(gates * dim);
  if (cell === 'lstm') bias.fill(1, dim, 2 * dim);
  return Object.fromEntries([
    layer(`${name}.input`, inputs),
    layer(`${name}.recurrent`, dim),
    [`${name}.bias`, { shape: [gates * dim], data: bias }],
  ]);
}

/** A layer on one tape. */
export class Recurrent<N extends Numbers = Numbers, R extends Rows = Rows> {
  constructor(
    readonly tape: Tape<N, R>,
    readonly cell: Cell,
    readonly name: string,
    readonly dim: number,
  ) {}

  /** Zeros. */
  start(rows: number): CellState<N> {
    return Array.from({ length: this.cell === 'lstm' ? 2 : 1 }, () => this.tape.zeros(rows, this.dim));
  }

  /** Input terms of the gates, of one step or many at once: [rows, inputs] → [rows, gates · dim]. */
  given(inputs: Taped<N>): Taped<N> {
    const gates = this.cell === 'lstm' ? 4 : 3;
    return this.tape.dense(inputs, `${this.name}.input`, gates * this.dim, `${this.name}.bias`);
  }

  /** @param given of this step's inputs */
  step(given: Taped<N>, before: CellState<N>): CellState<N> {
    return this.cell === 'lstm' ? this.#lstm(given, before) : this.#gru(given, before);
  }

  /** Gates in the order input, forget, output, candidate. @source Hochreiter and Schmidhuber 1997, with forget gates */
  #lstm(given: Taped<N>, [hidden, memory]: CellState<N>): CellState<N> {
    const { tape, dim } = this;
    const all = tape.add(given, tape.product(hidden!, tape.parameter(`${this.name}.recurrent`, 4 * dim)));
    const gates = tape.sigmoid(tape.columns(all, 0, 3 * dim));
    const candidate = tape.tanh(tape.columns(all, 3 * dim, dim));
    const gate = (k: number) => tape.columns(gates, k * dim, dim);
    const next = tape.add(tape.multiply(gate(1), memory!), tape.multiply(gate(0), candidate));
    return [tape.multiply(gate(2), tape.tanh(next)), next];
  }

  /** Gates in the order update, reset, candidate. @source Cho et al. 2014, arXiv:1406.1078, appendix A.1.1 */
  #gru(given: Taped<N>, [hidden]: CellState<N>): CellState<N> {
    const { tape, dim } = this;
    // The reset gate is applied behind the product, as in the kernels of the field: one product serves all gates.
    const own = tape.product(hidden!, tape.parameter(`${this.name}.recurrent`, 3 * dim));
    return [tape.gruCell(given, own, hidden!)];
  }
}
