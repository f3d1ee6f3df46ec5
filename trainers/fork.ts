/** Forks: new runs that start from the weights of another run's checkpoint, stored as their checkpoint of step 0. */
import { checkFits, weightsOnly, type Checkpoint, type CheckpointHashes } from '../checkpoints/checkpoint.js';
import { readRunCheckpoint } from '../checkpoints/chain.js';
import { readIndex, saveCheckpoint } from '../checkpoints/store.js';
import { configDifferences, refuseDifferences } from '../src/run/config-values.js';
import { WorkbenchError } from '../src/run/errors.js';
import { sha256File } from '../src/run/files.js';
import { readRunProvenance, unknownWeights, writeProvenance } from '../src/run/provenance.js';
import type { ForkOrigin, RunInfo } from '../src/run/records.js';
import { runFiles } from '../src/run/run-files.js';
import { openRun } from '../src/run/run-folder.js';
import type { TaskTrainer, TrainedMethod } from './task-trainer.js';
import { plainSettings, type RunSettings } from './run-settings.js';

/** Source of a fork's initial weights. */
export interface ForkSource {
  /** Folder of the run; only read. */
  run: string;
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: string;
}

/** Initial state of a fork. */
type Forked = { weights: Checkpoint; origin: ForkOrigin };

/**
 * Settings of a fork: those of the run, but PPO continues from the weights at once. `clone.enabled=true` clones first,
 * as does a fork without PPO.
 * @param overrides such as `ppo.learningRate=1e-5`
 * @throws WorkbenchError `config`
 */
export function forkSettings<Settings extends RunSettings>(
  learning: Pick<TaskTrainer<Settings>, 'settingsOf' | 'methodOf'>,
  run: RunInfo,
  overrides: readonly string[],
): Settings {
  const known = learning.settingsOf(run);
  const forkPhase = learning.methodOf(known).forkPhase?.(known);
  if (forkPhase === undefined) {
    const message = `expected a run of a sampling walker to fork, got another, at ${run.folder}`;
    throw new WorkbenchError('config', message, {
      hint: 'Train it by other settings from the beginning: it takes minutes.',
    });
  }
  const begin = forkPhase === 'clone' ? ['clone.enabled=false', 'ppo.init=clone'] : [];
  const settings = learning.settingsOf(run, [...begin, ...overrides]);
  return settings.ppo.enabled ? settings : { ...settings, clone: { ...settings.clone, enabled: true } };
}

/**
 * Reads the weights as a checkpoint of step 0: a clone, from which PPO starts and to which it is anchored; for a task
 * that clones nothing, a PPO checkpoint. Optimizer, schedule and scores stay with the original run.
 * @throws WorkbenchError `data` for a checkpoint that is missing or of another graph, encoder or data set, `config` for
 * settings under which the weights would have another shape or meaning
 */
export async function forkedWeights(
  learning: Pick<TaskTrainer, 'settingsOf' | 'methodOf'>,
  { run, checkpoint: which }: ForkSource,
  settings: RunSettings,
  hashes: CheckpointHashes,
): Promise<Forked> {
  const source = openRun(run);
  const method = learning.methodOf(settings);
  const forkPhase = method.forkPhase?.(settings) ?? 'ppo';
  const { entry, ...checkpoint } = readRunCheckpoint(source.folder, which, { finite: true });
  const { name, file } = entry;
  const { header, tensors } = weightsOnly(checkpoint);
  // The fork makes its own tables.
  const { files: _files, ...kept } = header;
  checkFits(header, hashes, file);
  refuseDifferences(
    configDifferences(meaningOf(method, learning.settingsOf(source)), meaningOf(method, settings)),
    'a fork to keep what gives weights their shape and meaning',
    source.folder,
    'Train a run of these settings from the beginning.',
  );
  if (forkPhase === 'clone' && settings.ppo.enabled && settings.ppo.init !== 'clone') {
    throw new WorkbenchError('config', 'expected ppo.init=clone in a fork, whose weights it is, got scratch');
  }
  return {
    weights: { header: { ...kept, phase: forkPhase, step: 0, epoch: 0, metrics: {} }, tensors },
    origin: { run: source.folder, checkpoint: name, sha256: await sha256File(file) },
  };
}

/** Writes the initial state into the fork's folder: the weights, and their sources as far as the run recorded them. */
export function writeStart(folder: string, { weights, origin }: Forked): void {
  saveCheckpoint(folder, weights, { keepLast: 1, keepEvery: 0 });
  writeProvenance(runFiles(folder).provenance, readRunProvenance(openRun(origin.run)) ?? unknownWeights);
}

/** Initial weights of a run, while it keeps them; undefined for a run that is no fork. */
export function weightsAtStart(folder: string, hashes: CheckpointHashes): Checkpoint | undefined {
  const first = readIndex(folder).checkpoints.find(({ step }) => step === 0);
  if (!first) return undefined;
  const checkpoint = readRunCheckpoint(folder, first);
  checkFits(checkpoint.header, hashes, first.file);
  return checkpoint;
}

/** Settings that define the meaning of weights; the model's path is omitted, since the encoder's id identifies it. */
function meaningOf(method: TrainedMethod, settings: RunSettings) {
  const { id, options, horizon, equalAtStep1 } = settings.env;
  const { model: _model, workers: _workers, gpu: _gpu, ...encoder } = settings.encoder;
  return plainSettings({ env: { id, options, horizon, equalAtStep1 }, encoder, ...method.meaning?.(settings) });
}
