/** A phase of training: steps that are logged, judged on valid and saved. */
import type { Checkpoint, JsonObject } from '../checkpoints/checkpoint.js';
import type { Tensor } from '../checkpoints/safetensors.js';
import { divergedAt } from '../src/nn/diverged.js';
import type { StoredTensors } from '../src/nn/parameters.js';
import { WorkbenchError } from '../src/run/errors.js';
import { eventLoopYielder, throwIfStopped } from '../src/run/stop.js';
import { beginWith, figuresOf, restoreTrainState, saveTrainState, type Session, type TrainState } from './session.js';

/** Names of phases with steps; what they read is prepared before. */
type PhaseName = 'clone' | 'fit' | 'ppo';

/** Result of one step. */
export interface PhaseStep {
  /** By metric name, under `train/…` and `rollout/…`. */
  metrics: Readonly<Record<string, number>>;
  /** Environment steps that it took, for the timing log. */
  steps?: number;
}

/** Networks in training, with their schedule. */
export interface TrainingPhase {
  readonly name: PhaseName;
  /** Saved and restored state. */
  readonly trainState: TrainState;
  readonly steps: number;
  /** Unit of steps in the progress line. */
  readonly unit: string;
  /** Word for a step in messages; default `step`. */
  readonly stepName?: string;
  /** Initial weights: of a fork, a clone; drawn ones without. */
  readonly start?: Checkpoint | undefined;
  /** Remedy for numbers that are not finite. */
  readonly remedy: string;
  /** Work before the first step, once weights are restored. */
  prepare?(): Promise<void>;
  /**
   * Runs one step. Every random choice is named by the seed and the step, so that a resumed run gives the same bytes.
   * @param at from 0
   * @throws Diverged for numbers that are not finite; nothing has changed then
   */
  step(at: number): Promise<PhaseStep>;
  /** Text of the progress line, after a step and at the end of the phase. */
  text(metrics: PhaseStep['metrics']): string;
  /** True if the figures of a step are logged. @param evaluates whether it is followed by an evaluation */
  logsAt(step: number, evaluates: boolean): boolean;
  /** True if each step has a record in the timing log. Default: those that are evaluated. */
  readonly timesEach?: boolean;
  /** True if an evaluation on valid and a checkpoint are due after so many steps; after the last they always are. */
  evaluatesAt(step: number): boolean;
  /** True if a checkpoint is due without an evaluation. Default: never. */
  savesAt?(step: number): boolean;
  /** Figures on valid by `eval/…`; the first chooses the best checkpoint. */
  evaluate(): Promise<Record<string, number>>;
  /** Called once a step is logged. Returning true ends the phase, evaluated and saved. */
  afterStep?(step: number, result: PhaseStep): Promise<boolean | void> | boolean | void;
  /** Early stopping by the first figure of evaluations. */
  readonly patience?: {
    /** Evaluations in a row without gain that end the phase; null: none. */
    most: number | null;
    /** Lower bound of the figure. */
    lowest: number;
  };
  /** Number of the epoch that so many steps complete. Default 0. */
  epochAt?(step: number): number;
  /** Further state of checkpoints. */
  state?: { save(): JsonObject; restore(kept: JsonObject): void };
  close(): Promise<void> | void;
}

/** State of early stopping: kept in checkpoints. */
type Patience = { best: number; evaluationsWithoutGain: number };

/**
 * Runs a phase to its last step.
 * @param from checkpoint of this phase to resume from
 * @throws WorkbenchError `stopped` after saving, once the session's signal is aborted; `failure` at a step with numbers that are not finite
 */
