/** Layers on the host: for a few states at a time, where a tensor library spends longer on each call than on its numbers. */
import type { Arena } from './arena.js';
import type { Kernels } from './kernels.js';

/** y = W·x without a bias, or its tanh. */
export interface DenseLayer {
  /** float32 [rows, columns] */
  weights: Float32Array;
  rows: number;
  columns: number;
  tanh: boolean;
}

/** Columns of a panel of weights. */
const panelColumns = 16;

/** Layers one after the other, in float32, packed for the kernels. */
export class DenseStack {
  readonly #kernels: Kernels;
  readonly #layers: {
    rows: number;
    columns: number;
    panels: number;
    tanh: boolean;
    weights: Float32Array;
    out: Float32Array;
  }[];
  readonly #input: Float32Array;
  /** Values from one state of what `forward` returns to the next: the columns of the last layer, rounded up. */
  readonly width: number;

  /**
   * Copies the weights.
   * @param arena that `kernels` were opened over
   * @param mostStates that `forward` is given
   */
  constructor(arena: Arena, kernels: Kernels, layers: readonly DenseLayer[], mostStates: number) {
    this.#kernels = kernels;
    this.#input = arena.float32(mostStates * (layers[0]?.rows ?? 0));
    this.#layers = layers.map(({ rows, columns, tanh }) => {
      const panels = Math.ceil(columns / panelColumns);
      const weights = arena.float32(panels * rows * panelColumns);
      return { rows, columns, panels, tanh, weights, out: arena.float32(mostStates * panels * panelColumns) };
    });
    this.load(layers.map(({ weights }) => weights));
    this.width = this.#layers.at(-1)!.panels * panelColumns;
  }

  /** Copies other weights: float32 [rows, columns] for each layer. */
  load(all: readonly Float32Array[]): void {
    this.#layers.forEach(({ rows, columns, weights: packed }, layer) => {
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const panel = Math.floor(column / panelColumns);
          packed[(panel * rows + row) * panelColumns + (column % panelColumns)] = all[layer]![row * columns + column]!;
        }
      }
    });
  }

  /**
   * @param states float32 [numStates, rows of the first layer]
   * @returns float32 [numStates, width], overwritten by the next call; a state's values do not depend on the others
   */
  forward(states: Float32Array, numStates: number): Float32Array {
    this.#input.set(states);
    let input = this.#input;
    let width = this.#layers[0]!.rows;
    for (const { rows, panels, tanh, weights, out } of this.#layers) {
      const { byteOffset } = input;
      this.#kernels.denseLayer(byteOffset, numStates, width, rows, weights.byteOffset, panels, out.byteOffset, tanh);
      input = out;
      width = panels * panelColumns;
    }
    return input;
  }
}
