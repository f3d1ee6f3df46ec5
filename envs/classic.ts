/** `kgwalk/Grid-v1`: walk over a square grid from one corner to the opposite one, as fast as can be. */
import {
  InvalidAction,
  ResetNeeded,
  type Env,
  chosenSample,
  type ResetOptions,
  type ResetResult,
  type StepResult,
} from './env.js';
import { box, discrete, masked, type MaskedVector } from './spaces.js';
import { Rng } from '../src/run/seeds.js';
import { WorkbenchError } from '../src/run/errors.js';

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

/** Id in the registry; the version rises when results are no longer comparable. */
export const maskedBanditId = 'kgwalk/MaskedBandit-v1';

/** Options of `makeEnv('kgwalk/MaskedBandit-v1', …)`. */
export interface MaskedBanditOptions {
  /** Pulls per episode, at least 1. Default 10. */
  pulls?: number;
}

const arms = 10;
const contexts = 4;

/** Reward of an arm in a context: 0, 1/9, … 1, in a different order for each. */
const payOf = (context: number, arm: number) => ((7 * arm + 3 * context) % arms) / (arms - 1);

/** Observation of each context; made once. */
const seen = Array.from({ length: contexts }, (_, context) => {
  const vector = new Float32Array(contexts);
  vector[context] = 1;
  return vector;
});

/**
 * ## Action space
 * `discrete(10)`, the arms; each is free with probability ½ in each step, at least one.
 * ## Observation space
 * `observation`, float32 [4]: 1 at the context, else 0; `actionMask`, uint8 [10]: the arms that are free.
 * ## Rewards
 * Reward of the arm in the context: (7 · arm + 3 · context) mod 10, over 9. The best policy pulls the best free arm, which pays
 * Σ r · 2^(r − 10) / (1 − 2^−10) / 9 over r = 0 … 9 on average, 0.8900: 8.900 an episode of 10 pulls. A random free arm: 0.5.
 * ## Starting state
 * Context and free arms are redrawn for each pull, from the seed.
 * ## Episode end
 * Terminated after `pulls` pulls. Never truncated. `info.best` of a step is the reward of the best free arm.
 * ## Version history
 * v1: first version.
 */
export class MaskedBandit implements Env<MaskedVector> {
  readonly spec;
  readonly actionSpace = discrete(arms);
  readonly observationSpace = masked(box(new Float32Array(contexts), new Float32Array(contexts).fill(1)), arms);
  #rng = Rng.named(0, 'env');
  #context = 0;
  #free = new Uint8Array(arms);
  #pulled = -1;
  #running = false;

  constructor({ pulls = 10 }: MaskedBanditOptions = {}) {
    this.spec = { id: maskedBanditId, maxSteps: pulls };
  }

