/** TransE training: epochs over a seeded shuffle, validation by filtered MRR, early stop, best weights. */
import { trainEpochs, type TableResult, type TableTraining } from '../epochs.js';
import type { TransESettings } from './settings.js';
import {
  createTransE,
  createWork,
  orderEpoch,
  type TransEState,
  lossEvery,
  type Share,
  type TransEWork,
} from './work.js';
import { setImmediate } from 'node:timers/promises';
import { knownAnswers, type KnownAnswers } from '../../../src/embedding/known-answers.js';
import { rankShare } from '../../../src/embedding/rank-links.js';
import { createBarrier, serveJobs, startWorkers } from '../../../src/run/worker-pool.js';
import { divergedAt } from '../../../src/nn/diverged.js';
import { transEKernel } from './kernel.js';

/** Options of a training. */
export interface TransEOptions extends TableTraining<TransEState> {
  settings: TransESettings;
  /** Threads that train and rank; default 1: this one. They change no byte. */
  threads?: number | undefined;
}

/** Final table, and state to resume from. */
export type TransEResult = TableResult<TransEState>;

/**
 * Trains. Same input and seed give the same bytes, on any number of threads, also when resumed from any epoch's state.
 * With `batchSize` 1 updates are made positive by positive: each uses the weights after the previous one, and rows stay
 * in cache from their distance to their update.
 * @throws WorkbenchError `failure` before a batch with numbers that are not finite, or when a thread dies
 */
export async function trainTransE(options: TransEOptions): Promise<TransEResult> {
  const { settings, threads = 1, onEpoch, onProgress, signal } = options;
  const work = createWork({ ...options, state: options.resumeFrom ?? createTransE(options) }, threads);
  const { state, losses, valid } = work;
  const count = options.train.heads.length;
  const crew = openCrew(work, threads);
  async function train(learningRate: number): Promise<number> {
    const { epoch } = state;
    orderEpoch(work);
    await crew.train(epoch, learningRate, (done) => onProgress?.(epoch * count + done, settings.epochs * count));
    return losses.reduce((sum, one) => sum + one, 0) / Math.max(1, losses.length);
  }
  async function rank(): Promise<Float64Array> {
    await crew.rank();
    return valid!.ranks;
  }
  try {
    return await trainEpochs(state, settings, { train, rank: valid && rank, onEpoch, signal });
  } finally {
    await crew.close();
  }
}

/** Milliseconds between two progress checks of the threads. */
const lookEvery = 200;
/** Positives between two calls of `onProgress` if this thread does the work. */
const reportEvery = 8192;
/** Ranks filled by this thread between two yields: each call rounds the whole table again. */
const ranksAtOnce = 4096;

/** Worker for one share; a single thread's share is all of the work. */
interface WorkShare {
  /**
   * Trains an epoch in `work.order`, yielding the number of positives done; all threads of the share must iterate to
   * the end, at the same time.
   * @throws WorkbenchError `failure` for numbers that are not finite, before any weight of their batch moves
   */
  train(share: Share, epoch: number, learningRate: number): Iterable<number>;
  /** Fills its part of `work.valid.ranks`. */
  rank(share: Share): void;
}

/**
 * Prepares a thread. Bytes do not depend on the number of threads: positions of a batch draw from separate streams,
 * their gradients use the weights before the batch, and each row is moved by one thread in the order of the positions.
 */
export function openShare(work: TransEWork): WorkShare {
  const { order, valid } = work;
  const { batchSize } = work.settings;
  const kernel = transEKernel(work);
  let known: KnownAnswers | undefined;
  return {
    *train(share, epoch, learningRate) {
      const wait = createBarrier(work.barrier, share.threads);
      const most = batchSize === 1 ? lossEvery : batchSize;
      kernel.begin(epoch, share);
      for (let begin = 0; begin < order.length; begin += most) {
        const size = Math.min(most, order.length - begin);
        try {
          if (batchSize === 1) kernel.train(begin, size, learningRate);
          else kernel.gradients(begin, size, share);
        } catch (error) {
          throw divergedAt(error, `transe epoch ${epoch + 1}`, 'Lower transe.learningRate or transe.margin.');
        }
        if (batchSize > 1) {
          wait();
          kernel.moves(size, learningRate, share);
          wait();
        }
        if (share.thread === 0) yield begin + size;
      }
    },
    rank({ thread, threads }) {
      const { triples, known: parts, ranks } = valid!;
      known ??= knownAnswers(parts, triples);
      rankShare(work.state.table, triples, known, ranks, thread, threads);
    },
  };
}

/** A thread's part of an epoch or of a validation. */
type TransEJob = Share & Work;
type Work = { do: 'train'; epoch: number; learningRate: number } | { do: 'rank' };

interface Crew {
  /** Trains an epoch in `work.order`. @param onProgress called with the number of positives done */
  train(epoch: number, learningRate: number, onProgress: (done: number) => void): Promise<void>;
  /** Fills `work.valid.ranks`. */
  rank(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param work for several threads: in shared memory
 * @throws WorkbenchError `failure` (from its functions) once a thread has died
 */
export function openCrew(work: TransEWork, threads: number): Crew {
  return threads === 1 ? alone(work) : several(work, threads);
}

/** Yields to signals and other work of the process at times, so that a second request to stop does not wait for an epoch. */
function alone(work: TransEWork): Crew {
  const share = openShare(work);
  return {
    async train(epoch, learningRate, onProgress) {
      let next = 0;
      for (const done of share.train({ thread: 0, threads: 1 }, epoch, learningRate)) {
        if (done < next) continue;
        onProgress(done);
        next = done + reportEvery;
        await setImmediate();
      }
    },
    async rank() {
      const threads = Math.ceil(work.valid!.ranks.length / ranksAtOnce);
      for (let thread = 0; thread < threads; thread++) {
        share.rank({ thread, threads });
        await setImmediate();
      }
    },
    close: async () => {},
  };
}

function several(work: TransEWork, threads: number): Crew {
  const pool = startWorkers<TransEJob, void>({
    work: 'training TransE',
    module: new URL(import.meta.url),
    threads,
    data: work,
    memoryHint: 'Lower --threads, transe.dim or transe.batchSize.',
  });
  const together = (job: Work) =>
    Promise.all(Array.from({ length: threads }, (_, thread) => pool.run({ ...job, thread, threads })));
  // A batch of one triple cannot be split: its rows would only wait for each other.
  const trainer = work.settings.batchSize === 1 ? alone(work) : undefined;
  return {
    async train(epoch, learningRate, onProgress) {
      if (trainer) return trainer.train(epoch, learningRate, onProgress);
      Atomics.store(work.done, 0, 0);
      const looks = setInterval(() => onProgress(Atomics.load(work.done, 0)), lookEvery);
      try {
        await together({ do: 'train', epoch, learningRate });
      } finally {
        clearInterval(looks);
      }
    },
    async rank() {
      await together({ do: 'rank' });
    },
    close: () => pool.close(),
  };
}

serveJobs(import.meta.url, async (work: TransEWork) => {
  const share = openShare(work);
  return (job: TransEJob) => {
    if (job.do === 'rank') share.rank(job);
    else for (const done of share.train(job, job.epoch, job.learningRate)) Atomics.store(work.done, 0, done);
  };
});
