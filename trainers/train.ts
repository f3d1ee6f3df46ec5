/** Training run from data to a finished folder. Each task brings its phases; this file has what they share. */
import type { CheckpointHashes } from '../checkpoints/checkpoint.js';
import { readIndex } from '../checkpoints/store.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import { noEncoder, type StateEncoder } from '../src/encoder/state-encoder.js';
import { configHash } from '../src/run/config-values.js';
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
import { limitErrorOf } from '../src/run/stop.js';
import { openExecutor } from '../src/nn/open-executor.js';
import { checkTrainSettings } from './check-settings.js';
import { forkedWeights, type ForkSource, weightsAtStart, writeStart } from './fork.js';
import { backendToGoOnWith, checkpointToResume, discardAfter, longerConfig } from './resume.js';
import { runPhase } from './phase.js';
import { type OnUpdate, openRunLogs, type Session, type Trial } from './session.js';
import type { RunPhases, TaskTrainer, TrainingRun } from './task-trainer.js';
import { plainSettings, type RunSettings } from './run-settings.js';

/** Settings, folder and start of a training run. */
export interface TrainOptions<Settings extends RunSettings = RunSettings> {
  settings: Settings;
  /** Evaluates the best checkpoint after all phases. */
  evaluateBest?: ((run: Run) => Promise<void>) | undefined;
  /** The run's folder: a new one, or the one to resume. */
  folder: string;
  /** Checkpoint to resume from: `last`, `best` or a step; starts from scratch if none was saved. */
  resume?: string | undefined;
  /** Starts a new run with these weights; `forkSettings` are its settings. */
  fork?: ForkSource | undefined;
  /** Threads that TransE may use; default 1. No byte of weights, metrics or evaluations depends on it. */
  threads?: number;
  progress?: ProgressReporter;
  /** Called for each log with the bytes of an unfinished last line, left by a crash, that were cut off; 0 if whole. */
  onTruncatedLog?: ((file: string, bytes: number) => void) | undefined;
  /** Called with notices about the data: the amount of training data, leaks. */
  onNote?: ((line: string) => void) | undefined;
  /** Called with the chosen backend and the reason. */
  onBackend?: ((name: string, why: string) => void) | undefined;
  /** Once aborted, the step is finished and saved, then `stopped` is thrown. */
  signal?: AbortSignal | undefined;
  /** Called after every PPO round once it is logged. Returning true ends training: the run counts as finished. */
  onUpdate?: OnUpdate | undefined;
  /** Called with every record of `metrics.jsonl` as it is logged, for experiment trackers. */
  onMetrics?: ((record: MetricRecord) => void) | undefined;
  /** Makes it a trial: see `trial`. */
  trial?: Trial | undefined;
}

/**
 * Trains a run, phase by phase. Checks all that it can before the folder is made.
 * @throws WorkbenchError `config` or `data` for inputs that do not fit, `stopped` after saving on request
 */
export function trainRun(learning: TaskTrainer, options: TrainOptions): Promise<void> {
  return collectProvenance(new ProvenanceNotes(), async () => {
    const { training, from, ...parts } = await openTraining(learning, options);
    const { run, encoder, settings, hashes } = parts;
    let opened: RunPhases | undefined;
    try {
      const start = weightsAtStart(run.folder, hashes);
      const logs = openRunLogs(run, settings, options.onTruncatedLog, options.onMetrics);
      try {
        discardAfter(run, logs, settings, from);
        if (from || start) resumeProvenance(run.files.provenance);
        const session: Session = { ...parts, start, logs };
        opened = await training.phases(session, from);
        const reached = opened.phases.findIndex(({ name }) => name === from?.header.phase);
        for (const { name, open } of opened.phases.slice(Math.max(reached, 0))) {
          run.update({ phase: name });
          const phase = await open();
          try {
            await runPhase(session, phase, from?.header.phase === name ? from : undefined);
          } finally {
            await phase.close();
          }
          run.update({ done: { ...run.state.done, [name]: true } });
        }
        logs.flush();
        keepProvenance(run.files.provenance);
        await options.evaluateBest?.(run);
        const provenanceSha256 = hashOfNotes(run.files.provenance);
        writeMetricsArrow(run.files.metrics, run.files.metricsArrow);
        run.update({ status: 'finished', ...(provenanceSha256 !== undefined && { provenanceSha256 }) });
      } finally {
        opened?.close?.();
        logs.close();
      }
    } catch (thrown) {
      const error = limitErrorOf(thrown);
      recordEnd(run, error);
      throw error;
    } finally {
      run.close();
      await encoder.dispose();
    }
  });
}

