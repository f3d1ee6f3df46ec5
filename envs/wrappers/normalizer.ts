/** Observations and rewards brought to a common scale, by statistics that all copies of an environment share. */
import { z } from 'zod';
import { WorkbenchError } from '../../src/run/errors.js';
import { box, masked, type MaskedVector, type Space, vectorLength } from '../spaces.js';
import type { BatchedEnv, VectorStep } from '../vector-env.js';

/** State stored in checkpoints; numbers are restored bit for bit. */
const momentsState = z.object({
  count: z.number().positive(),
  mean: z.array(z.number()),
  variance: z.array(z.number().nonnegative()),
});
type MomentsState = z.output<typeof momentsState>;

/**
 * Moments of vectors, batch by batch. It begins with mean 0 and variance 1 at a weight of 10⁻⁴ of a vector, as
 * Stable-Baselines3 does, so that the first batch is divided by something.
 * @source Chan, Golub and LeVeque 1983, The American Statistician 37(3), equation 2.1, for two parts
 */
class RunningMoments {
  readonly mean: Float64Array;
  /** Population variance. */
  readonly variance: Float64Array;
  #count = 1e-4;

  /** @param width numbers a vector */
  constructor(readonly width: number) {
    this.mean = new Float64Array(width);
    this.variance = new Float64Array(width).fill(1);
  }

  /** Vectors seen, the weight of the start included. */
  get count(): number {
    return this.#count;
  }

  /** @param rows vectors of the batch, which count as one addition; none changes nothing */
  add(rows: readonly ArrayLike<number>[]): void {
    const more = rows.length;
    if (more === 0) return;
    const count = this.#count + more;
    for (let k = 0; k < this.width; k++) {
      let mean = 0;
      for (const row of rows) mean += row[k]!;
      mean /= more;
      let squares = 0;
      for (const row of rows) squares += (row[k]! - mean) ** 2;
      const gap = mean - this.mean[k]!;
      squares += this.variance[k]! * this.#count + (gap * gap * this.#count * more) / count;
      this.mean[k]! += (gap * more) / count;
      this.variance[k] = squares / count;
    }
    this.#count = count;
  }

  export(): MomentsState {
    return { count: this.#count, mean: [...this.mean], variance: [...this.variance] };
  }

  /** @throws RangeError for moments of another width */
  import(state: MomentsState): void {
    const { count, mean, variance } = state;
    if (mean.length !== this.width || variance.length !== this.width) {
      throw new RangeError(`expected moments of ${this.width} numbers, got ${mean.length} and ${variance.length}`);
    }
    this.#count = count;
    this.mean.set(mean);
    this.variance.set(variance);
  }
}

/** Output of `Normalizer.export`, stored in checkpoints: plain JSON. */
export const normalizerState = z.object({ observations: momentsState.optional(), returns: momentsState.optional() });
/** One state of a `Normalizer`. */
export type NormalizerState = z.output<typeof normalizerState>;

/** Options of normalisation. */
export interface NormalizerOptions {
  /** Default true. */
  observations?: boolean;
  /** Default true. */
  rewards?: boolean;
  /** Discount of the return whose spread rewards are divided by: the trainer's. Default 0.99. */
  gamma?: number;
  /** Largest size of a normalised number. Default 10. */
  clip?: number;
  /** Added to variances. Default 1e-8. */
  epsilon?: number;
}

/**
 * Running statistics of observations and discounted returns. One object serves all copies and is saved with the weights
 * (`export`, `import`): a policy needs the statistics of its training. Set `frozen` for evaluation.
 * @source Stable-Baselines3's `VecNormalize`, whose numbers a test compares
 */
export class Normalizer {
  /** True to keep statistics fixed: for evaluation and use. */
  frozen = false;
  readonly observations: RunningMoments | undefined;
  readonly returns: RunningMoments | undefined;
  readonly gamma: number;
  readonly clip: number;
  readonly epsilon: number;

  /** @param width numbers an observation */
  constructor(width: number, options: NormalizerOptions = {}) {
    const { observations = true, rewards = true, gamma = 0.99, clip = 10, epsilon = 1e-8 } = options;
    this.observations = observations ? new RunningMoments(width) : undefined;
    this.returns = rewards ? new RunningMoments(1) : undefined;
    this.gamma = gamma;
    this.clip = clip;
    this.epsilon = epsilon;
  }

  /** A vector on the common scale, new; the vector itself where observations are not normalised. */
  observation(raw: Float32Array): Float32Array {
    const moments = this.observations;
    if (!moments) return raw;
    const scaled = new Float32Array(raw.length);
    for (let k = 0; k < scaled.length; k++) {
      const number = (raw[k]! - moments.mean[k]!) / Math.sqrt(moments.variance[k]! + this.epsilon);
      scaled[k] = Math.max(-this.clip, Math.min(this.clip, number));
    }
    return scaled;
  }

