/** `kgwalk train --replay-batch`: the step that a run diverged at, made once more from the state that was saved before it. */
import { basename } from 'node:path';
import { checkFits, type Checkpoint, readCheckpoint } from '../checkpoints/checkpoint.js';
import { configHash } from '../src/run/config.js';
import { WorkbenchError } from '../src/run/errors.js';
import { type ProgressReporter, silentProgress } from '../src/run/progress.js';
import { openRun, type Run, runFiles } from '../src/run/run-folder.js';
import { lockFolder } from '../src/run/run-lock.js';
import { openBackend } from '../src/tensor/backend.js';
import { Diverged } from '../src/tensor/diverged.js';
import { weightsAtStart } from './fork.js';
import { recordedStep, type RecordedStep, recordOf, sameStep } from './saved-step.js';
import { checkpointConfig, type Learning, type RunLogs } from './session.js';
import type { TrainSettings } from './train-settings.js';
import { encoderOf, hashesOf } from './train.js';

/** A step as it was recorded and as it is here. */
export interface Replay {
  phase: string;
  backend: string;
  /** What the run saw. */
  recorded: RecordedStep;
  /** What is seen here; absent where every number is finite. */
  seen?: RecordedStep;
  /** Where every number is finite: the figures of the step. */
  figures?: Record<string, number>;
  /** Whether both are equal, bit by bit. */
  same: boolean;
}

/** Which saved step of which run. */
export interface ReplayOptions {
  /** What a run that diverged left in its `replay/`. */
  file: string;
  /** Of the run, with the place of the model as it is now. */
  settings: TrainSettings;
  /** The run's folder: its clone and tables are read, and nothing is changed. */
  folder: string;
  progress?: ProgressReporter;
}

/**
 * Makes the step again, on the data of the run. On the same backend it sees what the run saw, bit by bit.
 * @throws WorkbenchError `data` for a file that is no saved step, or one of another run, graph, encoder or data set
 */
export async function replayBatch(
  learning: Learning,
  { file, settings, folder, progress = silentProgress }: ReplayOptions,
): Promise<Replay> {
  const before = readCheckpoint(file);
  const recorded = savedIn(before, settings, file);
  const training = await learning.open(settings);
  const encoder = await encoderOf(training, settings);
  try {
    const { tf, name: backend } = await openBackend(settings.backend, learning.networkSize(settings, encoder.dim));
    const hashes = hashesOf(training, encoder);
    const { header } = before;
    checkFits(header, header.kind === 'embedding' ? { graph: hashes.graph } : hashes, file);
    const run = heldRun(folder);
    try {
      return await replayOf({ phase: header.phase, backend, recorded }, async () => {
        let figures: Record<string, number> = {};
        const start = weightsAtStart(folder, hashes);
        const session = { tf, host: backend === 'host', run, settings, encoder, hashes, start, progress, logs: noLogs };
        await training.run({ ...session, replayed: (now) => (figures = now) }, before);
        return figures;
      });
    } finally {
      run.close();
    }
  } finally {
    await encoder.dispose();
  }
}

/** @param run makes the step; returns its figures, or throws that it diverged */
export async function replayOf(
  about: Pick<Replay, 'phase' | 'backend' | 'recorded'>,
  run: () => Record<string, number> | Promise<Record<string, number>>,
): Promise<Replay> {
  try {
    return { ...about, figures: await run(), same: false };
  } catch (error) {
    if (!(error instanceof Diverged)) throw error;
    const seen = recordOf(error.step);
    return { ...about, seen, same: sameStep(seen, about.recorded) };
  }
}

function savedIn(before: Checkpoint, settings: TrainSettings, file: string): RecordedStep {
  const { header } = before;
  const recorded = recordedStep(before, file);
  const wrong = (expected: string, got: string) =>
    new WorkbenchError('data', `expected ${expected}, got ${got}, at ${file}`, {
      hint: 'Take a file from the replay folder of the run; another place of the run is told by --run-dir.',
    });
  if (!recorded) throw wrong('a step that diverged', `the checkpoint ${header.phase} ${header.step}`);
  const { transe, seed } = settings;
  // It may be looked at on another backend than the run's.
  const { backend } = header.config as Pick<TrainSettings, 'backend'>;
  const config = header.kind === 'embedding' ? { transe, seed } : checkpointConfig({ ...settings, backend });
  if (header.configHash !== configHash(config)) throw wrong('a step of this run', 'one under other settings');
  return recorded;
}

/** The run as its phases see it: held, so that no other process writes it, and never updated. */
function heldRun(folder: string): Run {
  const { state } = openRun(folder);
  const release = lockFolder(folder);
  return {
    id: basename(folder),
    folder,
    files: runFiles(folder),
    resumed: true,
    state,
    update() {},
    close: release,
  };
}

const noLogs: RunLogs = {
  metrics() {},
  timing() {},
  aside: (work) => work(),
  flush: () => ({ bytes: 0, sha256: '' }),
  check() {},
  truncateAfter() {},
  close() {},
};
