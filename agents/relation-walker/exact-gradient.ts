/**
 * The exact gradient that PPO, REINFORCE and their group baselines estimate by sampling, over the tree of all walks of a question. With
 * d(s) the probability of a state, Q the expected reward behind an action and V = Σ π Q,
 *
 *   ∂E[R] / ∂z(s, a) = d(s) · π(a | s) · (Q(s, a) − V(s)).
 *
 * @source the policy gradient theorem, Sutton et al. 1999, with all its sums taken
 */
import {
  answerReward,
  applyRelation,
  initialRelationState,
  relationActionMask,
  type RelationWalkState,
  scoreFrontier,
} from '../../envs/relation-walk/rules.js';
import { questionRoot, type RelationWalkWorld } from '../../envs/relation-walk/relation-walk-env.js';
import { finiteLoss } from '../../src/nn/diverged.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { actionLogProbs, nthLegal, runsOf } from '../../trainers/actor.js';
import { entropyCoefAt, learningRateAt, type PpoOptions, type PpoUpdate } from '../../trainers/ppo.js';
import { scatter } from '../../trainers/ppo-loss.js';
import { sampleOrder } from '../../trainers/rollout.js';
import type { RelationRequest } from './network.js';

/** States of a round, beyond which the tree is refused. */
const mostStates = 50_000;

/** All walks of some questions: states before those behind them. */
export interface WalkTrees {
  states: RelationRequest[];
  /** By state and legal action: the state behind it, or -1 where the walk ends. */
  next: Int32Array[];
  /** By state and legal action: reward of the end. */
  rewards: Float64Array[];
  /** Indices of the first states. */
  roots: number[];
}

interface WalkTreeOptions extends Pick<
  PpoOptions<never, RelationRequest>,
  'actor' | 'optimizer' | 'referencePolicy' | 'settings' | 'seed'
> {
  world: RelationWalkWorld;
}

/** Maximises the expected reward of train questions, with PPO's schedule, reference policy and entropy bonus; one step per update. */
export class WalkTreeTrainer {
  readonly #samplesOf: (update: number) => number[];

  constructor(readonly options: WalkTreeOptions) {
    const { world, settings, seed } = options;
    this.#samplesOf = sampleOrder(world.walkable, settings.samplesPerUpdate, seed);
  }

