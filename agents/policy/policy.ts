/** A policy over vectors: the networks of the settings or the user's own, and the statistics that its observations need. */
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import { Normalizer } from '../../envs/wrappers/normalizer.js';
import type { Actor, ValueNetwork } from '../actor.js';
import { mlpActor, mlpCritic } from './mlp.js';
import type { PolicySettings } from './settings.js';
import type { PolicyShape, VectorObservation } from './spaces.js';
import { readStatistics } from './statistics.js';

/** An actor over vectors with its critic. */
export interface PolicyNetworks {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what it keeps of an observation is its own business
  actor: Actor<VectorObservation, any>;
  /** Needed with `ppo.baseline=critic`. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  critic?: ValueNetwork<any> | undefined;
}

/** Makes the networks of a run. @param seed of their weights; undefined: they are loaded */
export type MakePolicy = (shape: PolicyShape, seed: number | undefined) => PolicyNetworks;

/** Dense layers by the settings. */
export const mlpPolicy =
  ({ hidden }: Pick<PolicySettings, 'hidden'>): MakePolicy =>
  (shape, seed) => ({ actor: mlpActor(shape, hidden, seed), critic: mlpCritic(shape, hidden, seed) });

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
  make: MakePolicy = mlpPolicy(settings),
): TrainedPolicy {
  const { actor, critic } = make(shape, undefined);
  critic?.dispose();
  actor.parameters.import(tensors);
  actor.weightsChanged();
  const normalizer = normalizerOf(shape, { ...settings, normalizeReward: false });
  readStatistics(normalizer, tensors);
  if (normalizer) normalizer.frozen = true;
  return { actor, normalizer };
}
