/** Training of any task: the environment of the settings decides which. */
import type { Row } from '../evaluation/score.js';
import {
  changedPluginsOf,
  loadedPlugins,
  pluginLabel,
  pluginLabels,
  requirePlugins,
  requirePluginsOf,
} from '../src/run/plugins.js';
import { silentProgress } from '../src/run/progress.js';
import type { RunInfo } from '../src/run/records.js';
import { openRun, runIn } from '../src/run/run-folder.js';
import { forkSettings as forkOf } from '../trainers/fork.js';
import type { TrainSettings } from '../agents/train-settings.js';
import { type TrainOptions, trainRun } from '../trainers/train.js';
import { trial, type TrialOptions, type TrialReport } from '../trainers/trial.js';
import { evaluateNamed, type NamedEvaluation } from './evaluate.js';
import { usualFlags } from './flags.js';
import { type AnyTask, taskOfConfig, taskOfSettings } from './index.js';
import { loadPluginsOf } from './plugins.js';

/**
 * Trains a run, and evaluates its best checkpoint on valid as `kgwalk evaluate` does. What can be refused is refused before the
 * folder is made.
 * @param known its task; default: that of the settings
 * @returns the evaluation of the best on valid, unless another was asked for
 * @throws WorkbenchError `config` or `data` for inputs that do not fit, `stopped` after saving on request
 */
export async function train(
  given: TrainOptions<TrainSettings>,
  known?: AnyTask,
): Promise<NamedEvaluation<Row> | undefined> {
  const { settings, task } = await prepared(given, known);
  const options = { ...given, settings };
  let best: NamedEvaluation<Row> | undefined;
  const evaluateBest = async ({ folder }: { folder: string }) => {
    const { settings, progress = silentProgress, signal, onNote = () => {}, onTruncatedLog = () => {} } = options;
    const flags = {
      ...{ ...usualFlags, split: 'valid', encoder: settings.encoder.model ?? undefined },
      ...task.flagsOf.best?.(settings),
    };
    const work = { progress, signal, note: onNote, onTruncatedLog, preset: () => Promise.resolve(settings) };
    const label = 'evaluate the best on valid';
    [best] = await evaluateNamed(task, [{ name: folder, isRun: true }], flags, work, { label });
  };
  await trainRun(task.learning, { evaluateBest, ...options });
  return best;
}

/** Tries a training: a second of each phase, and the cost of the whole run. @throws WorkbenchError as `train`; nothing is left */
export async function tryRun(
  options: TrialOptions<TrainSettings> & Pick<TrainOptions, 'folder' | 'resume'>,
): Promise<TrialReport> {
  const { folder: _folder, resume: _resume, ...others } = options;
  const { settings, task } = await prepared(options);
  return trial(task.learning, { ...others, settings });
}

/** Settings with labels of plugins and all that the data decides, and their task. */
async function prepared(options: Parameters<typeof withPlugins>[0], known?: AnyTask) {
  const settings = await withPlugins(options);
  const task = known ?? (await taskOfSettings(settings));
  return { task, settings: (await task.settle?.(settings, options.onNote ?? (() => {}))) ?? settings };
}

/**
 * Loads the plugins that settings name.
 * @returns the settings with labels of all loaded plugins; for a resumed run, its own
 * @throws WorkbenchError `usage` for a plugin of the run that is not loaded, `config` for one that changed
 */
async function withPlugins(
  options: Pick<TrainOptions<TrainSettings>, 'settings' | 'folder' | 'resume' | 'fork' | 'onNote'>,
): Promise<TrainSettings> {
  const { settings, folder, resume, fork, onNote } = options;
  await loadPluginsOf(settings);
  const before = resume === undefined ? undefined : runIn(folder);
  const { plugins: _plugins, ...plain } = settings;
  const labelled = (plugins: string[]) => (plugins.length > 0 ? { ...plain, plugins } : plain);
  if (before) {
    requirePluginsOf(before);
    return labelled(pluginLabels(before.config));
  }
  if (fork) for (const line of changedPluginsOf(openRun(fork.run))) onNote?.(line);
  else requirePlugins(pluginLabels(settings), { what: 'the settings', place: folder });
  return labelled(loadedPlugins().map(pluginLabel));
}

/** The settings of a fork: see `trainers/fork.ts`. @throws WorkbenchError `config` */
export async function forkSettings(run: RunInfo, overrides: readonly string[]): Promise<TrainSettings> {
  const { learning } = await taskOfConfig(run.config);
  return forkOf(learning, run, overrides);
}
