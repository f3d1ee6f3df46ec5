/**
 * Behaviour cloning: trains a walker to assign high probability to the actions of demonstrated walks, state by state.
 */
import {
  actionLogProbs,
  legalScores,
  runsOf,
  type Actor,
  type ScoredActions,
  type StateScorer,
  type TaskRequest,
} from '../agents/actor.js';
import { Rng } from '../src/run/seeds.js';
import { throwIfStopped, eventLoopYielder } from '../src/run/stop.js';
import { segmentLogSoftmax } from '../src/nn/categorical.js';
import { Diverged, finiteLoss, firstNotFinite } from '../src/nn/diverged.js';
import type { AdamW } from '../src/nn/adamw.js';
import type { CloneSettings } from './clone-settings.js';
import type { Gold, ShownWalks } from './demonstrations.js';
import { scatter } from './ppo-loss.js';

/** Resume state and callbacks. */
export interface CloneCourse {
  settings: CloneSettings;
  seed: number;
  /** Updates already done by the resumed run. Default 0. */
  startStep?: number;
  /**
   * Epochs already reported to `onEpoch`; default all that `startStep` completes. One fewer if a run was stopped during
   * `onEpoch`.
   */
  epochsDone?: number;
  /** Asked after every update; true ends training as after an epoch. */
  isEnough?: (() => boolean) | undefined;
  /** Called with the number of updates before the first. */
  onStart?: (numSteps: number) => void;
  /** Called after every update; `step` counts from 1. Returning true ends training. */
  onStep?: (step: CloneStep) => boolean | void;
  /** Called after every epoch, to evaluate and save. */
  onEpoch?: (epoch: CloneEpoch) => Promise<void> | void;
  signal?: AbortSignal | undefined;
}

/** Networks, demonstrations, resume state and callbacks. */
export interface CloneOptions<Request> extends CloneCourse {
  actor: StateScorer<Request> & Pick<Actor<never, Request>, 'weightsChanged'>;
  optimizer: AdamW;
  train: ShownWalks<Request>;
  /** Demonstrations for the loss after an epoch; may be empty. */
  valid: ShownWalks<Request>;
}

/** Figures of one gradient step. */
export interface CloneStep {
  step: number;
  numSteps: number;
  /**
   * Mean loss per walk of the batch, walks weighted: its negative log-likelihood, candidates sampled; with
   * `clone.loss=nodes` that of the entities it visits; with `hinge` the sum of its margins.
   */
  loss: number;
  gradNorm: number;
  learningRate: number;
}

/** Figures at the end of an epoch. */
export interface CloneEpoch {
  /** From 1. */
  epoch: number;
  step: number;
  /** Mean negative log-likelihood of valid's walks over all legal actions. */
  validLoss: number;
}

/**
 * Trains until the last epoch. Every random choice is named by its epoch and step, so a resumed run needs only the
 * weights, the optimizer and the step.
 * @throws WorkbenchError `stopped` once `signal` is aborted, after finishing an update; `Diverged` before an update
 * whose numbers are not finite
 */
export async function clone<Request extends TaskRequest>(options: CloneOptions<Request>): Promise<void> {
  const { settings, seed, startStep = 0, onStep, onEpoch, signal, actor, train, valid } = options;
  if (actor.prepare) {
    for (const walks of [train, valid]) await actor.prepare(walks.states(placesOf(0, walks.count)).requests);
  }
  const stepsPerEpoch = Math.ceil(train.count / settings.batchSize);
  const numSteps = stepsPerEpoch * settings.epochs;
  const endEpoch = async (epoch: number) => {
    const validLoss = await meanLoss(actor, valid);
    await onEpoch?.({ epoch, step: epoch * stepsPerEpoch, validLoss });
  };
  const trained = Math.floor(startStep / stepsPerEpoch);
  const epochsDone = options.epochsDone ?? trained;
  if (trained > epochsDone) await endEpoch(epochsDone + 1);
  let order = new Int32Array(0);
  const turn = eventLoopYielder();
  options.onStart?.(numSteps);
  for (let step = startStep; step < numSteps; step++) {
    throwIfStopped(signal);
    const epoch = Math.floor(step / stepsPerEpoch);
    const position = step % stepsPerEpoch;
    if (order.length === 0 || position === 0) {
      order = Rng.named(seed, 'clone/shuffle', epoch).shuffle(placesOf(0, train.count));
    }
    const chosen = order.subarray(position * settings.batchSize, (position + 1) * settings.batchSize);
    const learningRate = learningRateAt(step, numSteps, settings);
    const figures = await update(options, chosen, step, learningRate);
    if (onStep?.({ step: step + 1, numSteps, ...figures, learningRate })) return;
    const ends = options.isEnough?.() === true;
    if (position === stepsPerEpoch - 1 || ends) await endEpoch(epoch + 1);
    if (ends) return;
    await turn();
  }
}

