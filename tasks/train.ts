/** Training, whatever the task: the environment of the settings says which. */
import { silentProgress } from '../src/run/progress.js';
import type { RunInfo } from '../src/run/records.js';
import { forkSettings as forkOf } from '../trainers/fork.js';
import { type Replay, replayBatch as replayOf, type ReplayOptions } from '../trainers/replay-batch.js';
import { settingsOfRun, type TrainSettings } from '../trainers/train-settings.js';
import { type TrainOptions, trainRun } from '../trainers/train.js';
import { evaluateNamed } from './evaluate.js';
import { type AnyTask, taskOfEnv } from './index.js';

/**
 * Trains a walker, and evaluates its best checkpoint on valid as `kgwalk evaluate` does. What can be refused is refused before the
 * folder is made.
 * @throws WorkbenchError `config` or `data` for inputs that do not fit, `stopped` after saving on request
 */
export async function train(options: TrainOptions): Promise<void> {
  const task = await taskOfEnv(options.settings.env.id);
  const evaluateBest = ({ folder }: { folder: string }) => evaluateOnValid(task, folder, options);
  return trainRun(task.learning, { evaluateBest, ...options });
}

async function evaluateOnValid(task: AnyTask, folder: string, options: TrainOptions): Promise<void> {
  const { settings, progress = silentProgress, signal, onNote = () => {}, onTorn = () => {} } = options;
  const { model } = settings.encoder;
  const flags = {
    ...{ checkpoint: 'best', split: 'valid', set: [], modelSet: [] },
    ...(model != null && { encoder: model }),
    ...task.validFlags?.(settings),
  };
  const preset = () => Promise.resolve(settings);
  const work = { progress, signal, note: onNote, torn: onTorn, preset };
  await evaluateNamed(task, [{ name: folder, isRun: true }], flags, work, { label: 'evaluate the best on valid' });
}

/** The settings of a fork: see `trainers/fork.ts`. @throws WorkbenchError `config` */
export async function forkSettings(run: RunInfo, overrides: readonly string[]): Promise<TrainSettings> {
  const { learning } = await taskOfEnv(settingsOfRun(run).env.id);
  return forkOf(learning, run, overrides);
}

/** Makes the step again that a run diverged at: see `trainers/replay-batch.ts`. */
export async function replayBatch(options: ReplayOptions): Promise<Replay> {
  const { learning } = await taskOfEnv(options.settings.env.id);
  return replayOf(learning, options);
}
