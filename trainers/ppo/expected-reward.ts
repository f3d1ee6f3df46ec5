/**
 * The exact gradient that PPO estimates by sampling: one gold path earns the reward, so the expected reward of a sample
 * is the probability of that path, E[R] = Π_t π(a_t | s_t), and its gradient needs no walk. The yardstick of PPO's rows.
 */
import { actionLogProbs, type Policy } from '../../agents/walker/policy.js';
import { throwIfStopped } from '../../src/run/stop.js';
import type { AdamW } from '../../src/tensor/adamw.js';
import { segmentLogSoftmax } from '../../src/tensor/categorical.js';
import { injectGradient } from '../../src/tensor/ops.js';
import type { GoldWalk } from '../cloning/gold-states.js';
import type { PpoUpdate } from './ppo.js';
import { learningRateAt, samplesOf } from './schedule.js';
import type { PpoSettings } from './settings.js';

export interface ExpectedRewardOptions {
  policy: Policy;
  optimizer: AdamW;
  /** The frozen clone; needed where `klCoef` > 0. */
  anchor?: Policy | undefined;
  /** Gold walks of train. */
  walks: readonly GoldWalk[];
  settings: PpoSettings;
  seed: number;
  /** Updates done before, by the run that is resumed. Default 0. */
  startUpdate?: number;
  /** After every update; returning true ends training. */
  onUpdate?: (update: PpoUpdate) => Promise<boolean | void> | boolean | void;
  signal?: AbortSignal | undefined;
}

/** Maximises the mean probability of gold walks, with PPO's schedule and anchor; one step an update. */
export async function expectedReward(options: ExpectedRewardOptions): Promise<void> {
  const { policy, optimizer, anchor, walks, settings, seed, startUpdate = 0 } = options;
  const { tf } = policy.head.parameters;
  const indices = Int32Array.from(walks.keys());
  for (let update = startUpdate; update < settings.updates; update++) {
    throwIfStopped(options.signal);
    const chosen = samplesOf(update, indices, settings.samplesPerUpdate, seed).map((i) => walks[i]!);
    const requests = chosen.flatMap((walk) => walk.states);
    const batch = policy.featurizer.batch(requests);
    const anchored = anchor && settings.klCoef > 0 ? actionLogProbs(anchor, requests).logProbs : undefined;
    const learningRate = learningRateAt(update, settings);
    let result = { reward: 0, anchorKl: 0 };
    const gradNorm = optimizer.minimize(
      [
        () => {
          const logits = policy.head.logits(batch);
          const objective = expectedRewardGradient(
            logits.dataSync() as Float32Array,
            batch.offsets,
            chosen,
            anchored,
            settings.klCoef,
          );
          result = objective;
          return injectGradient(tf, logits, objective.gradient);
        },
      ],
      learningRate,
    );
    policy.head.weightsChanged();
    const metrics = {
      'rollout/reward': result.reward,
      'train/loss': settings.klCoef * result.anchorKl - result.reward,
      'train/anchor_kl': result.anchorKl,
      'train/grad_norm': gradNorm,
      'train/learning_rate': learningRate,
    };
    if (await options.onUpdate?.({ update: update + 1, steps: 0, metrics })) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Gradient of −mean E[R] + klCoef · mean KL(π ‖ clone) by each logit.
 * @param walks whose states are the segments of the logits, in order
 * @returns the mean expected reward in [0, 1], the mean KL in nats, and float32 [numActions]
 */
export function expectedRewardGradient(
  logits: Float32Array,
  offsets: Int32Array,
  walks: readonly GoldWalk[],
  anchored: Float32Array | undefined,
  klCoef: number,
): { reward: number; anchorKl: number; gradient: Float32Array } {
  const logProbs = segmentLogSoftmax(logits, offsets);
  const gradient = new Float32Array(logits.length);
  const numStates = offsets.length - 1;
  let reward = 0;
  let anchorKl = 0;
  let s = 0;
  for (const { states } of walks) {
    const probability = Math.exp(states.reduce((sum, { gold }, i) => sum + logProbs[offsets[s + i]! + gold]!, 0));
    reward += probability / walks.length;
    for (const { gold } of states) {
      const begin = offsets[s]!;
      const end = offsets[++s]!;
      let kl = 0;
      if (anchored) for (let i = begin; i < end; i++) kl += Math.exp(logProbs[i]!) * (logProbs[i]! - anchored[i]!);
      anchorKl += kl / numStates;
      for (let i = begin; i < end; i++) {
        const p = Math.exp(logProbs[i]!);
        gradient[i] = (probability / walks.length) * p;
        if (anchored) gradient[i]! += (klCoef / numStates) * p * (logProbs[i]! - anchored[i]! - kl);
      }
      gradient[begin + gold]! -= probability / walks.length;
    }
  }
  return { reward, anchorKl, gradient };
}