/** Reads and checks all inputs, opens encoder and executor, and makes the folder, locked by this process. */
async function openTraining(learning: TaskTrainer, options: TrainOptions) {
  const {
    settings,
    folder,
    resume,
    fork,
    threads = 1,
    progress = silentProgress,
    onNote,
    signal,
    onUpdate,
    trial,
  } = options;
  const before = resume === undefined ? undefined : runIn(folder);
  const method = checkTrainSettings(learning, settings, fork !== undefined || readIndex(folder).clone !== undefined);
  const training = await learning.open(settings);
  const plain = await encoderOf(training, settings);
  const encoder = trial ? trial.encoder(plain) : plain;
  try {
    const wanted = before ? backendToGoOnWith(before, settings) : settings.backend;
    const { executor, name: backend, why } = await openExecutor(wanted, method.networkSize(settings, encoder.dim));
    training.prepare?.(executor);
    for (const note of training.notes) onNote?.(note);
    if (training.readsTexts) onNote?.(`texts encoded by ${settings.encoder.model ?? 'nothing'}`);
    options.onBackend?.(
      backend,
      before && settings.backend === 'auto' && wanted !== 'auto' ? 'the run was begun on it' : why,
    );
    const hashes = hashesOf(training, encoder);
    const from = before && checkpointToResume(before, resume!, settings, hashes, learning);
    if (from) onNote?.(`resumed at ${from.header.phase} ${from.header.step}`);
    const forked = fork && (await forkedWeights(learning, fork, settings, hashes));
    const config = before ? (longerConfig(before, settings) ?? before.config) : plainSettings(settings);
    // Native TensorFlow ignores the requested number of threads.
    const known = backend.startsWith('tensorflow') && threads === 1 ? {} : { threads };
    const environment = collectEnvironment({ configHash: configHash(config), backend, ...known, hashes });
    const run = createRun({
      folder,
      config,
      environment: { ...environment, ...(forked && { forkedFrom: forked.origin }) },
      resume: resume !== undefined,
      prepare: forked && (() => writeStart(folder, forked)),
    });
    const asked = { settings, threads, progress, signal, onUpdate, note: onNote, trial };
    return { training, from, executor, run, encoder, hashes, ...asked };
  } catch (error) {
    await encoder.dispose();
    throw error;
  }
}

/** Encoder of a training run's texts; disposed by the caller. */
export async function encoderOf({ readsTexts }: TrainingRun, settings: RunSettings): Promise<StateEncoder> {
  return readsTexts ? openEncoder(settings.encoder, { cacheFolder: cacheFolder() }) : noEncoder();
}

/** Identity hashes of a training run's weights. */
export function hashesOf({ hashes, readsTexts }: TrainingRun, encoder: StateEncoder): CheckpointHashes {
  const { graph, dataset, slots } = hashes;
  return {
    ...(graph !== undefined && { graph }),
    ...(readsTexts && { encoder: encoder.id }),
    dataset,
    ...(slots !== undefined && { slots }),
  };
}

/** Records the outcome in the run's state. */
function recordEnd(run: Run, error: unknown): void {
  const stopped = error instanceof WorkbenchError && error.code === 'stopped';
  const reason = masked(String((error as Error).message).split('\n')[0]!);
  try {
    run.update(stopped ? { status: 'stopped' } : { status: 'failed', reason });
    writeMetricsArrow(run.files.metrics, run.files.metricsArrow);
  } catch {
    // A full disk cannot store the state either; the original error is more informative.
  }
}
