/** PPO phase of a run, for any kind of walk: evaluates, saves, stops early, and resumes. */
import type { Actor, ValueNetwork } from '../agents/actor.js';
import { readRunCheckpoint } from '../checkpoints/chain.js';
import { checkFits, type Checkpoint } from '../checkpoints/checkpoint.js';
import { WorkbenchError } from '../src/run/errors.js';
import { AdamW } from '../src/nn/adamw.js';
import { divergedAt } from '../src/nn/diverged.js';
import type { Parameters } from '../src/nn/parameters.js';
import type { PpoSettings } from './ppo-settings.js';
import type { Learner } from './ppo-step.js';
import type { PpoOptions, PpoUpdate } from './ppo.js';
import { beginWith, figuresOf, restoreTrainState, saveTrainState, type Session, type TrainState } from './session.js';

/** Input of the training algorithm. */
type PpoShared = Pick<
  PpoOptions<unknown, unknown>,
  'settings' | 'seed' | 'startUpdate' | 'startAverage' | 'onUpdate' | 'signal'
>;

/** Networks, evaluation and resume state. */
interface PpoPhase {
  /** Saved and restored state; disposed by the caller. */
  trainState: TrainState;
  /** Figures on valid by `eval/…`; the first chooses the best checkpoint. */
  evaluate: () => Promise<Record<string, number>>;
  /** Trains from `startUpdate` until the last update or until `onUpdate` returns true. */
  train: (shared: PpoShared) => Promise<void>;
  /** Initial weights: see `firstWeights`. */
  first: Checkpoint | undefined;
  /** Checkpoint of this phase to resume from instead. */
  from: Checkpoint | undefined;
  /** Settings of PPO in this phase. Default: those of the run. */
  settings?: PpoSettings;
  /** Lower bound of the first figure of `evaluate`. Default -1, below all shares. */
  lowestFigure?: number;
  /** Progress line of a round. Default: its reward and the KL from the clone. */
  progressText?: (metrics: Readonly<Record<string, number>>) => string;
}

/** State of early stopping: kept in checkpoints. */
interface Patience {
  best: number;
  evaluationsWithoutGain: number;
}

/**
 * Initial weights of PPO, which are also its reference policy, for any task: with `ppo.init=clone` those
 * of the run's clone, which in a fork that clones nothing are the forked ones; else the forked ones. A run that forks
 * nothing draws new ones.
 * @throws WorkbenchError `data` for a clone of other data or another encoder, copied into the folder by hand
 */
export function firstWeights(session: Pick<Session, 'run' | 'settings' | 'hashes' | 'start'>): Checkpoint | undefined {
  const { run, settings, hashes, start } = session;
  if (settings.ppo.init === 'scratch') return start;
  const clone = readRunCheckpoint(run.folder, 'clone');
  checkFits(clone.header, hashes, clone.entry.file);
  return clone;
}

/** AdamW by the settings of PPO. */
export function adamOf(parameters: Parameters, { adamEpsilon, maxGradNorm }: PpoSettings): AdamW {
  return new AdamW(parameters, { epsilon: adamEpsilon, ...(maxGradNorm > 0 && { maxGradNorm }) });
}

/** A learner with optimizers by the settings of PPO; closing it disposes networks and optimizers. */
export function openLearner<Observation, Request>(
  actor: Actor<Observation, Request>,
  network: ValueNetwork<Request> | undefined,
  settings: PpoSettings,
) {
  const optimizer = adamOf(actor.parameters, settings);
  const critic = network && { network, optimizer: adamOf(network.parameters, settings) };
  const learner: Learner<Observation, Request> = { actor, optimizer, critic };
  const close = () => {
    optimizer.dispose();
    critic?.optimizer.dispose();
    network?.dispose();
    actor.dispose();
  };
  return { learner, close };
}

const rewardAndKl = (metrics: Readonly<Record<string, number>>) =>
  `reward ${metrics['rollout/reward']!.toFixed(3)} · kl ${metrics['train/anchor_kl']!.toFixed(3)}`;

/** @throws WorkbenchError `stopped` after saving, once the session's signal is aborted */
export async function ppoPhase(session: Session, phase: PpoPhase): Promise<void> {
  const { trainState, evaluate, train, first, from, lowestFigure = -1, progressText = rewardAndKl } = phase;
  const { logs, run, signal } = session;
  const { seed, checkpoint } = session.settings;
  const settings = phase.settings ?? session.settings.ppo;
  if (from) restoreTrainState(trainState, from);
  else if (first) beginWith(trainState, first);
  const startUpdate = from?.header.step ?? 0;
  // Defined if advantages use it as baseline.
  let averageReturn = from?.header.trainer.averageReturn as number | undefined;
  const shared = { settings, seed, signal, startUpdate, startAverage: averageReturn };
  let patience = (from?.header.trainer.patience as unknown as Patience | undefined) ?? {
    best: lowestFigure,
    evaluationsWithoutGain: 0,
  };
  const line = session.progress('ppo', settings.updates, 'updates', startUpdate);
  let done = startUpdate;
  let saved = startUpdate;
  const save = async (metrics: Record<string, number> = {}, interim = false) => {
    const state = { patience: { ...patience }, ...(averageReturn !== undefined && { averageReturn }) };
    await saveTrainState(session, trainState, { phase: 'ppo', step: done, epoch: 0, metrics, state, interim });
    saved = done;
  };
  const evaluatesAt = (update: number) => update === settings.updates || update % settings.evalEvery === 0;
  const score = async () => {
    const figures = await figuresOf(session, evaluate);
    logs.metrics('ppo', done, figures);
    const main = Object.values(figures)[0]!;
    patience =
      main > patience.best
        ? { best: main, evaluationsWithoutGain: 0 }
        : { ...patience, evaluationsWithoutGain: patience.evaluationsWithoutGain + 1 };
    await save(figures);
  };
  const givesUp = () => settings.patience !== null && patience.evaluationsWithoutGain >= settings.patience;
  const onUpdate = async ({ update, steps, metrics, ...left }: PpoUpdate): Promise<boolean> => {
    done = update;
    averageReturn = left.averageReturn;
    logs.metrics('ppo', update, metrics);
    line.update(update, progressText(metrics));
    logs.timing('ppo', update, { 'time/env_steps': steps });
    const ends = (await session.onUpdate?.({ update, steps, metrics })) === true || session.trial?.isEnough() === true;
    // A callback that ends training expects the trained weights to be saved.
    if (evaluatesAt(update) || ends) await score();
    else if (update % checkpoint.everyUpdates === 0) await save();
    if (ends) run.update({ reason: `onUpdate ended training after update ${update}` });
    return ends || givesUp();
  };
  try {
    // A run that was stopped during an evaluation repeats it.
    if (from && evaluatesAt(done) && !Object.keys(from.header.metrics).some((key) => key.startsWith('eval/')))
      await score();
    if (givesUp()) return;
    await train({ ...shared, onUpdate });
    line.finish();
  } catch (error) {
    if (error instanceof WorkbenchError && error.resumable) {
      if (done > saved) await save({}, true);
      const kept = `What was trained is saved up to update ${saved}.`;
      if (saved > 0 && error.code !== 'stopped')
        Object.assign(error, { hint: [error.hint ?? [], kept].flat().join(' ') });
    }
    const remedy =
      settings.adamEpsilon === 0 ? 'Raise ppo.adamEpsilon above 0.' : 'Lower ppo.learningRate or ppo.maxGradNorm.';
    throw divergedAt(error, `ppo update ${done + 1}`, remedy);
  }
}
