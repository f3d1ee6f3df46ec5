/** A thread that answers for a trained walker, started by `threadedWalker`. */
import { serveJobs } from '../../src/run/worker-pool.js';
import { type WalkerJob, type WalkerParts, walkerOf } from './walker-parts.js';

serveJobs(async (parts: WalkerParts) => {
  const { agent, policy } = await walkerOf(parts);
  return ({ tasks, texts }: WalkerJob) => {
    policy.featurizer.texts = texts;
    return agent.answer(tasks);
  };
});
