/** One training run from data to a finished folder. What is walked brings its own phases; the rest is here. */
import { existsSync } from 'node:fs';
import { checkFits, readCheckpoint, type Checkpoint, type CheckpointHashes } from '../checkpoints/checkpoint.js';
import { readIndex, resolveCheckpoint } from '../checkpoints/store.js';
import { questionWalkIds } from '../envs/question-walks.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import { configHash } from '../src/run/config.js';
import { collectEnvironment } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import { writeMetricsArrow } from '../src/run/metric-log.js';
import { silentProgress, type ProgressReporter } from '../src/run/progress.js';
import { collectProvenance, keepProvenance, ProvenanceNotes, resumeProvenance } from '../src/run/provenance/notes.js';
import { createRun, openRun, runFiles, type Run } from '../src/run/run-folder.js';
import { masked } from '../src/run/secrets.js';
import { openBackend } from '../src/tensor/backend.js';
import { checkTrainSettings } from './check-settings.js';
import { openDialogueTraining } from './dialogues/training.js';
import { openQuestionTraining } from './questions/training.js';
import { openRunLogs } from './run-logs.js';
import type { Session, Training } from './session.js';
import type { TrainSettings } from './train-settings.js';

export interface TrainOptions {
  settings: TrainSettings;
  /** The run's folder; made anew, or the one to resume. */
  folder: string;
  /** `last`, `best` or a step: go on from there; afresh where nothing was saved. */
  resume?: string | undefined;
  progress?: ProgressReporter;
  /** Told of each log how many bytes of an unfinished last line, left by a crash, were cut off; 0 where it was whole. */
  onTorn?: ((file: string, bytes: number) => void) | undefined;
  /** Aborted: the step is finished and saved, then `stopped` is thrown. */
  signal?: AbortSignal | undefined;
}

/**
 * Trains a walker. What can be refused is refused before the folder is made.
 * @throws WorkbenchError `config` or `data` for inputs that do not fit, `stopped` after saving on request
 */
export function train(options: TrainOptions): Promise<void> {
  return collectProvenance(new ProvenanceNotes(), () => trainNoted(options));
}

async function trainNoted(options: TrainOptions): Promise<void> {
  const { settings, folder, resume, progress = silentProgress, onTorn, signal } = options;
  checkTrainSettings(settings, readIndex(folder).clone !== undefined);
  const open = questionWalkIds.includes(settings.env.id) ? openQuestionTraining : openDialogueTraining;
  const training = await open(settings);
  const encoder = await openEncoder(settings.encoder, { cacheFolder: cacheFolder() });
  try {
    const { tf, name: backend } = await openBackend(settings.backend);
    const { graph, dataset } = training.hashes;
    const hashes = { graph, encoder: encoder.id, dataset };
    const from = resume === undefined ? undefined : checkpointToResume(folder, resume, hashes);
    const config = configOf(settings, resume === undefined ? undefined : folder, encoder.id);
    // Native TensorFlow takes as many threads as it likes.
    const threads = backend === 'tensorflow' ? {} : { threads: 1 };
    const environment = collectEnvironment({ configHash: configHash(config), backend, ...threads, hashes });
    const run = createRun({ folder, config, environment, resume: resume !== undefined });
    try {
      await runPhases(training, from, { tf, run, settings, encoder, hashes, progress, signal }, onTorn);
    } catch (error) {
      recordEnd(run, error);
      throw error;
    } finally {
      run.close();
    }
  } finally {
    await encoder.dispose();
  }
}

/** All phases, in a folder that is this process's. */
async function runPhases(
  training: Training,
  from: Checkpoint | undefined,
  parts: Omit<Session, 'logs'>,
  onTorn: TrainOptions['onTorn'],
): Promise<void> {
  const { run, settings } = parts;
  const logs = openRunLogs(run, settings.log.tensorboard, onTorn);
  try {
    if (from) resumeProvenance(run.files.provenance);
    else logs.truncateAfter({ bytes: 0 });
    await training.run({ ...parts, logs }, from);
    logs.flush();
    keepProvenance(run.files.provenance);
    await writeMetricsArrow(run.files.metrics, run.files.metricsArrow);
    run.update({ status: 'finished' });
  } finally {
    logs.close();
  }
}

/** Says in the run's state how it ended. */
function recordEnd(run: Run, error: unknown): void {
  const stopped = error instanceof WorkbenchError && error.code === 'stopped';
  const reason = masked(String((error as Error).message).split('\n')[0]!);
  try {
    run.update(stopped ? { status: 'stopped' } : { status: 'failed', reason });
  } catch {
    // A full disk takes no state either; the error itself says more.
  }
}

/**
 * The settings as the run's folder keeps them. A run that goes on keeps the place it knows its model by, wherever the
 * file is now: the encoder's id says that it is the same.
 * @param folder of the run to resume
 */
function configOf(settings: TrainSettings, folder: string | undefined, encoder: string): Record<string, unknown> {
  const config = JSON.parse(JSON.stringify(settings)) as Record<string, unknown> & Pick<TrainSettings, 'encoder'>;
  if (folder !== undefined && existsSync(runFiles(folder).config)) {
    const before = openRun(folder);
    const known = (before.config.encoder as Partial<TrainSettings['encoder']> | undefined)?.model;
    if (known !== undefined && before.environment.hashes.encoder === encoder) config.encoder.model = known;
  }
  return config;
}

/** @throws WorkbenchError `data` for a checkpoint that is not there or was trained on something else */
function checkpointToResume(folder: string, which: string, hashes: CheckpointHashes): Checkpoint | undefined {
  if (!readIndex(folder).last) return undefined;
  const { file } = resolveCheckpoint(folder, which);
  const checkpoint = readCheckpoint(file);
  checkFits(checkpoint.header, hashes, file);
  return checkpoint;
}