  /** A reward over the spread of returns; not centred, so that its sign stays. */
  reward(raw: number): number {
    if (!this.returns) return raw;
    const number = raw / Math.sqrt(this.returns.variance[0]! + this.epsilon);
    return Math.max(-this.clip, Math.min(this.clip, number));
  }

  export(): NormalizerState {
    return {
      ...(this.observations && { observations: this.observations.export() }),
      ...(this.returns && { returns: this.returns.export() }),
    };
  }

  /**
   * Statistics of an earlier run; those of rewards may be absent, as evaluation needs none.
   * @throws WorkbenchError `data` for another form, or statistics of another width
   */
  import(state: unknown): void {
    const read = normalizerState.safeParse(state);
    const { observations, returns } = read.data ?? {};
    const width = this.observations?.width;
    if (!read.success || observations?.mean.length !== width || observations?.variance.length !== width) {
      throw new WorkbenchError(
        'data',
        `expected the statistics of ${width ?? 'no'} numbers an observation, got ${observations?.mean.length ?? 'none'}, at Normalizer.import`,
        { hint: 'They belong to another environment or to other settings; use those that they were made with.' },
      );
    }
    if (observations) this.observations!.import(observations);
    if (returns && this.returns) this.returns.import(returns);
  }
}

/** Observations that can be normalised: a vector, or one with a mask, which is left unchanged. */
export type NormalizableObservation = Float32Array | MaskedVector;

/**
 * Copies with normalised observations and rewards, last observations in `info.final` included. Statistics are updated once per
 * step with the observations of all live copies. For unscaled rewards put `recordEpisodeStatistics` around each single copy.
 *
 *     const single = () => recordEpisodeStatistics(makeEnv(id, {}));
 *     const normalizer = new Normalizer(4, { gamma: 0.99 });
 *     const envs = normalized(new VectorEnv(Array.from({ length: 8 }, single), 'sameStep'), normalizer);
 *
 * `reset` clears the running discounted returns, so a resumed run that resets equals an uninterrupted one only if that one
 * resets there, too.
 * @throws WorkbenchError `usage` if observations are not vectors of the normalizer's width
 */
export function normalized<Observation extends NormalizableObservation>(
  envs: BatchedEnv<Observation>,
  normalizer: Normalizer,
): BatchedEnv<Observation> {
  let live: Int32Array = new Int32Array(0);
  let running = new Float64Array(0);
  const one = (raw: Observation) => {
    const observation = normalizer.observation(vectorOf(raw));
    return (raw instanceof Float32Array ? observation : { ...raw, observation }) as Observation;
  };
  const scaled = (step: VectorStep<Observation>): VectorStep<Observation> => ({
    ...step,
    observations: step.observations.map(one),
    infos: step.infos.map((info) => {
      const final = info.final as { observation: Observation } | undefined;
      return final ? { ...info, final: { ...final, observation: one(final.observation) } } : info;
    }),
  });
  return {
    spec: envs.spec,
    actionSpace: envs.actionSpace,
    observationSpace: scaledSpace(envs.observationSpace, normalizer),
    numEnvs: envs.numEnvs,
    reset(options) {
      const step = envs.reset(options);
      live = step.live;
      running = new Float64Array(step.rewards.length);
      seen(normalizer, step.observations, live);
      return scaled(step);
    },
    step(actions) {
      const step = envs.step(actions);
      seen(normalizer, step.observations, live);
      const rewards = new Float64Array(step.rewards.length);
      for (const i of live) running[i] = running[i]! * normalizer.gamma + step.rewards[i]!;
      if (!normalizer.frozen) normalizer.returns?.add(Array.from(live, (i) => [running[i]!]));
      for (const i of live) {
        rewards[i] = normalizer.reward(step.rewards[i]!);
        if (step.terminated[i] || step.truncated[i]) running[i] = 0;
      }
      live = step.live;
      return { ...scaled(step), rewards };
    },
    close: () => envs.close(),
  };
}

const vectorOf = (observation: NormalizableObservation) =>
  observation instanceof Float32Array ? observation : observation.observation;

/** Takes the observations of some copies into the statistics. */
function seen(normalizer: Normalizer, observations: readonly NormalizableObservation[], copies: Int32Array): void {
  if (normalizer.frozen) return;
  normalizer.observations?.add(Array.from(copies, (i) => vectorOf(observations[i]!)));
}

function scaledSpace<Observation>(space: Space<Observation>, { observations, clip }: Normalizer): Space<Observation> {
  if (!observations) return space;
  const { width } = observations;
  const scaled = box(new Float32Array(width).fill(-clip), new Float32Array(width).fill(clip));
  if (vectorLength(space) === width) {
    const mask = space.form?.kind === 'dict' ? space.form.fields.actionMask : undefined;
    return (mask?.kind === 'list' ? masked(scaled, mask.maxLength) : scaled) as unknown as Space<Observation>;
  }
  throw new WorkbenchError(
    'usage',
    `expected observations that are vectors of ${width} numbers, with a mask or without, got another observationSpace, at normalized`,
    { hint: 'Describe them by `box`, `vector` or `masked` of kgwalk/envs.' },
  );
}
