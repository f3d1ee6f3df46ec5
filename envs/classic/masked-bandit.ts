/** `kgwalk/MaskedBandit-v1`: pull the best free arm for the observed context. */
import { Rng } from '../../src/run/seeds.js';
import { InvalidAction, ResetNeeded, type Env, type ResetOptions, type ResetResult, type StepResult } from '../env.js';
import { box, discrete, masked, type MaskedVector } from '../spaces.js';

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
