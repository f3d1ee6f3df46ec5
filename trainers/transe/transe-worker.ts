/** A thread of TransE training, started by `openCrew`. */
import { serveJobs } from '../../src/run/worker-pool.js';
import type { TransEWork } from './transe-work.js';
import { openShare, type Share } from './work-share.js';

/** A thread's part of an epoch or of a validation. */
export type TransEJob = Share & ({ do: 'train'; epoch: number; learningRate: number } | { do: 'rank' });

serveJobs(async (work: TransEWork) => {
  const share = openShare(work);
  return (job: TransEJob) => {
    if (job.do === 'rank') share.rank(job);
    else for (const done of share.train(job, job.epoch, job.learningRate)) Atomics.store(work.done, 0, done);
  };
});
