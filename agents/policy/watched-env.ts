/** Checks the contract of an environment at every step; violations throw an error with the place. */
import type { Space } from '../../envs/spaces.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { describeValue } from '../../src/run/printable.js';
import { maskOf, type PolicyShape, type VectorObservation, type VectorObservationEnv } from './spaces.js';

/** One copy of an environment, and how far its episode is. */
export class WatchedEnv {
  observation: VectorObservation = new Float32Array(0);
  /** Steps of the episode so far. */
  steps = 0;
  /** Their rewards, summed up. */
  sum = 0;
  terminated = false;
  truncated = false;

  /** @param name in errors, in addition to the environment's id, such as `copy 3` */
  constructor(
    readonly env: VectorObservationEnv,
    readonly shape: PolicyShape,
    readonly name = '',
  ) {}

  /** @param seed of the episode */
  begin(seed: number): void {
    this.steps = 0;
    this.sum = 0;
    this.terminated = false;
    this.truncated = false;
    this.#see(this.#asked(() => this.env.reset({ seed })).observation);
  }

  /** @returns the reward @throws WorkbenchError `failure` for an environment that throws or breaks its spaces */
  step(index: number): number {
    this.steps++;
    const { reward, terminated, truncated, observation } = this.#asked(() =>
      this.env.step(this.shape.firstAction + index),
    );
    if (!Number.isFinite(reward)) throw this.#broken('a finite reward', String(reward));
    if (typeof terminated !== 'boolean' || typeof truncated !== 'boolean') {
      throw this.#broken('terminated and truncated as booleans', `${String(terminated)} and ${String(truncated)}`);
    }
    this.sum += reward;
    this.terminated = terminated;
    // Both at once is an end: nothing comes after.
    this.truncated = truncated && !terminated;
    this.#see(observation);
    if (!this.ended && this.steps >= this.env.spec.maxSteps) {
      throw this.#broken(`an end within ${this.env.spec.maxSteps} steps, its spec.maxSteps`, 'none');
    }
    return reward;
  }

  get ended(): boolean {
    return this.terminated || this.truncated;
  }

  #see(observation: unknown): void {
    if (!(this.env.observationSpace as Space<unknown>).contains(observation)) {
      const expected = `an observation of its observationSpace, ${this.shape.inputs} float32 numbers`;
      throw this.#broken(expected, describeValue(observation));
    }
    this.observation = observation as VectorObservation;
    if (!this.shape.masked || this.ended) return;
    if (!maskOf(this.observation)!.includes(1)) throw this.#broken('a legal action while the episode runs', 'none');
  }

  #asked<T extends object>(ask: () => T): T {
    let result: T;
    try {
      result = ask();
    } catch (error) {
      const { message = String(error) } = error as Partial<Error>;
      throw this.#broken('an environment that can be walked', `"${message}"`, error);
    }
    if (Object(result) === result && 'observation' in result) return result;
    throw this.#broken('an object with an observation', describeValue(result));
  }

  #broken(expected: string, got: string, cause?: unknown): WorkbenchError {
    const place = this.steps === 0 ? 'reset' : `step ${this.steps}`;
    const copy = this.name === '' ? '' : ` of ${this.name}`;
    return new WorkbenchError(
      'failure',
      `expected ${expected}, got ${got}, at ${place}${copy} of ${this.env.spec.id}`,
      { hint: 'checkEnv of kgwalk/envs tries an environment by itself.', cause, resumable: true },
    );
  }
}
