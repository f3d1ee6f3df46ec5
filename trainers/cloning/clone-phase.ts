/** The cloning phase of a run: trains, evaluates and saves every epoch, and goes on where a run was stopped. */
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Policy } from '../../agents/walker/policy.js';
import type { AdamW } from '../../src/tensor/adamw.js';
import { evaluateOnValid } from '../dialogues/evaluate-valid.js';
import type { DialogueSession } from '../dialogues/training.js';
import { endOfStep } from '../saved-step.js';
import { beginWith, restoreTrainee, saveTrainee, traineeCheckpoint, type Trainee } from '../session.js';
import { clone } from './clone.js';

/** Updates between two records of the metric log. */
const logEvery = 10;

/** @param resumeFrom a checkpoint of this phase */
export async function clonePhase(
  session: DialogueSession,
  policy: Policy,
  optimizer: AdamW,
  resumeFrom?: Checkpoint,
): Promise<void> {
  const { settings, logs, train, valid, signal, replayed } = session;
  const trainee: Trainee = { actor: policy.head, optimizer };
  if (resumeFrom) restoreTrainee(trainee, resumeFrom);
  else if (session.start) beginWith(trainee, session.start);
  const startStep = resumeFrom?.header.step ?? 0;
  let epochsDone = resumeFrom?.header.epoch ?? 0;
  let step = startStep;
  let saved = startStep;
  let line: ReturnType<DialogueSession['progress']> | undefined;
  try {
    await clone({
      policy,
      optimizer,
      train,
      valid,
      settings: settings.clone,
      seed: settings.seed,
      startStep,
      epochsDone,
      ...(signal && { signal }),
      onStep: (update) => {
        step = update.step;
        if (replayed) {
          replayed({ 'train/loss': update.loss, 'train/grad_norm': update.gradNorm });
          return true;
        }
        line ??= session.progress('clone', update.numSteps, 'updates');
        line.update(step, `loss ${update.loss.toFixed(3)}`);
        if (step % logEvery === 0) {
          logs.metrics('clone', step, {
            'train/loss': update.loss,
            'train/grad_norm': update.gradNorm,
            'train/learning_rate': update.learningRate,
          });
        }
        return false;
      },
      onEpoch: async ({ epoch, step: at, validLoss }) => {
        line?.finish(`epoch ${epoch}, valid loss ${validLoss.toFixed(3)}`);
        line = undefined;
        logs.timing('clone', at);
        const metrics = { 'eval/loss': validLoss, ...(await evaluateOnValid(session, policy)) };
        logs.metrics('clone', at, metrics);
        epochsDone = epoch;
        await saveTrainee(session, trainee, { phase: 'clone', step: at, epoch, metrics });
        saved = at;
      },
    });
  } catch (error) {
    // Stopped in the evaluation of an epoch, it says that one fewer is done: resuming evaluates it first.
    if (error instanceof WorkbenchError && error.resumable && step > saved) {
      await saveTrainee(session, trainee, { phase: 'clone', step, epoch: epochsDone, interim: true });
    }
    throw await endOfStep(session, 'clone', error, () =>
      traineeCheckpoint(session, trainee, { phase: 'clone', step, epoch: epochsDone }),
    );
  }
}