/** Linear warm-up, then a cosine down to a share of the peak. */
function learningRateAt(step: number, numSteps: number, settings: CloneSettings): number {
  const { learningRate, warmupSteps, finalLearningRateShare } = settings;
  if (step < warmupSteps) return (learningRate * (step + 1)) / warmupSteps;
  const progress = (step - warmupSteps) / Math.max(1, numSteps - warmupSteps);
  return (
    learningRate * (finalLearningRateShare + (1 - finalLearningRateShare) * 0.5 * (1 + Math.cos(Math.PI * progress)))
  );
}

/** One gradient step, part by part. @param step from 0 */
async function update<Request extends TaskRequest>(
  { actor, optimizer, train, seed, settings }: CloneOptions<Request>,
  indices: Int32Array,
  step: number,
  learningRate: number,
): Promise<Pick<CloneStep, 'loss' | 'gradNorm'>> {
  const { requests, golds, weights } = train.states(indices, step);
  const sizes = requests.map((request) => actor.numScores(request));
  const runs = runsOf(sizes, train.maxScoresPerBatch ?? actor.maxScoresPerBatch);
  const dropout = Rng.named(seed, 'clone/dropout', step);
  const drawing = Rng.named(seed, 'clone/negatives', step);
  let total = 0;
  const gradNorm = await optimizer.step(async (record) => {
    for (const [begin, end] of runs) {
      const { offsets, masked, normalised, logits, marginLosses } = actor.score(requests.slice(begin, end));
      if (settings.loss === 'hinge') {
        const done = golds.slice(begin, end).map(({ gold }) => gold);
        const { values, back } = await record(() => marginLosses!(done, drawing, dropout));
        total += values.reduce((sum, value, i) => sum + weights[begin + i]! * value, 0);
        finiteLoss(total);
        back(values.map((_, i) => weights[begin + i]! / indices.length));
        continue;
      }
      const { values, back } = await record(() => logits(dropout));
      const own = Array.from({ length: end - begin }, (_, i) => weights[begin + i]!);
      const legal = legalScores(values, masked);
      const loss = cloningLoss(legal, { offsets, normalised }, golds.slice(begin, end), own, indices.length);
      total += loss.total;
      finiteLoss(loss.total);
      back(masked ? scatter(loss.gradient, masked.legal, new Float32Array(values.length)) : loss.gradient);
    }
  }, learningRate);
  actor.weightsChanged();
  return { loss: total / indices.length, gradNorm };
}

/**
 * Cross-entropy of the demonstrated actions, or of all equally good ones combined, with its gradient in closed form.
 * @param logits float32 [N], uncorrected; of legal actions only; log-probabilities if `normalised`
 * @param golds one for each state of the batch
 * @param weights one for each state
 * @param normaliser divisor of the gradient: the number of walks
 * @returns Σ over states of −weight · ln Σ π(gold and its equals), in nats, and float32 [N], the derivative of `total /
 * normaliser`
 */
export function cloningLoss(
  logits: Float32Array,
  { offsets, normalised = false }: Pick<ScoredActions, 'offsets' | 'normalised'>,
  golds: readonly Gold[],
  weights: ArrayLike<number>,
  normaliser: number,
): { total: number; gradient: Float32Array } {
  const corrected = logits.slice();
  golds.forEach(({ logWeights }, s) => logWeights?.forEach((weight, i) => (corrected[offsets[s]! + i]! += weight)));
  const first = normalised && firstNotFinite('logits', logits);
  if (first) throw new Diverged(first);
  const logProbs = normalised ? logits : segmentLogSoftmax(corrected, offsets);
  const gradient = new Float32Array(logits.length);
  let total = 0;
  for (let s = 0; s < golds.length; s++) {
    const weight = weights[s]!;
    if (!normalised) {
      for (let i = offsets[s]!; i < offsets[s + 1]!; i++) gradient[i] = (weight * Math.exp(logProbs[i]!)) / normaliser;
    }
    const { gold, alike = Int32Array.of(gold) } = golds[s]!;
    const best = alike.reduce((most, index) => Math.max(most, logProbs[offsets[s]! + index]!), -Infinity);
    const shares = Array.from(alike, (index) => Math.exp(logProbs[offsets[s]! + index]! - best));
    const sum = shares.reduce((a, b) => a + b, 0);
    alike.forEach((index, k) => (gradient[offsets[s]! + index]! -= (weight * shares[k]!) / sum / normaliser));
    total -= weight * (best + Math.log(sum));
  }
  return { total, gradient };
}

/** Mean negative log-likelihood of walks over all legal actions, in nats per walk; 0 without walks. */
async function meanLoss<Request>(actor: StateScorer<Request>, walks: ShownWalks<Request>): Promise<number> {
  let total = 0;
  for (let begin = 0; begin < walks.count; begin += walks.atOnce) {
    const { requests, golds } = walks.states(placesOf(begin, Math.min(walks.count, begin + walks.atOnce)));
    const { logProbs, offsets } = await actionLogProbs(actor, requests);
    total += golds.reduce((sum, { gold }, state) => sum - logProbs[offsets[state]! + gold]!, 0);
  }
  return total / Math.max(1, walks.count);
}

function placesOf(begin: number, end: number): Int32Array<ArrayBuffer> {
  return Int32Array.from({ length: end - begin }, (_, i) => begin + i);
}
