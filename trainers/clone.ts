/** Behaviour cloning: trains a walker to assign high probability to the actions of demonstrated walks, state by state. */
import {
  actionLogProbs,
  legalScores,
  runsOf,
  type Actor,
  type ScoredActions,
  type StateScorer,
  type TaskRequest,
} from './actor.js';
import { Rng } from '../src/run/seeds.js';
import { segmentLogSoftmax } from '../src/nn/categorical.js';
import { Diverged, finiteLoss, firstNotFinite } from '../src/nn/diverged.js';
import type { AdamW } from '../src/nn/adamw.js';
import type { CloneSettings } from './clone-settings.js';
import type { TrainingPhase } from './phase.js';
import { scatter } from './ppo-loss.js';
import type { TrainState } from './session.js';

/** Demonstrated action of a state. */
export interface Gold {
  /** Its position among the listed actions. */
  gold: number;
  /** Ascending positions of the equally good listed actions, itself included; absent if there is no other. */
  alike?: Int32Array;
  /** ln of the number of unlisted actions represented by each listed one: added to its logit. Absent when all are listed. */
  logWeights?: Float32Array;
}

/** States of some walks, with their demonstrated actions. */
interface ShownStates<Request> {
  requests: readonly Request[];
  golds: readonly Gold[];
  /** Loss weight of each state. */
  weights: ArrayLike<number>;
}

/** Demonstrated walks as input of `clone`. */
export interface ShownWalks<Request> {
  count: number;
  /** @param step of training, from 0: may list fewer actions; without it all are listed */
  states(indices: Int32Array, step?: number): ShownStates<Request>;
  /** Walks per batch when computing the loss on valid. */
  atOnce: number;
  /** Maximum number of scores per forward pass; default: the actor's limit. */
  maxScoresPerBatch?: number;
}

/** State of a fully known walk, and its action. */
export interface ShownStep<Request> extends Gold {
  request: Request;
}

/** Fully known walks. @param atOnce walks per batch when computing the loss */
export const shownSteps = <Request>(
  walks: readonly (readonly ShownStep<Request>[])[],
  atOnce: number,
): ShownWalks<Request> => ({
  count: walks.length,
  atOnce,
  states: (indices) => {
    const golds = Array.from(indices).flatMap((index) => walks[index]!);
    return { golds, requests: golds.map(({ request }) => request), weights: golds.map(() => 1) };
  },
});

/** Position of an action among the legal ones of its mask. */
export function legalBefore(mask: Uint8Array, action: number): number {
  let legal = 0;
  for (let index = 0; index < action; index++) legal += mask[index]!;
  return legal;
}

/** Networks and demonstrations. */
export interface CloneOptions<Request> {
  actor: StateScorer<Request> & Pick<Actor<never, Request>, 'weightsChanged'>;
  optimizer: AdamW;
  train: ShownWalks<Request>;
  /** Demonstrations for the loss after an epoch; may be empty. */
  valid: ShownWalks<Request>;
  settings: CloneSettings;
  seed: number;
}

/** Figures of one gradient step. */
export interface CloneStep {
  /**
   * Mean loss per walk of the batch, walks weighted: its negative log-likelihood, candidates sampled; with
   * `clone.loss=nodes` that of the entities it visits; with `hinge` the sum of its margins.
   */
  loss: number;
  gradNorm: number;
  learningRate: number;
}

/**
 * Clones demonstrations step by step. Every random choice is named by its epoch and step, so a resumed run needs only the weights, the
 * optimizer and the step.
 */
export class CloneTrainer<Request extends TaskRequest> {
  readonly stepsPerEpoch: number;
  readonly steps: number;
  #shuffled: { epoch: number; order: Int32Array } | undefined;

  constructor(readonly options: CloneOptions<Request>) {
    const { train, settings } = options;
    this.stepsPerEpoch = Math.ceil(train.count / settings.batchSize);
    this.steps = this.stepsPerEpoch * settings.epochs;
  }

  async prepare(): Promise<void> {
    const { actor, train, valid } = this.options;
    if (!actor.prepare) return;
    for (const walks of [train, valid]) await actor.prepare(walks.states(placesOf(0, walks.count)).requests);
  }