export async function runPhase(session: Session, phase: TrainingPhase, from: Checkpoint | undefined): Promise<void> {
  const { logs, run, signal, trial } = session;
  const { name, trainState, start, stepName = 'step' } = phase;
  const kept = from?.header.trainer ?? {};
  if (from) restoreTrainState(trainState, from);
  else if (start) beginWith(trainState, start);
  phase.state?.restore(kept);
  let patience = (kept.patience as Patience | undefined) ?? {
    best: phase.patience?.lowest ?? -Infinity,
    evaluationsWithoutGain: 0,
  };
  let done = from?.header.step ?? 0;
  let last = phase.steps;
  let [saved, evaluated, timed] = [done, done, done];
  const evaluatesAt = (step: number) => step === last || phase.evaluatesAt(step);
  const save = async (metrics: Record<string, number> = {}, interim = false) => {
    const state = { ...(phase.patience && { patience: { ...patience } }), ...phase.state?.save() };
    const epoch = phase.epochAt?.(evaluated) ?? 0;
    await saveTrainState(session, trainState, { phase: name, step: done, epoch, metrics, state, interim });
    saved = done;
  };
  const evaluate = async () => {
    const figures = await figuresOf(session, () => phase.evaluate());
    logs.metrics(name, done, figures);
    evaluated = done;
    const [main] = Object.values(figures) as [number];
    patience =
      main > patience.best
        ? { best: main, evaluationsWithoutGain: 0 }
        : { ...patience, evaluationsWithoutGain: patience.evaluationsWithoutGain + 1 };
    await save(figures);
  };
  const givesUp = () => patience.evaluationsWithoutGain >= (phase.patience?.most ?? Infinity);
  const time = (figures?: Record<string, number>) => logs.timing(name, (timed = done), figures);
  try {
    await phase.prepare?.();
    // A run that was stopped during an evaluation repeats it.
    const isEvaluated = Object.keys(from?.header.metrics ?? {}).some((key) => key.startsWith('eval/'));
    if (done > 0 && evaluatesAt(done) && !isEvaluated) await evaluate();
    const line = session.progress(name, phase.steps, phase.unit, done);
    let latest: PhaseStep | undefined;
    const turn = eventLoopYielder();
    while (done < last && !givesUp()) {
      throwIfStopped(signal);
      latest = await phase.step(done);
      const { metrics, steps } = latest;
      line.update(++done, phase.text(metrics));
      if (trial?.isEnough()) last = done;
      if (phase.logsAt(done, evaluatesAt(done))) logs.metrics(name, done, metrics);
      if (phase.timesEach) time(steps === undefined ? undefined : { 'time/env_steps': steps });
      // A callback that ends training expects the trained weights to be saved.
      if ((await phase.afterStep?.(done, latest)) === true) {
        run.update({ reason: `onUpdate ended training after ${stepName} ${done}` });
        last = done;
      }
      if (evaluatesAt(done)) {
        if (done > timed) time();
        await evaluate();
      } else if (phase.savesAt?.(done)) await save();
      await turn();
    }
    line.finish(latest && phase.text(latest.metrics));
  } catch (error) {
    if (error instanceof WorkbenchError && error.resumable) {
      if (done > timed) time();
      if (done > saved) await save({}, true);
      const kept = `What was trained is saved up to ${stepName} ${saved}.`;
      if (saved > 0 && error.code !== 'stopped')
        Object.assign(error, { hint: [error.hint ?? [], kept].flat().join(' ') });
    }
    throw divergedAt(error, `${name} ${stepName} ${done + 1}`, phase.remedy);
  }
}

/** Steps between two records of the metric log. */
const logEvery = 10;

/** Weights and optimizer state, kept in checkpoints and resumed from; `steps` of the optimizer. */
interface Fitted {
  state(): Promise<{ steps: number; tensors: Record<string, Tensor> }>;
  restore(tensors: StoredTensors, steps: number): void;
}

/** Supervised training as a phase. @param step its metrics include `train/loss` @param phase unit default `steps` */
export function fitPhase(
  fitted: Fitted,
  step: TrainingPhase['step'],
  phase: Pick<TrainingPhase, 'steps' | 'evaluatesAt' | 'evaluate' | 'close'> &
    Partial<Pick<TrainingPhase, 'unit' | 'remedy'>>,
): TrainingPhase {
  return {
    ...{ name: 'fit', unit: 'steps', remedy: 'Lower its learning rate.', ...phase },
    // It names its weights and optimizer state itself.
    trainState: {
      actor: { parameters: { export: () => Promise.resolve({}), import: () => {} }, weightsChanged: () => {} },
      optimizer: {
        exportState: () => fitted.state(),
        importState: (_prefix, steps, tensors) => fitted.restore(tensors, steps),
      },
    },
    text: (metrics) => `loss ${metrics['train/loss']!.toFixed(3)}`,
    step,
    logsAt: (done, evaluates) => evaluates || done % logEvery === 0,
  };
}
