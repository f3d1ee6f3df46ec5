/** A policy over vectors: the networks of the settings or the user's own, and the statistics that its observations need. */
import { type Checkpoint, optimizerPrefix } from '../../checkpoints/checkpoint.js';
import type { Tensor } from '../../checkpoints/safetensors.js';
import { Normalizer, type NormalizerState } from '../../envs/wrappers/normalizer.js';
import type { Executor } from '../../src/nn/executor.js';
import type { Actor, ValueNetwork } from '../../trainers/actor.js';
import { mlpActor, mlpCritic } from './mlp.js';
import type { PolicySettings, PolicyShape, VectorObservation } from './spaces.js';

/** An actor over vectors with its critic. */
export interface PolicyNetworks {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what it keeps of an observation is its own business
  actor: Actor<VectorObservation, any>;
  /** Needed with `ppo.baseline=critic`. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  critic?: ValueNetwork<any> | undefined;
}

/**
 * Makes the networks of a run.
 * @param seed of their weights; undefined: they are loaded
 * @param executor of the run; networks may be computed by another, as `mlp` by SIMD kernels unless it is given this one
 */
export type MakePolicy = (shape: PolicyShape, seed: number | undefined, executor?: Executor) => PolicyNetworks;

/** Dense layers by the settings. */
export const mlpPolicy =
  ({ hidden }: Pick<PolicySettings, 'hidden'>): MakePolicy =>
  (shape, seed, executor) => ({
    actor: mlpActor(shape, hidden, { seed, executor }),
    critic: mlpCritic(shape, hidden, { seed, executor }),
  });

/** Normalizer of the settings; undefined without normalisation. */
export function normalizerOf(
  { inputs }: Pick<PolicyShape, 'inputs'>,
  { normalizeObservation, normalizeReward }: Pick<PolicySettings, 'normalizeObservation' | 'normalizeReward'>,
  gamma = 0.99,
): Normalizer | undefined {
  if (!normalizeObservation && !normalizeReward) return undefined;
  return new Normalizer(inputs, { observations: normalizeObservation, rewards: normalizeReward, gamma });
}

/** A policy that acts and learns no more; dispose its actor. */
export interface TrainedPolicy extends PolicyNetworks {
  normalizer?: Normalizer | undefined;
}

/** A trained policy with the weights of a checkpoint. @throws WorkbenchError `data` for those of other networks */
export function restoredPolicy(
  shape: PolicyShape,
  settings: PolicySettings,
  { tensors }: Pick<Checkpoint, 'tensors'>,
  { make = mlpPolicy(settings), executor }: { make?: MakePolicy | undefined; executor?: Executor | undefined } = {},
): TrainedPolicy {
  const { actor, critic } = make(shape, undefined, executor);
  critic?.dispose();
  actor.parameters.import(tensors);
  actor.weightsChanged();
  const normalizer = normalizerOf(shape, { ...settings, normalizeReward: false });
  readStatistics(normalizer, tensors);
  if (normalizer) normalizer.frozen = true;
  return { actor, normalizer };
}

/** Statistics of observations belong to the weights; those of returns are what training alone needs, as optimizers are. */
const names = { observations: 'normalizer/observations', returns: `${optimizerPrefix}normalizer/returns` };

type Moments = NonNullable<NormalizerState['observations']>;

/** The statistics as tensors of a checkpoint, float64 each: means, variances, count. */
export function statisticsTensors(normalizer: Normalizer | undefined): Record<string, Tensor> {
  const { observations, returns } = normalizer?.export() ?? {};
  const flat = ({ mean, variance, count }: Moments): Tensor => {
    const data = Float64Array.from([...mean, ...variance, count]);
    return { shape: [data.length], data };
  };
  return {
    ...(observations && { [names.observations]: flat(observations) }),
    ...(returns && { [names.returns]: flat(returns) }),
  };
}

/** Gives a normalizer the statistics of a checkpoint. @throws WorkbenchError `data` where there are none, or others */
export function readStatistics(normalizer: Normalizer | undefined, tensors: Checkpoint['tensors']): void {
  if (!normalizer) return;
  const of = (name: string): Moments | undefined => {
    const data = tensors[name] && Array.from(tensors[name].data as Float64Array);
    if (!data) return undefined;
    const width = (data.length - 1) / 2;
    return { mean: data.slice(0, width), variance: data.slice(width, 2 * width), count: data.at(-1)! };
  };
  normalizer.import({ observations: of(names.observations), returns: of(names.returns) });
}
