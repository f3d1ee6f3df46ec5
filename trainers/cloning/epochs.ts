/** The course of behaviour cloning, whatever is cloned: shuffled epochs, the learning rate over them, and where a run goes on. */
import { setImmediate } from 'node:timers/promises';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import type { CloneSettings } from './settings.js';

/** From where on, and who is told. */
export interface CloneCourse {
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

/** What one kind of walk brings to it. */
export interface ClonedWalks {
  /** Walks of train. */
  count: number;
  /** One gradient step on the walks at some places; `step` counts from 0. */
  update(places: Int32Array, step: number, learningRate: number): Promise<Pick<CloneStep, 'loss' | 'gradNorm'>>;
  /** Mean negative log-likelihood of valid's walks, nats a walk. */
  validLoss(): Promise<number>;
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
export async function cloneEpochs(
  { settings, seed, startStep = 0, onStep, onEpoch, signal, ...course }: CloneCourse,
  walks: ClonedWalks,
): Promise<void> {
  const stepsPerEpoch = Math.ceil(walks.count / settings.batchSize);
  const numSteps = stepsPerEpoch * settings.epochs;
  const endEpoch = async (epoch: number) => {
    const validLoss = await walks.validLoss();
    await onEpoch?.({ epoch, step: epoch * stepsPerEpoch, validLoss });
  };
  const trained = Math.floor(startStep / stepsPerEpoch);
  const epochsDone = course.epochsDone ?? trained;
  if (trained > epochsDone) await endEpoch(epochsDone + 1);
  let order = new Int32Array(0);
  for (let step = startStep; step < numSteps; step++) {
    throwIfStopped(signal);
    const epoch = Math.floor(step / stepsPerEpoch);
    const position = step % stepsPerEpoch;
    if (order.length === 0 || position === 0) {
      const places = Int32Array.from({ length: walks.count }, (_, place) => place);
      order = Rng.named(seed, 'clone/shuffle', epoch).shuffle(places);
    }
    const chosen = order.subarray(position * settings.batchSize, (position + 1) * settings.batchSize);
    const learningRate = learningRateAt(step, numSteps, settings);
    const { loss, gradNorm } = await walks.update(chosen, step, learningRate);
    if (onStep?.({ step: step + 1, numSteps, loss, gradNorm, learningRate })) return;
    if (position === stepsPerEpoch - 1) await endEpoch(epoch + 1);
    // Lets progress lines and interrupts through.
    if (step % 8 === 0) await setImmediate();
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
