/** One training run from data to a finished folder. What is walked brings its own phases; the rest is here. */
import type { Checkpoint, CheckpointHashes } from '../checkpoints/checkpoint.js';
import { readIndex } from '../checkpoints/store.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import { noEncoder, type StateEncoder } from '../src/encoder/state-encoder.js';
import { configHash } from '../src/run/config.js';
import { collectEnvironment } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import { writeMetricsArrow } from '../src/run/metric-log.js';
import { type ProgressReporter, silentProgress } from '../src/run/progress.js';
import {
  collectProvenance,
  hashOfNotes,
  keepProvenance,
  ProvenanceNotes,
  resumeProvenance,
} from '../src/run/provenance.js';
import type { MetricRecord } from '../src/run/records.js';
import { createRun, type Run, runIn } from '../src/run/run-folder.js';
import { masked } from '../src/run/secrets.js';
import { memoryErrorOf } from '../src/run/stop.js';
import { openBackend } from '../src/tensor/backend.js';
import { checkTrainSettings } from './check-settings.js';
import { forkedWeights, type ForkSource, weightsAtStart, writeStart } from './fork.js';
import { backendToGoOnWith, checkpointToResume, leaveLater, longerConfig } from './resume.js';
import { type Learning, type OnUpdate, openRunLogs, type Session, type Training } from './session.js';
import { plainSettings, type TrainSettings } from './train-settings.js';

/** What is trained where, and from where on. */
export interface TrainOptions {
  settings: TrainSettings;
  /** Evaluates the best checkpoint, when all phases are done. */
  evaluateBest?: ((run: Run) => Promise<void>) | undefined;
  /** The run's folder; made anew, or the one to resume. */
  folder: string;
  /** `last`, `best` or a step: go on from there; afresh where nothing was saved. */
  resume?: string | undefined;
  /** Begin a new run with these weights; `forkSettings` are its settings. */
  fork?: ForkSource | undefined;
  /** Threads that TransE may use; default 1. No byte of weights, metrics or evaluations depends on it. */
  threads?: number;
  progress?: ProgressReporter;
  /** Told of each log how many bytes of an unfinished last line, left by a crash, were cut off; 0 where it was whole. */
  onTorn?: ((file: string, bytes: number) => void) | undefined;
  /** Told what there is to know of the data: how much is trained on, what leaks. */
  onNote?: ((line: string) => void) | undefined;
  /** Told what computes the networks, and why that. */
  onBackend?: ((name: string, why: string) => void) | undefined;
  /** Aborted: the step is finished and saved, then `stopped` is thrown. */
  signal?: AbortSignal | undefined;
  /** Told of every round of PPO once it is logged. Returning true ends training: the run is finished, and says so. */
  onUpdate?: OnUpdate | undefined;
  /** Told of every record of `metrics.jsonl` as it is logged: what a tracker of experiments takes. */
  onMetrics?: ((record: MetricRecord) => void) | undefined;
}

/**
 * Trains a walker. What can be refused is refused before the folder is made.
 * @throws WorkbenchError `config` or `data` for inputs that do not fit, `stopped` after saving on request
 */
export function trainRun(learning: Learning, options: TrainOptions): Promise<void> {
  return collectProvenance(new ProvenanceNotes(), () => trainNoted(learning, options));
}

async function trainNoted(learning: Learning, options: TrainOptions): Promise<void> {
  const {
    settings,
    folder,
    resume,
    fork,
    evaluateBest,
    threads = 1,
    progress = silentProgress,
    onTorn,
    onNote,
    onBackend,
    signal,
    onUpdate,
    onMetrics,
  } = options;
  const before = resume === undefined ? undefined : runIn(folder);
  checkTrainSettings(learning, settings, fork !== undefined || readIndex(folder).clone !== undefined);
  const training = await learning.open(settings);
  for (const note of training.notes) onNote?.(note);
  if (training.readsTexts) onNote?.(`texts encoded by ${settings.encoder.model ?? 'nothing'}`);
  const encoder = await encoderOf(training, settings);
  try {
    const wanted = before ? backendToGoOnWith(before, settings) : settings.backend;
    const { tf, name: backend, why } = await openBackend(wanted, learning.networkSize(settings, encoder.dim));
    onBackend?.(backend, before && settings.backend === 'auto' && wanted !== 'auto' ? 'the run was begun on it' : why);
    const hashes = hashesOf(training, encoder);
    const from = before && checkpointToResume(before, resume!, settings, hashes);
    const forked = fork && (await forkedWeights(learning, fork, settings, hashes));
    const config = before ? (longerConfig(before, settings) ?? before.config) : plainSettings(settings);
    // Native TensorFlow takes as many threads as it likes, whatever was asked for.
    const known = backend.startsWith('tensorflow') && threads === 1 ? {} : { threads };
    const environment = collectEnvironment({ configHash: configHash(config), backend, ...known, hashes });
    const run = createRun({
      folder,
      config,
      environment: { ...environment, ...(forked && { forkedFrom: forked.origin }) },
      resume: resume !== undefined,
      ...(forked && { prepare: () => writeStart(folder, forked) }),
    });
    try {
      const start = weightsAtStart(run.folder, hashes);
      const heard = { progress, signal, onUpdate, note: onNote };
      const parts = { tf, host: backend === 'host', run, settings, encoder, hashes, start, threads, ...heard };
      await runPhases(training, from, parts, { onTorn, onMetrics, evaluateBest });
    } catch (thrown) {
      const error = memoryErrorOf(thrown);
      recordEnd(run, error);
      throw error;
    } finally {
      run.close();
    }
  } finally {
    await encoder.dispose();
  }
}

/** The encoder of a training's texts; the caller disposes it. */
export async function encoderOf({ readsTexts }: Training, settings: TrainSettings): Promise<StateEncoder> {
  return readsTexts ? openEncoder(settings.encoder, { cacheFolder: cacheFolder() }) : noEncoder();
}

/** What the weights of a training belong to. */
export function hashesOf({ hashes, readsTexts }: Training, encoder: StateEncoder): CheckpointHashes {
  const { graph, dataset, slots } = hashes;
  return {
    ...(graph !== undefined && { graph }),
    ...(readsTexts && { encoder: encoder.id }),
    dataset,
    ...(slots !== undefined && { slots }),
  };
}

/** All phases, in a folder that is this process's. */
async function runPhases(
  training: Training,
  from: Checkpoint | undefined,
  parts: Omit<Session, 'logs'>,
  { onTorn, onMetrics, evaluateBest }: Pick<TrainOptions, 'onTorn' | 'onMetrics' | 'evaluateBest'>,
): Promise<void> {
  const { run, settings } = parts;
  const logs = openRunLogs(run, settings.log.tensorboard, onTorn, onMetrics);
  try {
    leaveLater(run, logs, settings, from);
    if (from || parts.start) resumeProvenance(run.files.provenance);
    await training.run({ ...parts, logs }, from);
    logs.flush();
    keepProvenance(run.files.provenance);
    await evaluateBest?.(run);
    const provenanceSha256 = hashOfNotes(run.files.provenance);
    writeMetricsArrow(run.files.metrics, run.files.metricsArrow);
    run.update({ status: 'finished', ...(provenanceSha256 !== undefined && { provenanceSha256 }) });
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
    writeMetricsArrow(run.files.metrics, run.files.metricsArrow);
  } catch {
    // A full disk takes no state either; the error itself says more.
  }
}
