/** Resuming a run: checks that its inputs are unchanged, and chooses the checkpoint. */
import { readRunCheckpoint } from '../checkpoints/chain.js';
import { checkFits, type Checkpoint, type CheckpointHashes } from '../checkpoints/checkpoint.js';
import { type CheckpointEntry, compareEntries } from '../checkpoints/keeper.js';
import { dropCheckpoints, readIndex, resolveCheckpoint } from '../checkpoints/store.js';
import { configDifferences, decisiveSettings, refuseDifferences } from '../src/run/config-values.js';
import { applyOverrides } from '../src/run/config.js';
import type { RunInfo } from '../src/run/records.js';
import type { Run } from '../src/run/run-folder.js';
import { executorNames } from '../src/nn/open-executor.js';
import type { RunLogs } from './session.js';
import type { TaskTrainer } from './task-trainer.js';
import { plainSettings, type RunSettings } from './run-settings.js';

/**
 * Checkpoint to resume from, or undefined for a run without any training yet, which starts from scratch.
 * @param which `last`, `best`, a name or a step
 * @throws WorkbenchError `config` that lists differing settings, `data` for a checkpoint that is missing or was trained on something else
 */
export function checkpointToResume(
  before: RunInfo,
  which: string,
  settings: RunSettings,
  hashes: CheckpointHashes,
  learning: Pick<TaskTrainer, 'settingsOf'>,
): Checkpoint | undefined {
  refuseOtherSettings(learning, before, settings, hashes.encoder);
  const known = before.environment.hashes;
  const current = Object.fromEntries(Object.entries(hashes).filter(([name]) => name in known));
  checkFits({ hashes: known }, current, before.folder, 'a run');
  if (!readIndex(before.folder).last) return undefined;
  const entry = resolveCheckpoint(before.folder, which);
  if (!isTrainedIn(settings, entry)) return undefined;
  const checkpoint = readRunCheckpoint(before.folder, entry);
  checkFits(checkpoint.header, hashes, entry.file);
  return checkpoint;
}

/** Backend of a resumed run: the one it was started on, even if another is faster here by now, since others round differently. */
export function backendToGoOnWith({ environment }: RunInfo, { backend }: RunSettings): RunSettings['backend'] {
  const known = executorNames.find((name) => name === environment.backend);
  return backend === 'auto' && known ? known : backend;
}

/**
 * Discards everything after the checkpoint. The index comes first: a kill before the log is cut leaves a log that is
 * longer than its checkpoint's, which the next resume cuts; a shorter log could not be resumed.
 * @throws WorkbenchError `data` if the log of metrics is not the checkpoint's, before anything is discarded
 */
export function discardAfter(
  { folder }: Run,
  logs: Pick<RunLogs, 'check' | 'truncateAfter'>,
  settings: RunSettings,
  from: Checkpoint | undefined,
): void {
  const { metricsBytes = 0, metricsSha256 } = from?.header.trainer ?? {};
  const mark = { bytes: Number(metricsBytes), sha256: metricsSha256 as string | undefined };
  logs.check(mark);
  const stays = (entry: CheckpointEntry) => from !== undefined && compareEntries(entry, from.header) <= 0;
  dropCheckpoints(folder, (entry) => stays(entry) || !isTrainedIn(settings, entry));
  logs.truncateAfter(mark);
}

/** True if the run itself trained the checkpoint: not a fork's initial one, nor a clone that was copied in. */
export function isTrainedIn({ clone }: RunSettings, { phase, step }: CheckpointEntry): boolean {
  return step > 0 && (phase === 'ppo' || phase === 'fit' || clone.enabled);
}

/** Settings that change only the length of training. */
const lengths = [
  ['ppo', 'updates'],
  ['ppo', 'patience'],
  ['policy', 'totalSteps'],
] as const;

/** Settings to keep for a run whose training is extended; undefined if nothing was extended. @param settings requested ones */
export function longerConfig({ config }: RunInfo, settings: RunSettings): Record<string, unknown> | undefined {
  const grown = lengths.flatMap(([section, key]) => {
    const known = (config[section] as Record<string, unknown> | undefined)?.[key];
    const value = ((settings as Record<string, unknown>)[section] as Record<string, unknown> | undefined)?.[key];
    return grew(known, value) ? [{ path: [section, key], value }] : [];
  });
  return grown.length === 0 ? undefined : applyOverrides(config, grown);
}

/** True if a length exceeds the previous one; undefined means unlimited. */
const grew = (known: unknown, value: unknown) =>
  typeof known === 'number' && (value === null || (typeof value === 'number' && value > known));

/**
 * Refuses settings that differ from the run's, except those that change no weight, such as `log.tensorboard`, and
 * longer training. A run keeps its model path even if the file has moved: the encoder's id shows that it is the same.
 * @param encoder id of the model; undefined: not opened yet and not compared
 * @throws WorkbenchError `config` that lists them all
 */
export function refuseOtherSettings(
  learning: Pick<TaskTrainer, 'settingsOf'>,
  before: RunInfo,
  settings: RunSettings,
  encoder?: string,
): void {
  const longer = longerConfig(before, settings);
  const known = learning.settingsOf(longer ? { ...before, config: longer } : before);
  const sameModel = encoder === undefined || encoder === before.environment.hashes.encoder;
  const asked = sameModel ? { ...settings, encoder: { ...settings.encoder, model: known.encoder.model } } : settings;
  refuseDifferences(
    configDifferences(decisiveSettings(plainSettings(known)), decisiveSettings(plainSettings(asked))),
    'the settings of the run',
    before.folder,
    'Resume without changing settings but ppo.updates, ppo.patience or policy.totalSteps, which may grow; or begin a new run with the weights of this one by --fork.',
  );
}
