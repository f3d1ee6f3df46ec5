/** Going on with a run: what must be as it was, and which checkpoint it goes on from. */
import { readRunCheckpoint } from '../checkpoints/chain.js';
import { checkFits, type Checkpoint, type CheckpointHashes } from '../checkpoints/checkpoint.js';
import { type CheckpointEntry, compareEntries } from '../checkpoints/keeper.js';
import { dropCheckpoints, readIndex, resolveCheckpoint } from '../checkpoints/store.js';
import { applyOverrides, configDifferences, decisiveSettings, refuseDifferences } from '../src/run/config.js';
import type { RunInfo } from '../src/run/records.js';
import type { Run } from '../src/run/run-folder.js';
import { computerNames } from '../src/tensor/backend.js';
import type { RunLogs } from './session.js';
import { plainSettings, settingsOfRun, type TrainSettings } from './train-settings.js';

/**
 * The checkpoint to go on from, or undefined for a run that has trained nothing yet and starts afresh.
 * @param which `last`, `best`, a name or a step
 * @throws WorkbenchError `config` that lists settings which differ, `data` for a checkpoint that is not there or was
 *   trained on something else
 */
export function checkpointToResume(
  before: RunInfo,
  which: string,
  settings: TrainSettings,
  hashes: CheckpointHashes,
): Checkpoint | undefined {
  refuseOtherSettings(before, settings, hashes.encoder);
  const known = before.environment.hashes;
  const told = Object.fromEntries(Object.entries(hashes).filter(([name]) => name in known));
  checkFits({ hashes: known }, told, before.folder, 'a run');
  if (!readIndex(before.folder).last) return undefined;
  const entry = resolveCheckpoint(before.folder, which);
  if (!isTrainedIn(settings, entry)) return undefined;
  const checkpoint = readRunCheckpoint(before.folder, entry);
  checkFits(checkpoint.header, hashes, entry.file);
  return checkpoint;
}

/**
 * The backend to go on with: the one that the run was begun on, whatever is the fastest here by now, since others round
 * otherwise.
 */
export function backendToGoOnWith({ environment }: RunInfo, { backend }: TrainSettings): TrainSettings['backend'] {
  const known = computerNames.find((name) => name === environment.backend);
  return backend === 'auto' && known ? known : backend;
}

/**
 * Leaves what was done after the checkpoint. The index comes first: a kill before the log is cut leaves one that is longer
 * than its checkpoint says, which the next resume cuts; a shorter one could not be gone on with.
 * @throws WorkbenchError `data` when the log of metrics is not the checkpoint's, before anything is left
 */
export function leaveLater(
  { folder }: Run,
  logs: Pick<RunLogs, 'check' | 'truncateAfter'>,
  settings: TrainSettings,
  from: Checkpoint | undefined,
): void {
  const { metricsBytes = 0, metricsSha256 } = from?.header.trainer ?? {};
  const mark = { bytes: Number(metricsBytes), sha256: metricsSha256 as string | undefined };
  logs.check(mark);
  const stays = (entry: CheckpointEntry) => from !== undefined && compareEntries(entry, from.header) <= 0;
  dropCheckpoints(folder, (entry) => stays(entry) || !isTrainedIn(settings, entry));
  logs.truncateAfter(mark);
}

/** Whether the run itself trained it: it did not train what a fork begins with, nor a clone that was put there. */
export function isTrainedIn({ clone }: TrainSettings, { phase, step }: CheckpointEntry): boolean {
  return step > 0 && (phase === 'ppo' || phase === 'fit' || clone.enabled);
}

/** Settings that say how long a run is trained, and nothing else. */
const lengths = [
  ['ppo', 'updates'],
  ['ppo', 'patience'],
  ['policy', 'totalSteps'],
] as const;

/**
 * The settings of a run that is to be trained for longer than it was, as the run keeps them; undefined where nothing grew.
 * @param settings that are asked for
 */
export function longerConfig({ config }: RunInfo, settings: TrainSettings): Record<string, unknown> | undefined {
  const grown = lengths.flatMap(([section, key]) => {
    const known = (config[section] as Record<string, unknown> | undefined)?.[key];
    const value = (settings[section] as Record<string, unknown> | undefined)?.[key];
    return grew(known, value) ? [{ path: [section, key], value }] : [];
  });
  return grown.length === 0 ? undefined : applyOverrides(config, grown);
}

/** Whether a length is more than it was; none is without end. */
const grew = (known: unknown, value: unknown) =>
  typeof known === 'number' && (value === null || (typeof value === 'number' && value > known));

/**
 * Refuses settings that are not the run's, but for those that change no weight, such as `log.tensorboard`, and for a longer training. A
 * run keeps the place that it knows its model by, wherever the file is now: the encoder's id says that it is the same.
 * @param encoder id of the model at hand; undefined: not opened yet, which model it is is not asked
 * @throws WorkbenchError `config` that lists them all
 */
export function refuseOtherSettings(before: RunInfo, settings: TrainSettings, encoder?: string): void {
  const longer = longerConfig(before, settings);
  const known = settingsOfRun(longer ? { ...before, config: longer } : before);
  const sameModel = encoder === undefined || encoder === before.environment.hashes.encoder;
  const asked = sameModel ? { ...settings, encoder: { ...settings.encoder, model: known.encoder.model } } : settings;
  refuseDifferences(
    configDifferences(decisiveSettings(plainSettings(known)), decisiveSettings(plainSettings(asked))),
    'the settings of the run',
    before.folder,
    'Resume without changing settings but ppo.updates, ppo.patience or policy.totalSteps, which may grow; or begin a new run with the weights of this one by --fork.',
  );
}
