/** A thread that answers for a trained walker, started by `threadedWalker`. */
import type { Answer } from '../agent.js';
import { serveJobs } from '../../src/run/worker-pool.js';
import { type WalkerJob, type WalkerParts, walkerOf } from './walker-parts.js';

serveJobs(async (parts: WalkerParts) => {
  const { agent, policy } = await walkerOf(parts);
  return ({ texts, ...job }: WalkerJob): Promise<Answer[] | number[][]> => {
    policy.featurizer.texts = texts;
    return 'given' in job ? agent.logProbs!(job.given) : agent.answer(job.tasks);
  };
});
