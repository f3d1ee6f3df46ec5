/**
 * PPO's loss and its exact gradient with respect to logits and values, on the host. The network belongs to the caller,
 * which passes logits of ragged action lists and feeds the gradient into its own backward pass.
 */
import { legalScores, type MaskedActions } from './actor.js';
import { WorkbenchError } from '../src/run/errors.js';
import { exponentials, segmentLogSoftmax } from '../src/nn/categorical.js';
import { finiteLoss } from '../src/nn/diverged.js';
import type { ObjectiveWeights } from '../src/nn/executor.js';

/** Transitions column by column, all of one length; several may share a state. */
export interface Transitions {
  /** int32: segment of the logits. */
  state: Int32Array;
  /** int32: index in the state's action list. */
  action: Int32Array;
  /** Log-probability when the action was drawn. */
  oldLogProb: Float32Array;
  /** Critic's value when the action was drawn; read by the value clip only. */
  oldValue: Float32Array;
  advantage: Float32Array;
  returns: Float32Array;
}

/** States, their actions, and the networks' current outputs. */
export interface ObjectiveInput {
  /** float32 [numActions of all states]; with `masked`, illegal actions included. */
  logits: Float32Array;
  /** int32 [numStates + 1]: legal actions of state `s` are `offsets[s] .. offsets[s + 1] - 1`. */
  offsets: Int32Array;
  /** Indices of the legal actions' logits; absent: all of them, in order. */
  masked?: MaskedActions | undefined;
  /** float32 [numStates]; without it there is no value loss. */
  values?: Float32Array | undefined;
  /** float32 [number of legal actions]: the clone's log-probabilities of the same actions; needed if `klCoef` > 0. */
  referenceLogProbs?: Float32Array | undefined;
  transitions: Transitions;
}

/** Means over transitions, in float64. */
interface PpoLosses {
  /** Objective to minimise: policyLoss + valueCoef·valueLoss − entropyCoef·entropy + klCoef·anchorKl + feasibilityCoef·feasibilityLoss. */
  loss: number;
  policyLoss: number;
  /** Mean squared error, not halved. */
  valueLoss: number;
  /** Nats. */
  entropy: number;
  /** Exact KL(policy ‖ clone) of the visited states, nats; 0 without a reference policy. */
  anchorKl: number;
  /** Minus the log-probability of a legal action before the mask, nats; 0 if only legal actions are scored. */
  feasibilityLoss: number;
}

/** Change of the policy since its rollout. */
interface PpoDiagnostics {
  /** Estimate of KL(old ‖ new): mean of (ratio − 1) − log ratio, never negative. */
  approxKl: number;
  /** Share of transitions whose ratio lies outside the clip range. */
  clipFraction: number;
  /** Mean of entropy / log|A| over transitions with a choice, in [0, 1]. */
  normalizedEntropy: number;
  /** Largest |ratio − 1|: at most 1e-6 before the first update of a round, else sampling and training disagree. */
  maxRatioDeviation: number;
}

/** The loss with its gradient. */
export interface ObjectiveResult {
  losses: PpoLosses;
  diagnostics: PpoDiagnostics;
  /** float32, as long as the logits: ∂loss/∂logits. */
  dLogits: Float32Array;
  /** float32 [numStates]: ∂loss/∂values; zeros without values. */
  dValues: Float32Array;
}

/**
 * The clipped surrogate, or that of REINFORCE, with value loss, entropy bonus and a KL penalty towards the reference policy. A state
 * visited by n of N transitions has weight n / N in every mean.
 * @source Schulman et al. 2017, "Proximal policy optimization algorithms", eq. 7 and 9; dual clip: Ye et al. 2020,
 * arXiv:1912.09729, eq. 5; Williams 1992; KL estimate: Schulman 2020, k3
 * @throws WorkbenchError `failure` for no transitions, an action that is not legal or a missing reference policy; `Diverged` for
 * logits or a loss that are not finite
 */
