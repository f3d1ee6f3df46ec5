/** The phase that fits a reader to questions and answers: evaluates and saves on a schedule, and goes on where a run was stopped. */
import { setImmediate } from 'node:timers/promises';
import type { Reader, ReaderStep } from '../agents/readers/reader.js';
import type { ReaderSettings } from '../agents/readers/settings.js';
import type { Checkpoint } from '../checkpoints/checkpoint.js';
import type { QuestionSample } from '../datasets/question.js';
import { madeFromSamples } from '../datasets/sample-source.js';
import { WorkbenchError } from '../src/run/errors.js';
import { Rng } from '../src/run/seeds.js';
import { throwIfStopped } from '../src/run/stop.js';
import { endOfStep } from './saved-step.js';
import { restoreTrainee, saveTrainee, type Session, type Trainee, traineeCheckpoint } from './session.js';

/** Steps between two records of the metric log. */
const logEvery = 10;

/** What is fitted to what, how it is judged, and where it goes on from. */
export interface FitPhase {
  reader: Pick<Reader, 'step' | 'state' | 'restore' | 'restartsAt'>;
  settings: ReaderSettings['fit'];
  /** Questions of train; each of them is seen before any is seen again. */
  train: readonly QuestionSample[];
  /** Figures on valid, by `eval/…`; the first chooses the best checkpoint. */
  evaluate: () => Promise<Record<string, number>>;
  /** A checkpoint of this phase to go on from. */
  from: Checkpoint | undefined;
}

/**
 * Every random choice is named by the seed and its step, so that a resumed run gives the bytes of one that was not stopped.
 * @throws WorkbenchError `stopped` after saving, once the session's signal is aborted; what a step that diverged ends with
 */
export async function fitPhase(session: Session, { reader, settings, train, evaluate, from }: FitPhase): Promise<void> {
  const { logs, signal, replayed } = session;
  const { seed } = session.settings;
  const { steps, evalEvery } = settings;
  const trainee = traineeOf(reader);
  if (from) restoreTrainee(trainee, from);
  const note = madeFromSamples('training', 'fitting');
  const batches = batchesOf(train, settings.batchSize, seed);
  let done = from?.header.step ?? 0;
  let saved = done;
  const evaluatesAt = (step: number) => step === steps || step % evalEvery === 0;
  const save = async (metrics: Record<string, number> = {}, interim = false) => {
    await saveTrainee(session, trainee, { phase: 'fit', step: done, epoch: 0, metrics, interim });
    saved = done;
  };
  const score = async () => {
    const figures = await logs.aside(evaluate);
    logs.metrics('fit', done, figures);
    await save(figures);
  };
  const line = replayed ? undefined : session.progress('fit', steps, 'steps');
  const tell = ({ loss, gradNorm, figures }: ReaderStep, learningRate: number) => {
    line?.update(done, `loss ${loss.toFixed(3)}`);
    if (done % logEvery !== 0 && !evaluatesAt(done)) return;
    const values = { 'train/loss': loss, 'train/grad_norm': gradNorm, 'train/learning_rate': learningRate };
    logs.metrics('fit', done, { ...values, ...figures });
  };
  try {
    // A run that was stopped in an evaluation owes it.
    const scored = Object.keys(from?.header.metrics ?? {}).some((key) => key.startsWith('eval/'));
    if (done > 0 && evaluatesAt(done) && !scored && !replayed) await score();
    while (done < steps) {
      throwIfStopped(signal);
      const batch = batches(done);
      batch.forEach(note);
      const learningRate = learningRateAt(done, settings, reader.restartsAt);
      const told = await reader.step(batch, { step: done, learningRate });
      if (replayed) {
        replayed({ 'train/loss': told.loss, 'train/grad_norm': told.gradNorm });
        return;
      }
      done++;
      tell(told, learningRate);
      if (evaluatesAt(done)) {
        logs.timing('fit', done);
        await score();
      }
      // Lets progress lines and interrupts through.
      if (done % 8 === 0) await setImmediate();
    }
    line?.finish();
  } catch (error) {
    if (error instanceof WorkbenchError && error.resumable && done > saved) await save({}, true);
    throw await endOfStep(session, 'fit', error, () =>
      traineeCheckpoint(session, trainee, { phase: 'fit', step: done, epoch: 0 }),
    );
  }
}

/** Falls linearly to a share of the first, up to `restart` and again from there. @param step from 0 */
export function learningRateAt(
  step: number,
  { steps, learningRate, finalLearningRateShare }: ReaderSettings['fit'],
  restart = 0,
): number {
  const [done, of] = step < restart ? [step, restart] : [step - restart, steps - restart];
  const progress = of === 1 ? 0 : done / (of - 1);
  return learningRate * (1 - progress * (1 - finalLearningRateShare));
}

/** Questions of a step, in an order drawn anew for each pass; the last batch of a pass has what is left. */
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

/** A reader as what checkpoints keep: it names its weights and what its optimizer has itself. */
function traineeOf(reader: Pick<Reader, 'state' | 'restore'>): Trainee {
  return {
    actor: { parameters: { export: () => Promise.resolve({}), import: () => {} }, weightsChanged: () => {} },
    optimizer: {
      exportState: () => reader.state(),
      importState: (_prefix, steps, tensors) => reader.restore(tensors, steps),
    },
  };
}
