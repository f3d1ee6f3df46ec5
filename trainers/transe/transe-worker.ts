/** A thread of TransE training, started by `openCrew`. */
import { serveJobs } from '../../src/run/worker-pool.js';
import { openShare, type TransEJob } from './crew.js';
import type { TransEWork } from './work.js';

serveJobs(async (work: TransEWork) => {
  const share = openShare(work);
  return (job: TransEJob) => {
    if (job.do === 'rank') share.rank(job);
    else for (const done of share.train(job, job.epoch, job.learningRate)) Atomics.store(work.done, 0, done);
  };
});
