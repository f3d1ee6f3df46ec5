/**
 * The exact gradient that PPO estimates by sampling: only the gold path is rewarded, so the expected reward of a sample is the probability
 * of that path, E[R] = Π_t π(a_t | s_t), and its gradient needs no walk. Reference for PPO's results.
 */
import { actionLogProbs } from '../../trainers/actor.js';
import type { StateRequest } from './features/featurizer.js';
import { segmentLogSoftmax } from '../../src/nn/categorical.js';
import { finiteLoss } from '../../src/nn/diverged.js';
import type { GoldWalk } from './demonstrations.js';
import { learningRateAt, type PpoOptions, type PpoUpdate } from '../../trainers/ppo.js';
import { sampleOrder } from '../../trainers/rollout.js';

/** Networks and demonstrations. */
interface ExpectedRewardOptions extends Pick<
  PpoOptions<never, StateRequest>,
  'actor' | 'optimizer' | 'referencePolicy' | 'settings' | 'seed'
> {
  /** Gold walks of train. */
  walks: readonly GoldWalk[];
}

/** Maximises the mean probability of gold walks, with PPO's schedule and reference policy; one step per update. */
export class ExpectedRewardTrainer {
  readonly #samplesOf: (update: number) => number[];

  constructor(readonly options: ExpectedRewardOptions) {
    const { walks, settings, seed } = options;
    this.#samplesOf = sampleOrder(Int32Array.from(walks.keys()), settings.samplesPerUpdate, seed);
  }

  async prepare(): Promise<void> {
    const { actor, walks } = this.options;
    await actor.prepare?.(walks.flatMap(({ states }) => states));
  }

  /** One update. @param at from 0 */
  async step(at: number): Promise<PpoUpdate> {
    const { walks, settings } = this.options;
    const chosen = this.#samplesOf(at).map((i) => walks[i]!);
    const learningRate = learningRateAt(at, settings);
    const metrics = { ...(await step(this.options, chosen, learningRate)), 'train/learning_rate': learningRate };
    return { steps: 0, metrics };
  }
}

/** @returns its figures by metric name */
async function step(
  { actor, optimizer, referencePolicy, settings: { klCoef } }: ExpectedRewardOptions,
  walks: readonly GoldWalk[],
  learningRate: number,
): Promise<Record<string, number>> {
  const requests = walks.flatMap((walk) => walk.states);
  const { offsets, logits } = actor.score(requests);
  const anchored =
    referencePolicy && klCoef > 0 ? (await actionLogProbs(referencePolicy, requests)).logProbs : undefined;
  const lossOf = ({ reward, anchorKl }: ExpectedReward) => klCoef * anchorKl - reward;
  const outputs = logits();
  const result = expectedRewardGradient(await outputs.read(), offsets, walks, anchored, klCoef);
  finiteLoss(lossOf(result));
  optimizer.zeroGrad();
  outputs.backward(result.gradient);
  const gradNorm = await optimizer.step(learningRate);
  actor.weightsChanged();
  return {
    'rollout/reward': result.reward,
    'train/loss': lossOf(result),
    'train/anchor_kl': result.anchorKl,
    'train/grad_norm': gradNorm,
  };
}

/** Mean expected reward in [0, 1], mean KL from the clone in nats, and the gradient by logit. */
interface ExpectedReward {
  reward: number;
  anchorKl: number;
  /** float32 [number of actions] */
  gradient: Float32Array;
}

/**
 * Gradient of −mean E[R] + klCoef · mean KL(π ‖ clone) with respect to each logit.
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