  /** One update. @param at from 0 @throws Diverged before one whose numbers are not finite */
  async step(at: number): Promise<CloneStep> {
    const { train, settings, seed } = this.options;
    const epoch = Math.floor(at / this.stepsPerEpoch);
    if (this.#shuffled?.epoch !== epoch) {
      this.#shuffled = { epoch, order: Rng.named(seed, 'clone/shuffle', epoch).shuffle(placesOf(0, train.count)) };
    }
    const begin = (at % this.stepsPerEpoch) * settings.batchSize;
    const chosen = this.#shuffled.order.subarray(begin, begin + settings.batchSize);
    const learningRate = learningRateAt(at, this.steps, settings);
    return { ...(await update(this.options, chosen, at, learningRate)), learningRate };
  }

  /** Mean negative log-likelihood of valid's walks over all legal actions, in nats per walk. */
  validLoss(): Promise<number> {
    return meanLoss(this.options.actor, this.options.valid);
  }
}

/**
 * Cloning as a phase of a run, evaluated and saved after every epoch.
 * @param lossName name of the loss on valid. `cloneMetric` chooses the clone by it; under another name the figures of `evaluate` choose, as
 *   when the demonstration is one of many equally good walks. Absent if valid has no demonstrations.
 */
export function clonePhase<Request extends TaskRequest>(
  options: CloneOptions<Request> & { actor: TrainState['actor'] },
  { lossName, ...shared }: Pick<TrainingPhase, 'start' | 'evaluate' | 'close'> & { lossName?: string },
): TrainingPhase {
  const trainer = new CloneTrainer(options);
  const { steps, stepsPerEpoch } = trainer;
  let validLoss: number | undefined;
  return {
    ...shared,
    ...{ name: 'clone', unit: 'updates', steps, trainState: options },
    remedy: 'Lower clone.learningRate or clone.maxGradNorm.',
    prepare: () => trainer.prepare(),
    async step(at) {
      const { loss, gradNorm, learningRate } = await trainer.step(at);
      return { metrics: { 'train/loss': loss, 'train/grad_norm': gradNorm, 'train/learning_rate': learningRate } };
    },
    text(metrics) {
      const known = validLoss === undefined ? '' : ` · valid loss ${validLoss.toFixed(3)}`;
      return `loss ${metrics['train/loss']!.toFixed(3)}${known}`;
    },
    logsAt: (step) => step % logEvery === 0,
    evaluatesAt: (step) => step % stepsPerEpoch === 0,
    epochAt: (step) => Math.floor(step / stepsPerEpoch),
    async evaluate() {
      if (lossName === undefined) return shared.evaluate();
      validLoss = await trainer.validLoss();
      return { [lossName]: validLoss, ...(await shared.evaluate()) };
    },
  };
}

/** Updates between two records of the metric log. */
const logEvery = 10;

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
  optimizer.zeroGrad();
  for (const [begin, end] of runs) {
    const { offsets, masked, normalised, logits, marginLosses } = actor.score(requests.slice(begin, end));
    const shown = golds.slice(begin, end);
    const own = Float64Array.from(shown, (_, i) => weights[begin + i]!);
    if (settings.loss === 'hinge') {
      const done = shown.map(({ gold }) => gold);
      const outputs = marginLosses!(done, drawing, dropout);
      const values = await outputs.read();
      total += values.reduce((sum, value, i) => sum + own[i]! * value, 0);
      finiteLoss(total);
      outputs.backward(values.map((_, i) => own[i]! / indices.length));
      continue;
    }
    const outputs = logits(dropout);
    const values = await outputs.read();
    const loss = cloningLoss(legalScores(values, masked), { offsets, normalised }, shown, own, indices.length);
    total += loss.total;
    finiteLoss(loss.total);
    outputs.backward(masked ? scatter(loss.gradient, masked.legal, new Float32Array(values.length)) : loss.gradient);
  }
  const gradNorm = await optimizer.step(learningRate);
  actor.weightsChanged();
  return { loss: total / indices.length, gradNorm };
}

/**
 * Cross-entropy of the demonstrated actions, or of all equally good ones combined, with its gradient in closed form.
 * @param logits float32 [N], uncorrected; of legal actions only; log-probabilities if `normalised`
 * @param golds one for each state of the batch
 * @param weights one for each state
 * @param normaliser divisor of the gradient: the number of walks
 * @returns Σ over states of −weight · ln Σ π(gold and its equals), in nats, and float32 [N], the derivative of `total / normaliser`
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