export function ppoObjective(input: ObjectiveInput, settings: ObjectiveWeights): ObjectiveResult {
  const { logits, offsets, masked, transitions } = input;
  const count = transitions.state.length;
  if (count === 0) throw new WorkbenchError('failure', 'expected transitions, got none, at ppoObjective');
  const logProbs = segmentLogSoftmax(legalScores(logits, masked), offsets);
  const dLegal = new Float64Array(logProbs.length);
  const { weights, pulls, policyLoss, ...diagnostics } = surrogate(logProbs, offsets, transitions, settings, dLegal);
  const dValues = new Float64Array(offsets.length - 1);
  const valueLoss = input.values ? criticLoss(input.values, transitions, settings, dValues) : 0;
  const { entropy, normalizedEntropy, anchorKl } = listTerms(logProbs, input, weights, pulls, settings, dLegal);
  const dLogits = masked ? scatter(dLegal, masked.legal, new Float64Array(logits.length)) : dLegal;
  const { feasibilityCoef } = settings;
  const infeasible = masked ? feasibilityLoss(logits, masked, offsets, weights, feasibilityCoef, dLogits) : 0;
  const losses = withLoss({ policyLoss, valueLoss, entropy, anchorKl, feasibilityLoss: infeasible }, settings);
  finiteLoss(losses.loss);
  return {
    losses,
    diagnostics: { ...diagnostics, normalizedEntropy },
    dLogits: new Float32Array(dLogits),
    dValues: new Float32Array(dValues),
  };
}

/**
 * −mean(min(ratio·A, clip(ratio)·A)), or −mean(A·log π) by REINFORCE; adds the gradient of each chosen action, and
 * returns each state's sum of gradients and weight.
 */
function surrogate(
  logProbs: Float32Array,
  offsets: Int32Array,
  { state, action, oldLogProb, advantage }: Transitions,
  { algorithm, clipRange, dualClip }: ObjectiveWeights,
  dLogits: Float64Array,
) {
  const count = state.length;
  const pulls = new Float64Array(offsets.length - 1);
  const weights = new Float64Array(offsets.length - 1);
  let policyLoss = 0;
  let approxKl = 0;
  let clipFraction = 0;
  let maxRatioDeviation = 0;
  for (let t = 0; t < count; t++) {
    const s = state[t]!;
    const chosen = offsets[s]! + action[t]!;
    if (!(action[t]! >= 0 && chosen < offsets[s + 1]!)) {
      throw new WorkbenchError(
        'failure',
        `expected a legal action, got ${action[t]} of state ${s}, at transition ${t}`,
      );
    }
    // r(θ) = π(a | s) / π_old(a | s), section 3.
    const logRatio = logProbs[chosen]! - oldLogProb[t]!;
    const ratio = Math.exp(logRatio);
    // Equation 7.
    const free = ratio * advantage[t]!;
    const clipped = Math.min(Math.max(ratio, 1 - clipRange), 1 + clipRange) * advantage[t]!;
    // ∂loss/∂log π of the chosen action.
    let pull = 0;
    if (algorithm === 'reinforce') {
      policyLoss -= (advantage[t]! * logProbs[chosen]!) / count;
      pull = advantage[t]! / count;
    } else {
      // Upper bound of a bad action's cost, on the side where the ratio has none: Ye et al. 2020, equation 5.
      const least = dualClip !== null && advantage[t]! < 0 ? dualClip * advantage[t]! : -Infinity;
      policyLoss -= Math.max(Math.min(free, clipped), least) / count;
      if (free <= clipped && free >= least) pull = free / count;
    }
    dLogits[chosen]! -= pull;
    pulls[s]! -= pull;
    weights[s]! += 1 / count;
    approxKl += (ratio - 1 - logRatio) / count;
    if (Math.abs(ratio - 1) > clipRange) clipFraction += 1 / count;
    maxRatioDeviation = Math.max(maxRatioDeviation, Math.abs(ratio - 1));
  }
  return { weights, pulls, policyLoss, approxKl, clipFraction, maxRatioDeviation };
}

/** L^VF of equation 9: mean squared error; with a value clip the larger of the free and the clipped one, so that clipping never helps. */
function criticLoss(
  values: Float32Array,
  { state, returns, oldValue }: Transitions,
  { clipRangeValue, valueCoef }: ObjectiveWeights,
  dValues: Float64Array,
): number {
  const count = state.length;
  let loss = 0;
  for (let t = 0; t < count; t++) {
    const value = values[state[t]!]!;
    const error = value - returns[t]!;
    let squared = error ** 2;
    let grad = 2 * error;
    if (clipRangeValue !== null && Math.abs(value - oldValue[t]!) > clipRangeValue) {
      const clipped = oldValue[t]! + Math.sign(value - oldValue[t]!) * clipRangeValue - returns[t]!;
      if (clipped ** 2 > squared) {
        squared = clipped ** 2;
        grad = 0;
      }
    }
    loss += squared / count;
    dValues[state[t]!]! += (valueCoef * grad) / count;
  }
  return loss;
}