  reset({ seed }: ResetOptions = {}): ResetResult<MaskedVector> {
    if (seed !== undefined) this.#rng = Rng.named(seed, 'env');
    this.#pulled = 0;
    this.#running = true;
    return { observation: this.#draw(), info: {} };
  }

  step(action: number): StepResult<MaskedVector> {
    if (!this.#running) throw new ResetNeeded(maskedBanditId);
    if (this.#free[action] !== 1) throw new InvalidAction(maskedBanditId, action, 'an arm that is free');
    const reward = payOf(this.#context, action);
    let best = 0;
    for (let arm = 0; arm < arms; arm++) if (this.#free[arm]) best = Math.max(best, payOf(this.#context, arm));
    const terminated = ++this.#pulled >= this.spec.maxSteps;
    this.#running = !terminated;
    return { observation: this.#draw(), reward, terminated, truncated: false, info: { best } };
  }

  render(): string {
    if (this.#pulled < 0) throw new ResetNeeded(maskedBanditId);
    const free = [...this.#free.keys()].filter((arm) => this.#free[arm]);
    return `pull ${this.#pulled} of ${this.spec.maxSteps}: context ${this.#context}, free ${free.join(', ')}`;
  }

  close(): void {
    this.#pulled = -1;
    this.#running = false;
  }

  #draw(): MaskedVector {
    this.#context = this.#rng.integer(contexts);
    let bits = 0;
    while (bits === 0) bits = this.#rng.integer(1 << arms);
    this.#free = new Uint8Array(arms);
    for (let arm = 0; arm < arms; arm++) this.#free[arm] = (bits >> arm) & 1;
    return { observation: seen[this.#context]!, actionMask: this.#free };
  }
}

/** Id in the registry; the version rises when results are no longer comparable. */
export const cartPoleId = 'kgwalk/CartPole-v1';

/** Options of `makeEnv('kgwalk/CartPole-v1', …)`. */
export interface CartPoleOptions {
  /** Steps after which an episode is cut. Default 500. */
  maxSteps?: number;
}

/** m/s². */
const gravity = 9.8;
/** kg. */
const poleMass = 0.1;
const totalMass = poleMass + 1;
/** Metres from the joint to the pole's centre of mass: half its length. */
const halfLength = 0.5;
/** Newton, to the right. */
const push = 10;
/** Seconds a step. */
const tau = 0.02;
/** Metres from the middle of the track. */
const farthest = 2.4;
/** Radians from upright: 12 degrees. */
const steepest = (12 * 2 * Math.PI) / 360;

/** Twice what ends an episode, so that its last observation lies within. */
const bounds = [2 * farthest, Infinity, 2 * steepest, Infinity];

/**
 * Equations, thresholds and integration of Gymnasium's CartPole-v1: equal trajectories from equal states.
 * ## Action space
 * `discrete(2)`: push to the left, push to the right.
 * ## Observation space
 * float32 [4]: position of the cart (m), its velocity (m/s), angle of the pole (rad, 0 is upright), its velocity (rad/s).
 * ## Rewards
 * 1 a step, the last one included.
 * ## Starting state
 * `options.state`, four numbers, or each of them uniform in [-0.05, 0.05) from the seed.
 * ## Episode end
 * Terminated where the cart leaves ±2.4 m or the pole ±12°; truncated after `maxSteps` steps.
 * ## Version history
 * v1: first version, with the limits of Gymnasium's v1.
 * @source Barto, Sutton and Anderson 1983, IEEE Transactions on Systems, Man and Cybernetics 13(5), appendix, without friction
 */
export class CartPole implements Env<Float32Array> {
  readonly spec;
  readonly actionSpace = discrete(2);
  readonly observationSpace = box(
    bounds.map((bound) => -bound),
    bounds,
  );
  #rng = Rng.named(0, 'env');
  #x = 0;
  #velocity = 0;
  #angle = 0;
  #spin = 0;
  #steps = -1;
  #running = false;

  constructor({ maxSteps = 500 }: CartPoleOptions = {}) {
    this.spec = { id: cartPoleId, maxSteps };
  }

  reset({ seed, options }: ResetOptions = {}): ResetResult<Float32Array> {
    if (seed !== undefined) this.#rng = Rng.named(seed, 'env');
    const draw = () => this.#rng.uniform() * 0.1 - 0.05;
    const state = options?.state === undefined ? [draw(), draw(), draw(), draw()] : given(options.state);
    [this.#x, this.#velocity, this.#angle, this.#spin] = state as [number, number, number, number];
    this.#steps = 0;
    this.#running = true;
    return { observation: this.#observe(), info: {} };
  }

  step(action: number): StepResult<Float32Array> {
    if (!this.#running) throw new ResetNeeded(cartPoleId);
    if (action !== 0 && action !== 1) throw new InvalidAction(cartPoleId, action, '0 or 1');
    const sin = Math.sin(this.#angle);
    const cos = Math.cos(this.#angle);
    const drive = ((action === 1 ? push : -push) + poleMass * halfLength * this.#spin * this.#spin * sin) / totalMass;
    const spinUp = (gravity * sin - cos * drive) / (halfLength * (4 / 3 - (poleMass * cos * cos) / totalMass));
    const acceleration = drive - (poleMass * halfLength * spinUp * cos) / totalMass;
    this.#x += tau * this.#velocity;
    this.#velocity += tau * acceleration;
    this.#angle += tau * this.#spin;
    this.#spin += tau * spinUp;
    this.#steps++;
    const terminated = Math.abs(this.#x) > farthest || Math.abs(this.#angle) > steepest;
    const truncated = !terminated && this.#steps >= this.spec.maxSteps;
    this.#running = !terminated && !truncated;
    return { observation: this.#observe(), reward: 1, terminated, truncated, info: {} };
  }

  render(): string {
    if (this.#steps < 0) throw new ResetNeeded(cartPoleId);
    const degrees = (this.#angle * 360) / (2 * Math.PI);
    return `step ${this.#steps}: cart at ${this.#x.toFixed(3)} m, ${this.#velocity.toFixed(3)} m/s; pole at ${degrees.toFixed(2)}°, ${this.#spin.toFixed(3)} rad/s`;
  }

  close(): void {
    this.#steps = -1;
    this.#running = false;
  }

  #observe(): Float32Array {
    const observation = new Float32Array(4);
    observation[0] = this.#x;
    observation[1] = this.#velocity;
    observation[2] = this.#angle;
    observation[3] = this.#spin;
    return observation;
  }
}

/** @throws WorkbenchError `usage` for anything but four finite numbers */
function given(state: unknown): number[] {
  const numbers = Array.isArray(state) ? (state as unknown[]) : [];
  if (numbers.length === 4 && numbers.every(Number.isFinite)) return numbers as number[];
  const message = `expected a state of four finite numbers, got ${String(state)}, at reset of ${cartPoleId}`;
  throw new WorkbenchError('usage', message);
}
