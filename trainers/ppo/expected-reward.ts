/**
 * The exact gradient that PPO estimates by sampling: one gold path earns the reward, so the expected reward of a sample
 * is the probability of that path, E[R] = Π_t π(a_t | s_t), and its gradient needs no walk. The yardstick of PPO's rows.
 */
import { setImmediate } from 'node:timers/promises';
import { actionLogProbs } from '../../agents/actor.js';
import type { Policy } from '../../agents/walker/policy.js';
import { walkerActor } from '../../agents/walker/walker-actor.js';
import { throwIfStopped } from '../../src/run/stop.js';
import type { Optimizer } from '../../src/tensor/trainable.js';
import { segmentLogSoftmax } from '../../src/tensor/categorical.js';
import { explainedLater, finiteLoss } from '../../src/tensor/diverged.js';
import type { GoldWalk } from '../cloning/gold-states.js';
import { lossesByWalk, type WalkShare } from '../cloning/losses-by-walk.js';
import type { PpoUpdate } from './ppo.js';
import { learningRateAt, sampleOrder } from './schedule.js';
import type { PpoSettings } from './settings.js';

/** What learns from which walks, from where on, and who is told. */
export interface ExpectedRewardOptions {
  policy: Policy;
  optimizer: Optimizer;
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
  const { walks, settings, seed, startUpdate = 0 } = options;
  const indices = Int32Array.from(walks.keys());
  const samplesOf = sampleOrder(indices, settings.samplesPerUpdate, seed);
  await options.policy.reader?.read(walks.flatMap(({ states }) => states));
  for (let update = startUpdate; update < settings.updates; update++) {
    throwIfStopped(options.signal);
    const chosen = samplesOf(update).map((i) => walks[i]!);
    const learningRate = learningRateAt(update, settings);
    const figures = await explainedLater(
      () => ({ place: { update: update + 1 } }),
      () => step(options, chosen, learningRate),
    );
    const metrics = { ...figures, 'train/learning_rate': learningRate };
    if (await options.onUpdate?.({ update: update + 1, steps: 0, metrics })) return;
    await setImmediate();
  }
}

/** @returns its figures by the field's names */
async function step(
  { policy, optimizer, anchor, settings: { klCoef } }: ExpectedRewardOptions,
  walks: readonly GoldWalk[],
  learningRate: number,
): Promise<Record<string, number>> {
  const requests = walks.flatMap((walk) => walk.states);
  const batch = policy.featurizer.batch(requests);
  const anchored = anchor && klCoef > 0 ? (await actionLogProbs(walkerActor(anchor), requests)).logProbs : undefined;
  const lossOf = ({ reward, anchorKl }: ExpectedReward) => klCoef * anchorKl - reward;
  let scores: Float32Array | undefined;
  let result: ExpectedReward | undefined;
  const lossOfWalk = ({ walk, begin, end, offsets }: WalkShare) =>
    lossOf(
      expectedRewardGradient(scores!.subarray(begin, end), offsets, [walk], anchored?.subarray(begin, end), klCoef),
    );
  const gradNorm = await explainedLater(
    () => ({
      ...(result && { loss: lossOf(result) }),
      ...(scores && { samples: lossesByWalk(walks, batch.offsets, lossOfWalk) }),
    }),
    () =>
      optimizer.minimize(
        [
          {
            outputs: () => policy.head.logits(batch),
            slope: (logits) => {
              scores = logits;
              result = expectedRewardGradient(logits, batch.offsets, walks, anchored, klCoef);
              finiteLoss(lossOf(result));
              return result.gradient;
            },
          },
        ],
        learningRate,
      ),
  );
  policy.head.weightsChanged();
  return {
    'rollout/reward': result!.reward,
    'train/loss': lossOf(result!),
    'train/anchor_kl': result!.anchorKl,
    'train/grad_norm': gradNorm,
  };
}

/** Mean expected reward in [0, 1], mean KL from the clone in nats, and the loss by each logit. */
export interface ExpectedReward {
  reward: number;
  anchorKl: number;
  /** float32 [number of actions] */
  gradient: Float32Array;
}

/**
 * Gradient of −mean E[R] + klCoef · mean KL(π ‖ clone) by each logit.
 * @param walks whose states are the segments of the logits, in order
 */
export function expectedRewardGradient(
  logits: Float32Array,
  offsets: Int32Array,
  walks: readonly GoldWalk[],
  anchored: Float32Array | undefined,
  klCoef: number,
): ExpectedReward {
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
