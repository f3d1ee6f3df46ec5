/** `kgwalk/CartPole-v1`: keep a pole upright on a cart by pushing the cart left or right. */
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { InvalidAction, ResetNeeded, type Env, type ResetOptions, type ResetResult, type StepResult } from '../env.js';
import { box, discrete } from '../spaces.js';

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
