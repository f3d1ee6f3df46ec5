/** Who does the work of TransE: this thread alone, or several. */
import { setImmediate } from 'node:timers/promises';
import { startWorkers } from '../../src/run/worker-pool.js';
import type { TransEWork } from './transe-work.js';
import type { TransEJob } from './transe-worker.js';
import { openShare } from './work-share.js';

/** Milliseconds between two looks at how far threads are. */
const lookEvery = 200;
/** Positives between two calls of `onProgress` where this thread does the work. */
const reportEvery = 8192;
/** Ranks that this thread fills before it looks up: each time the whole table is rounded again. */
const ranksAtOnce = 4096;

/** Does epochs and validations; close it after use. */
export interface Crew {
  /** Trains an epoch in `work.order`. @param onProgress called with the positives done */
  train(epoch: number, learningRate: number, onProgress: (done: number) => void): Promise<void>;
  /** Fills `work.valid.ranks`. */
  rank(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param work of more than one thread: in shared memory
 * @throws WorkbenchError `failure` (from its functions) once a thread has died
 */
export function openCrew(work: TransEWork, threads: number): Crew {
  return threads === 1 ? alone(work) : several(work, threads);
}

/** Lets signals and other work of the process through now and then: whoever asks twice to stop does not wait for an epoch. */
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
    module: new URL('./transe-worker.js', import.meta.url),
    threads,
    data: work,
    memoryHint: 'Lower --threads, transe.dim or transe.batchSize.',
  });
  const together = (job: { do: 'rank' } | { do: 'train'; epoch: number; learningRate: number }) =>
    Promise.all(Array.from({ length: threads }, (_, thread) => pool.run({ ...job, thread, threads })));
  // A batch of one triple has no work for two: its rows would only wait for each other.
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
