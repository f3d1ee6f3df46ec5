/** Supervised phase without PPO: evaluates and saves on a schedule, and resumes. */
import type { ReaderSettings } from '../agents/readers/settings.js';
import type { Checkpoint } from '../checkpoints/checkpoint.js';
import type { Tensor } from '../checkpoints/safetensors.js';
import type { QuestionSample } from '../datasets/question.js';
import { WorkbenchError } from '../src/run/errors.js';
import { Rng } from '../src/run/seeds.js';
import { throwIfStopped, eventLoopYielder } from '../src/run/stop.js';
import { divergedAt } from '../src/nn/diverged.js';
import type { StoredTensors } from '../src/nn/parameters.js';
import { figuresOf, restoreTrainState, saveTrainState, type Session, type TrainState } from './session.js';

/** Steps between two records of the metric log. */
const logEvery = 10;

/** Model, evaluation and resume state. */
interface FitPhase {
  /** Weights and optimizer state, kept in checkpoints and resumed from; `steps` of the optimizer. */
  fitted: {
    state(): Promise<{ steps: number; tensors: Record<string, Tensor> }>;
    restore(tensors: StoredTensors, steps: number): void;
  };
  steps: number;
  /** Unit of the step count; default `steps`. */
  unit?: string;
  /** True if an evaluation on valid and a checkpoint are due after so many steps; after the last they always are. */
  evaluatesAt: (step: number) => boolean;
  /**
   * Runs one step. Every random choice is named by the seed and the step, so that a resumed run gives the same bytes.
   * @param at from 0
   * @returns figures under `train/…`, including the loss
   * @throws Diverged for numbers that are not finite; nothing has changed then
   */
  step(at: number): Promise<{ loss: number; figures: Readonly<Record<string, number>> }>;
  /** Figures on valid by `eval/…`; the first chooses the best checkpoint. */
  evaluate: () => Promise<Record<string, number>>;
  /** Checkpoint of this phase to resume from. */
  from: Checkpoint | undefined;
}

/** @throws WorkbenchError `stopped` after saving, once the session's signal is aborted; `failure` at a step with numbers that are not finite */
export async function fitPhase(session: Session, phase: FitPhase): Promise<void> {
  const { fitted, steps, unit = 'steps', evaluate, from } = phase;
  const { logs, signal } = session;
  // It names its weights and optimizer state itself.
  const trainState: TrainState = {
    actor: { parameters: { export: () => Promise.resolve({}), import: () => {} }, weightsChanged: () => {} },
    optimizer: {
      exportState: () => fitted.state(),
      importState: (_prefix, steps, tensors) => fitted.restore(tensors, steps),
    },
  };
  if (from) restoreTrainState(trainState, from);
  let done = from?.header.step ?? 0;
  let saved = done;
  let last = steps;
  const evaluatesAt = (step: number) => step === last || phase.evaluatesAt(step);
  const save = async (metrics: Record<string, number> = {}, interim = false) => {
    await saveTrainState(session, trainState, { phase: 'fit', step: done, epoch: 0, metrics, interim });
    saved = done;
  };
  const score = async () => {
    const figures = await figuresOf(session, evaluate);
    logs.metrics('fit', done, figures);
    await save(figures);
  };
  const line = session.progress('fit', steps, unit, done);
  const turn = eventLoopYielder();
  try {
    // A run that was stopped during an evaluation repeats it.
    const scored = Object.keys(from?.header.metrics ?? {}).some((key) => key.startsWith('eval/'));
    if (done > 0 && evaluatesAt(done) && !scored) await score();
    while (done < last) {
      throwIfStopped(signal);
      const { loss, figures } = await phase.step(done);
      done++;
      line.update(done, `loss ${loss.toFixed(3)}`);
      if (session.trial?.isEnough()) last = done;
      if (done % logEvery === 0 || evaluatesAt(done)) logs.metrics('fit', done, figures);
      if (evaluatesAt(done)) {
        logs.timing('fit', done);
        await score();
      }
      await turn();
    }
    line.finish();
  } catch (error) {
    if (error instanceof WorkbenchError && error.resumable && done > saved) await save({}, true);
    const remedy = 'Lower learningRate or maxGradNorm of reader.fit or exactWalker.messages.';
    throw divergedAt(error, `fit step ${done + 1}`, remedy);
  }
}

/** Learning rate: linear decay to a share of the initial one, up to `restart` and again from there. @param step from 0 */
export function learningRateAt(
  step: number,
  { steps, learningRate, finalLearningRateShare }: ReaderSettings['fit'],
  restart = 0,
): number {
  const [done, of] = step < restart ? [step, restart] : [step - restart, steps - restart];
  const progress = of === 1 ? 0 : done / (of - 1);
  return learningRate * (1 - progress * (1 - finalLearningRateShare));
}

/** Questions of a step, reshuffled for each pass; the last batch of a pass may be smaller. */
export function batchesOf(train: readonly QuestionSample[], size: number, seed: number) {
  const perEpoch = Math.ceil(train.length / size);
  let drawn: { epoch: number; order: Int32Array } | undefined;
  return (step: number): QuestionSample[] => {
    const epoch = Math.floor(step / perEpoch);
    if (drawn?.epoch !== epoch) {
      const order = Rng.named(seed, 'fit/shuffle', epoch).shuffle(Int32Array.from(train.keys()));
      drawn = { epoch, order };
    }
    const begin = (step % perEpoch) * size;
    return Array.from(drawn.order.subarray(begin, begin + size), (i) => train[i]!);
  };
}
