/** One gradient step of actor and critic on one minibatch, part by part. */
import { type ActionLogProbs, type Actor, pickRequests, runsOf, type ValueNetwork } from './actor.js';
import type { AdamW } from '../src/nn/adamw.js';
import type { ObjectiveWeights } from '../src/nn/executor.js';
import { type ObjectiveResult, ppoObjective } from './ppo-loss.js';
import { joined } from '../src/nn/categorical.js';
import { type Minibatch, pickTransitions, type Rollout } from './rollout-buffer.js';
import type { PpoSettings } from './ppo-settings.js';

/** Networks updated by PPO: a policy, and a critic if there is one. */
export interface ActorCritic<Observation, Request> {
  actor: Actor<Observation, Request>;
  optimizer: AdamW;
  /** With its optimizer; needed by `baseline: critic` alone. */
  critic?: { network: ValueNetwork<Request>; optimizer: AdamW } | undefined;
}

/** Figures of one gradient step. */
export interface StepResult {
  /** By metric name. */
  figures: Record<string, number>;
  maxRatioDeviation: number;
}

/** Input of a gradient step. */
export interface StepBatch<Request> {
  round: Pick<Rollout<Request>, 'states'>;
  minibatch: Minibatch;
  /** Log-probabilities of all actions under the frozen clone. */
  reference: ActionLogProbs | undefined;
}

/** @throws Diverged for numbers that are not finite, before the network concerned is changed; the actor steps before the critic */
export async function ppoStep<Observation, Request>(
  networks: ActorCritic<Observation, Request>,
  batch: StepBatch<Request>,
  settings: ObjectiveWeights,
  learningRate: number,
): Promise<StepResult> {
  const { actor, optimizer, critic } = networks;
  const { round, reference } = batch;
  const parts = partsOf(actor, batch);
  const results: ObjectiveResult[] = [];
  optimizer.zeroGrad();
  critic?.optimizer.zeroGrad();
  for (const { states, transitions, share } of parts) {
    const requests = pickRequests(round.states, states);
    const { offsets, masked, logits } = actor.score(requests);
    const scores = logits();
    const estimates = critic?.network.values(requests)();
    const [read, values] = await Promise.all([scores.read(), estimates?.read()]);
    const referenceLogProbs = reference && gatherSegments(reference, states);
    const input = { logits: read, offsets, transitions, masked, values, referenceLogProbs };
    const result = ppoObjective(input, settings);
    results.push(result);
    scores.backward(scaled(result.dLogits, share));
    estimates?.backward(scaled(result.dValues, share));
  }
  const gradNorm = await optimizer.step(learningRate);
  actor.weightsChanged();
  await critic?.optimizer.step(learningRate);
  return stepResult(results, parts, settings.algorithm, gradNorm);
}

/** Parts of a minibatch that go through the networks at once. */
export function partsOf<Request>(
  actor: Pick<Actor<never, Request>, 'numScores' | 'maxScoresPerBatch'>,
  { round, minibatch }: StepBatch<Request>,
): MinibatchPart[] {
  const sizes = pickRequests(round.states, minibatch.states).map((request) => actor.numScores(request));
  return microbatches(minibatch, sizes, actor.maxScoresPerBatch);
}

function scaled(gradient: Float32Array, share: number): Float32Array {
  return share === 1 ? gradient : gradient.map((value) => value * share);
}

/** Log-probabilities of some states, concatenated. */
export function gatherSegments({ logProbs, offsets }: ActionLogProbs, states: Int32Array): Float32Array {
  return joined(Array.from(states, (state) => logProbs.subarray(offsets[state]!, offsets[state + 1]!)));
}

/** Loss and change of the policy of one part. */
export type PartResult = Pick<ObjectiveResult, 'losses' | 'diagnostics'>;

/** Figures of a step by metric name, parts weighted by their share of transitions. */
export function stepResult(
  results: readonly PartResult[],
  parts: readonly Pick<MinibatchPart, 'share'>[],
  algorithm: PpoSettings['algorithm'],
  gradNorm: number,
): StepResult {
  const mean = (of: (result: PartResult) => number) =>
    results.reduce((sum, result, i) => sum + parts[i]!.share * of(result), 0);
  const figures = {
    'train/loss': mean(({ losses }) => losses.loss),
    'train/policy_loss': mean(({ losses }) => losses.policyLoss),
    'train/value_loss': mean(({ losses }) => losses.valueLoss),
    'train/entropy': mean(({ losses }) => losses.entropy),
    'train/entropy_share': mean(({ diagnostics }) => diagnostics.normalizedEntropy),
    'train/anchor_kl': mean(({ losses }) => losses.anchorKl),
    'train/feasibility_loss': mean(({ losses }) => losses.feasibilityLoss),
    // REINFORCE takes one step on new walks: its ratios are all 1.
    ...(algorithm === 'ppo' && {
      'train/approx_kl': mean(({ diagnostics }) => diagnostics.approxKl),
      'train/clip_fraction': mean(({ diagnostics }) => diagnostics.clipFraction),
    }),
    'train/grad_norm': gradNorm,
  };
  const maxRatioDeviation = Math.max(...results.map(({ diagnostics }) => diagnostics.maxRatioDeviation));
  return { figures, maxRatioDeviation };
}

/** Some states of a minibatch, and their share of its transitions. */
export interface MinibatchPart extends Minibatch {
  /** Share of the minibatch's transitions; the weight of the part's means. */
  share: number;
}

/**
 * Consecutive ranges of states, each with the transitions that visit them. A minibatch below the limit is one part.
 * @param numActions legal actions of each state of the minibatch
 * @param maxActions actions per part; a single state may exceed it
 */
export function microbatches(
  minibatch: Minibatch,
  numActions: readonly number[],
  maxActions: number | undefined,
): MinibatchPart[] {
  const runs = runsOf(numActions, maxActions);
  if (runs.length === 1) return [{ ...minibatch, share: 1 }];
  const partOf = new Int32Array(numActions.length);
  runs.forEach(([begin, end], part) => partOf.fill(part, begin, end));
  const rows: number[][] = runs.map(() => []);
  minibatch.transitions.state.forEach((state, row) => rows[partOf[state]!]!.push(row));
  return runs.map(([begin, end], part) => {
    const transitions = pickTransitions(minibatch.transitions, rows[part]!);
    transitions.state.forEach((state, i) => (transitions.state[i] = state - begin));
    const share = transitions.state.length / minibatch.transitions.state.length;
    return { states: minibatch.states.subarray(begin, end), share, transitions };
  });
}
