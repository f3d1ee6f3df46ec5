/** `kgwalk/Grid-v1`: walk over a square grid from one corner to the opposite one, as fast as can be. */
import {
  InvalidAction,
  ResetNeeded,
  type Env,
  chosenSample,
  type ResetOptions,
  type ResetResult,
  type StepResult,
} from '../env.js';
import { box, discrete } from '../spaces.js';

/** Id in the registry; the version rises when results are no longer comparable. */
export const gridId = 'kgwalk/Grid-v1';

/** Options of `makeEnv('kgwalk/Grid-v1', …)`. */
export interface GridOptions {
  /** Cells of a side, at least 2. Default 5. */
  size?: number;
  /** Steps after which an episode is cut. Default 50. */
  maxSteps?: number;
}

const moves = [
  { name: 'up', down: -1, right: 0 },
  { name: 'right', down: 0, right: 1 },
  { name: 'down', down: 1, right: 0 },
  { name: 'left', down: 0, right: -1 },
] as const;

const stepCost = 0.02;

/**
 * ## Action space
 * `discrete(4)`: up, right, down, left. A move against the border leaves the walk where it is.
 * ## Observation space
 * float32 [size²]: 1 at the cell where the walk stands, row by row, else 0.
 * ## Rewards
 * 1 for reaching the goal, −0.02 for any other step. The best return from the start is 1 − 0.02 · (2 · size − 3), after
 * 2 · (size − 1) steps: 0.86 after 8 steps at size 5.
 * ## Starting state
 * The cell at the top left, or `options.cell`, an index row by row.
 * ## Episode end
 * Terminated at the goal, at the bottom right; truncated after `maxSteps` steps.
 * ## Version history
 * v1: first version.
 */
export class Grid implements Env<Float32Array> {
  readonly spec;
  readonly actionSpace = discrete(moves.length);
  readonly observationSpace;
  readonly #size: number;
  /** Observation of each cell; made once. */
  readonly #seen: readonly Float32Array[];
  #cell = 0;
  #steps = -1;
  #running = false;

  constructor({ size = 5, maxSteps = 50 }: GridOptions = {}) {
    if (!Number.isInteger(size) || size < 2)
      throw new RangeError(`expected at least 2 cells a side, got ${size}, at Grid`);
    this.spec = { id: gridId, maxSteps };
    const cells = size * size;
    this.observationSpace = box(new Float32Array(cells), new Float32Array(cells).fill(1));
    this.#size = size;
    this.#seen = Array.from({ length: cells }, (_, cell) => {
      const seen = new Float32Array(cells);
      seen[cell] = 1;
      return seen;
    });
  }

  reset({ options }: ResetOptions = {}): ResetResult<Float32Array> {
    this.#cell = chosenSample(options?.cell, this.#seen.length - 1, () => 0);
    this.#steps = 0;
    this.#running = true;
    return { observation: this.#seen[this.#cell]!, info: {} };
  }

  step(action: number): StepResult<Float32Array> {
    if (!this.#running) throw new ResetNeeded(gridId);
    const move = moves[action];
    if (!move) throw new InvalidAction(gridId, action, '0, 1, 2 or 3');
    const row = Math.floor(this.#cell / this.#size) + move.down;
    const column = (this.#cell % this.#size) + move.right;
    if (row >= 0 && row < this.#size && column >= 0 && column < this.#size) this.#cell = row * this.#size + column;
    this.#steps++;
    const terminated = this.#cell === this.#seen.length - 1;
    const truncated = !terminated && this.#steps >= this.spec.maxSteps;
    this.#running = !terminated && !truncated;
    const reward = terminated ? 1 : -stepCost;
    return { observation: this.#seen[this.#cell]!, reward, terminated, truncated, info: {} };
  }

  render(): string {
    if (this.#steps < 0) throw new ResetNeeded(gridId);
    const last = this.#seen.length - 1;
    const cells = this.#seen.map((_, cell) => (cell === this.#cell ? 'o' : cell === last ? 'G' : '.'));
    const rows = Array.from({ length: this.#size }, (_, row) => cells.slice(row * this.#size, (row + 1) * this.#size));
    return `step ${this.#steps}\n${rows.map((row) => row.join('')).join('\n')}`;
  }

  close(): void {
    this.#steps = -1;
    this.#running = false;
  }
}
