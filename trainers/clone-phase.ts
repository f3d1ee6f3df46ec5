/** Cloning phase of a run, for any demonstrations: evaluates and saves every epoch, and resumes. */
import type { Checkpoint } from '../checkpoints/checkpoint.js';
import { WorkbenchError } from '../src/run/errors.js';
import { divergedAt } from '../src/nn/diverged.js';
import type { CloneCourse } from './clone.js';
import { beginWith, figuresOf, restoreTrainState, saveTrainState, type Session, type TrainState } from './session.js';

/** Updates between two records of the metric log. */
const logEvery = 10;

/** Networks, evaluation and resume state. */
interface ClonePhase {
  /** Saved and restored state; disposed by the caller. */
  trainState: TrainState;
  /**
   * Name of the loss on valid. `cloneMetric` chooses the clone by it; under another name the figures of `evaluate`
   * choose, as when the demonstration is one of many equally good walks. Absent if valid has no demonstrations.
   */
  lossName?: string;
  /** Figures on valid after every epoch, by `eval/…`. */
  evaluate: () => Promise<Record<string, number>>;
  /** Trains from `startStep` until the last epoch or until `onStep` returns true. */
  clone: (course: CloneCourse) => Promise<void>;
  /** Checkpoint of this phase to resume from. */
  from: Checkpoint | undefined;
}

/** @throws WorkbenchError `stopped` after saving, once the session's signal is aborted */
export async function clonePhase(session: Session, phase: ClonePhase): Promise<void> {
  const { trainState, lossName, evaluate, clone, from } = phase;
  const { settings, logs, signal } = session;
  if (from) restoreTrainState(trainState, from);
  else if (session.start) beginWith(trainState, session.start);
  const startStep = from?.header.step ?? 0;
  let epochsDone = from?.header.epoch ?? 0;
  let step = startStep;
  let saved = startStep;
  let timed = startStep;
  let line: ReturnType<Session['progress']> | undefined;
  try {
    await clone({
      settings: settings.clone,
      seed: settings.seed,
      startStep,
      epochsDone,
      signal,
      isEnough: session.trial?.isEnough,
      onStart: (numSteps) => (line = session.progress('clone', numSteps, 'updates', step)),
      onStep: (update) => {
        step = update.step;
        line ??= session.progress('clone', update.numSteps, 'updates', step - 1);
        line.update(step, `loss ${update.loss.toFixed(3)}`);
        if (step % logEvery === 0) {
          logs.metrics('clone', step, {
            'train/loss': update.loss,
            'train/grad_norm': update.gradNorm,
            'train/learning_rate': update.learningRate,
          });
        }
      },
      onEpoch: async ({ epoch, step: at, validLoss }) => {
        line?.finish(lossName === undefined ? `epoch ${epoch}` : `epoch ${epoch}, valid loss ${validLoss.toFixed(3)}`);
        line = undefined;
        // An epoch that was stopped during its evaluation is already recorded.
        if (at > timed) logs.timing('clone', (timed = at));
        const metrics = {
          ...(lossName !== undefined && { [lossName]: validLoss }),
          ...(await figuresOf(session, evaluate)),
        };
        logs.metrics('clone', at, metrics);
        epochsDone = epoch;
        await saveTrainState(session, trainState, { phase: 'clone', step: at, epoch, metrics });
        saved = at;
      },
    });
  } catch (error) {
    // Stopped during an epoch's evaluation, the checkpoint counts one epoch fewer: resuming evaluates it first.
    if (error instanceof WorkbenchError && error.resumable && step > saved) {
      if (step > timed) logs.timing('clone', step);
      await saveTrainState(session, trainState, { phase: 'clone', step, epoch: epochsDone, interim: true });
    }
    throw divergedAt(error, `clone step ${step + 1}`, 'Lower clone.learningRate or clone.maxGradNorm.');
  }
}