/**
 * S of equation 9, the mean entropy H, and the penalty of equation 8, the mean K = Σ p (log p − log q) to the reference policy, over the whole action list, not the drawn action alone. Adds their gradients,
 * ∂H/∂z = −p (log p + H) and ∂K/∂z = p (log p − log q − K), and those of the chosen actions by the rest of their lists:
 * log π(a) = z(a) − logsumexp(z).
 */
function listTerms(
  logProbs: Float32Array,
  { offsets, referenceLogProbs: reference }: ObjectiveInput,
  weights: Float64Array,
  pulls: Float64Array,
  { entropyCoef, klCoef }: ObjectiveWeights,
  dLogits: Float64Array,
) {
  if (!reference && klCoef > 0)
    throw new WorkbenchError('failure', 'expected referenceLogProbs with klCoef > 0, got none, at ppoObjective');
  // Shared by all terms: the exponential dominates their cost.
  const probs = exponentials(logProbs);
  let entropy = 0;
  let normalized = 0;
  let choices = 0;
  let anchorKl = 0;
  for (let s = 0; s < weights.length; s++) {
    const [begin, end, weight] = [offsets[s]!, offsets[s + 1]!, weights[s]!];
    let own = 0;
    let kl = 0;
    for (let i = begin; i < end; i++) {
      own -= probs[i]! * logProbs[i]!;
      if (reference) kl += probs[i]! * (logProbs[i]! - reference[i]!);
    }
    entropy += weight * own;
    anchorKl += weight * kl;
    if (end - begin > 1) {
      normalized += (weight * own) / Math.log(end - begin);
      choices += weight;
    }
    for (let i = begin; i < end; i++) {
      if (entropyCoef !== 0) dLogits[i]! += entropyCoef * weight * probs[i]! * (logProbs[i]! + own);
      if (reference) dLogits[i]! += klCoef * weight * probs[i]! * (logProbs[i]! - reference[i]! - kl);
      dLogits[i]! -= pulls[s]! * probs[i]!;
    }
  }
  return { entropy, normalizedEntropy: choices > 0 ? normalized / choices : 0, anchorKl };
}

/**
 * The feasibility loss −mean log Σ_legal softmax(all scores), the mean weighted by visits; adds its gradient, times
 * `coef`, to that of all scores. Under a hard mask the scores of a rarely legal action get hardly any training, and may
 * win by accident if it is legal: this loss trains them, from the graph alone. With P the softmax over all scores and L
 * over the legal ones, ∂loss/∂z = P − L, where L = 0 for illegal actions.
 */
function feasibilityLoss(
  scores: Float32Array,
  { scoredOffsets, legal }: MaskedActions,
  offsets: Int32Array,
  weights: Float64Array,
  coef: number,
  gradient: Float64Array,
): number {
  let loss = 0;
  for (let s = 0; s < weights.length; s++) {
    const begin = scoredOffsets[s]!;
    const end = scoredOffsets[s + 1]!;
    let max = -Infinity;
    for (let i = begin; i < end; i++) max = Math.max(max, scores[i]!);
    let all = 0;
    for (let i = begin; i < end; i++) all += Math.exp(scores[i]! - max);
    let allowed = 0;
    for (let k = offsets[s]!; k < offsets[s + 1]!; k++) allowed += Math.exp(scores[legal[k]!]! - max);
    loss -= weights[s]! * Math.log(allowed / all);
    const scale = coef * weights[s]!;
    if (scale === 0) continue;
    for (let i = begin; i < end; i++) gradient[i]! += (scale * Math.exp(scores[i]! - max)) / all;
    for (let k = offsets[s]!; k < offsets[s + 1]!; k++) {
      gradient[legal[k]!]! -= (scale * Math.exp(scores[legal[k]!]! - max)) / allowed;
    }
  }
  return loss;
}

/** Terms of the objective with their weighted sum. */
export function withLoss(
  terms: Omit<PpoLosses, 'loss'>,
  { valueCoef, entropyCoef, klCoef, feasibilityCoef }: ObjectiveWeights,
): PpoLosses {
  const { policyLoss, valueLoss, entropy, anchorKl, feasibilityLoss } = terms;
  const loss =
    policyLoss + valueCoef * valueLoss - entropyCoef * entropy + klCoef * anchorKl + feasibilityCoef * feasibilityLoss;
  return { loss, ...terms };
}

/** Scatters values to their positions among zeros. */
export function scatter<Column extends Float32Array | Float64Array>(
  values: Column,
  indices: Int32Array,
  into: Column,
): Column {
  for (let i = 0; i < values.length; i++) into[indices[i]!] = values[i]!;
  return into;
}
