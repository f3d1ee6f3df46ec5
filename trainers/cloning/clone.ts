/** Behaviour cloning: the walker learns to give the gold walks of train high probability, hop by hop. */
import { setImmediate } from 'node:timers/promises';
import type { Policy } from '../../agents/walker/policy.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import type { AdamW } from '../../src/tensor/adamw.js';
import { explainedLater, finiteLoss } from '../../src/tensor/diverged.js';
import { goldWalks, sampleCandidates, type GoldWalk } from './gold-states.js';
import { lossesByWalk, type WalkShare } from './losses-by-walk.js';
import { cloningLoss, type CloningLoss } from './objective.js';
import type { CloneSettings } from './settings.js';

/** What learns from what, from where on, and who is told. */
export interface CloneOptions {
  policy: Policy;
  optimizer: AdamW;
  train: readonly WalkSample[];
  valid: readonly WalkSample[];
  settings: CloneSettings;
  seed: number;
  /** Updates done before, by the run that is resumed. Default 0. */
  startStep?: number;
  /** Epochs that `onEpoch` has heard of; default all that `startStep` completes. One fewer where a run was stopped in it. */
  epochsDone?: number;
  /** After every update; `step` counts from 1. Returning true ends training. */
  onStep?: (step: CloneStep) => boolean | void;
  /** After every epoch: the time to evaluate and to save. */
  onEpoch?: (epoch: CloneEpoch) => Promise<void> | void;
  signal?: AbortSignal;
}

/** Figures of one gradient step. */
export interface CloneStep {
  step: number;
  numSteps: number;
  /** Mean negative log-likelihood of a gold walk in the batch, candidates sampled, two-hop walks weighted. */
  loss: number;
  gradNorm: number;
  learningRate: number;
}

/** Figures at the end of an epoch. */
export interface CloneEpoch {
  /** From 1. */
  epoch: number;
  step: number;
  /** Mean negative log-likelihood of valid's gold walks over all legal actions. */
  validLoss: number;
}

/**
 * Trains until the last epoch. Every random choice is named by its epoch and step, so a resumed run needs only the
 * weights, the optimizer and the step.
 * @throws WorkbenchError `stopped` once `signal` is aborted, after finishing an update; `Diverged` before an update whose numbers
 *   are not finite
 */
export async function clone(options: CloneOptions): Promise<void> {
  const { policy, train, valid, settings, seed, startStep = 0 } = options;
  const { graph, rules } = policy.featurizer.parts;
  const golds = goldWalks(train, graph, rules, madeFromSamples('training', 'cloning'));
  const validGolds = goldWalks(valid, graph, rules, madeFromSamples('choice', 'loss after an epoch'));
  for (const walks of [golds, validGolds]) await policy.reader?.read(walks.flatMap(({ states }) => states));
  const stepsPerEpoch = Math.ceil(golds.length / settings.batchSize);
  const numSteps = stepsPerEpoch * settings.epochs;
  const endEpoch = async (epoch: number) => {
    const validLoss = await meanLoss(policy, validGolds);
    await options.onEpoch?.({ epoch, step: epoch * stepsPerEpoch, validLoss });
  };
  const trained = Math.floor(startStep / stepsPerEpoch);
  const epochsDone = options.epochsDone ?? trained;
  if (trained > epochsDone) await endEpoch(epochsDone + 1);
  let order = new Int32Array(0);
  for (let step = startStep; step < numSteps; step++) {
    throwIfStopped(options.signal);
    const epoch = Math.floor(step / stepsPerEpoch);
    const position = step % stepsPerEpoch;
    if (order.length === 0 || position === 0) {
      order = Rng.named(seed, 'clone/shuffle', epoch).shuffle(Int32Array.from(golds.keys()));
    }
    const chosen = Array.from(
      order.subarray(position * settings.batchSize, (position + 1) * settings.batchSize),
      (i) => golds[i]!,
    );
    const learningRate = learningRateAt(step, numSteps, settings);
    const { loss, gradNorm } = await update(options, chosen, step, learningRate);
    if (options.onStep?.({ step: step + 1, numSteps, loss, gradNorm, learningRate })) return;
    if (position === stepsPerEpoch - 1) await endEpoch(epoch + 1);
    // Lets progress lines and interrupts through.
    if (step % 8 === 0) await setImmediate();
  }
}

async function update(
  { policy, optimizer, settings, seed }: CloneOptions,
  walks: readonly GoldWalk[],
  step: number,
  learningRate: number,
) {
  const { head, featurizer } = policy;
  const { graph, rules } = featurizer.parts;
  const candidates = Rng.named(seed, 'clone/candidates', step);
  const states = walks
    .flatMap((walk) => walk.states)
    .map((gold) => sampleCandidates(gold, graph, rules, settings.maxCandidates, candidates));
  const weights = walks.flatMap(({ states, hops }) => states.map(() => (hops > 1 ? settings.twoHopWeight : 1)));
  const batch = featurizer.batch(states);
  let scores: Float32Array | undefined;
  let loss: CloningLoss | undefined;
  const lossOf = ({ from, to, begin, end, offsets }: WalkShare) =>
    cloningLoss(scores!.subarray(begin, end), { offsets }, states.slice(from, to), weights.slice(from, to), 1).total;
  const gradNorm = await explainedLater(
    () => ({
      place: { step: step + 1 },
      ...(loss && { loss: loss.total / walks.length }),
      ...(scores && { samples: lossesByWalk(walks, batch.offsets, lossOf) }),
    }),
    () =>
      optimizer.minimize(
        [
          {
            outputs: () => head.logits(batch, Rng.named(seed, 'clone/dropout', step)),
            slope: (logits) => {
              scores = logits;
              loss = cloningLoss(logits, batch, states, weights, walks.length);
              finiteLoss(loss.total);
              return loss.gradient;
            },
          },
        ],
        learningRate,
      ),
  );
  head.weightsChanged();
  return { loss: loss!.total / walks.length, gradNorm };
}

/** Mean negative log-likelihood of gold walks over all legal actions, in nats a walk. */
async function meanLoss(policy: Policy, walks: readonly GoldWalk[]): Promise<number> {
  const walksPerChunk = 64;
  let total = 0;
  for (let begin = 0; begin < walks.length; begin += walksPerChunk) {
    const states = walks.slice(begin, begin + walksPerChunk).flatMap((walk) => walk.states);
    const batch = policy.featurizer.batch(states);
    const ones = new Uint8Array(states.length).fill(1);
    total += cloningLoss(await policy.head.infer(batch), batch, states, ones, 1).total;
  }
  return total / walks.length;
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