  /** One update. @param at from 0 @throws WorkbenchError `config` for a tree of too many states; Diverged before one that is not finite */
  async step(at: number): Promise<PpoUpdate> {
    const { actor, optimizer, referencePolicy, settings, seed, world } = this.options;
    actor.drop?.(Rng.named(seed, 'ppo/network-dropout', at));
    const trees = walkTrees(world, this.#samplesOf(at));
    const { logProbs, offsets } = await actionLogProbs(actor, trees.states);
    const near =
      referencePolicy && settings.klCoef > 0 ? await actionLogProbs(referencePolicy, trees.states) : undefined;
    const weights = { klCoef: settings.klCoef, entropyCoef: entropyCoefAt(at, settings) };
    const { gradient, ...figures } = expectedReward(trees, logProbs, offsets, near?.logProbs, weights);
    const loss = finiteLoss(weights.klCoef * figures.anchorKl - weights.entropyCoef * figures.entropy - figures.reward);
    optimizer.zeroGrad();
    const sizes = trees.states.map((state) => actor.numScores(state));
    for (const [begin, end] of runsOf(sizes, actor.maxScoresPerBatch)) {
      const { masked, logits } = actor.score(trees.states.slice(begin, end));
      const own = gradient.subarray(offsets[begin]!, offsets[end]!);
      const outputs = logits();
      outputs.backward(masked ? scatter(own, masked.legal, new Float32Array(masked.scoredOffsets.at(-1)!)) : own);
    }
    const learningRate = learningRateAt(at, settings);
    const gradNorm = await optimizer.step(learningRate);
    actor.weightsChanged();
    actor.drop?.(undefined);
    return {
      steps: 0,
      metrics: {
        'rollout/reward': figures.reward,
        'train/loss': loss,
        'train/entropy': figures.entropy,
        'train/anchor_kl': figures.anchorKl,
        'train/grad_norm': gradNorm,
        'train/learning_rate': learningRate,
      },
    };
  }
}

/** @throws WorkbenchError `config` for more than 50,000 states */
export function walkTrees(world: RelationWalkWorld, samples: readonly number[]): WalkTrees {
  const trees: WalkTrees = { states: [], next: [], rewards: [], roots: [] };
  const open: RelationWalkState[] = [];
  const add = (state: RelationWalkState, sample: number): number => {
    const mask = relationActionMask(state);
    const legal = mask.reduce((sum, one) => sum + one, 0);
    trees.states.push({ task: world.samples[sample]!.task, relations: state.node.relations, mask });
    trees.next.push(new Int32Array(legal).fill(-1));
    trees.rewards.push(new Float64Array(legal));
    return open.push(state) - 1;
  };
  for (const sample of samples) {
    const { task } = world.samples[sample]!;
    const root = add(initialRelationState(questionRoot(world.frontiers, task), world.rules, task.hops), sample);
    trees.roots.push(root);
    for (let s = root; s < open.length; s++) {
      if (open.length > mostStates) throw tooMany();
      for (let i = 0; i < trees.next[s]!.length; i++) {
        const state = applyRelation(open[s]!, nthLegal(trees.states[s]!.mask, i));
        if (!state.done) trees.next[s]![i] = add(state, sample);
        else trees.rewards[s]![i] = answerReward(world.reward, scoreFrontier(state.node.frontier, world.golds(sample)));
      }
    }
  }
  return trees;
}

function tooMany(): WorkbenchError {
  const message = `expected at most ${mostStates} states in all walks of a round with ppo.gradient=exact, got more`;
  return new WorkbenchError('config', message, {
    hint: 'Lower ppo.samplesPerUpdate or relationWalk.horizon, or sample walks with ppo.gradient=sampled.',
  });
}

/** Figures of some trees, means over their questions; KL and entropy in nats, means over visited states. */
export interface ExpectedReward {
  reward: number;
  anchorKl: number;
  entropy: number;
  /** Gradient of −E[R] + klCoef · KL − entropyCoef · entropy by logit, float32 [legal actions of all states]. */
  gradient: Float32Array;
}

/**
 * @param logProbs of the legal actions of all states
 * @param near the same of the reference policy; probabilities of states count as constants in means
 */
export function expectedReward(
  { next, rewards, roots }: Omit<WalkTrees, 'states'>,
  logProbs: Float32Array,
  offsets: Int32Array,
  near: Float32Array | undefined,
  { klCoef, entropyCoef }: { klCoef: number; entropyCoef: number },
): ExpectedReward {
  const count = next.length;
  const values = new Float64Array(count);
  const behind = (s: number, i: number) => (next[s]![i]! < 0 ? rewards[s]![i]! : values[next[s]![i]!]!);
  for (let s = count - 1; s >= 0; s--) {
    for (let i = 0; i < next[s]!.length; i++) values[s]! += Math.exp(logProbs[offsets[s]! + i]!) * behind(s, i);
  }
  const reached = new Float64Array(count);
  for (const root of roots) reached[root] = 1 / roots.length;
  let visited = 0;
  for (let s = 0; s < count; s++) {
    visited += reached[s]!;
    next[s]!.forEach((to, i) => {
      if (to >= 0) reached[to]! += reached[s]! * Math.exp(logProbs[offsets[s]! + i]!);
    });
  }
  const result = { reward: 0, anchorKl: 0, entropy: 0, gradient: new Float32Array(logProbs.length) };
  for (const root of roots) result.reward += values[root]! / roots.length;
  for (let s = 0; s < count; s++) {
    let [kl, entropy] = [0, 0];
    for (let at = offsets[s]!; at < offsets[s + 1]!; at++) {
      const logProb = logProbs[at]!;
      entropy -= Math.exp(logProb) * logProb;
      if (near) kl += Math.exp(logProb) * (logProb - near[at]!);
    }
    const share = reached[s]! / visited;
    result.anchorKl += share * kl;
    result.entropy += share * entropy;
    for (let at = offsets[s]!, i = 0; at < offsets[s + 1]!; at++, i++) {
      const logProb = logProbs[at]!;
      const towards = -reached[s]! * (behind(s, i) - values[s]!);
      const away = near ? klCoef * share * (logProb - near[at]! - kl) : 0;
      result.gradient[at] = Math.exp(logProb) * (towards + away + entropyCoef * share * (logProb + entropy));
    }
  }
  return result;
}
