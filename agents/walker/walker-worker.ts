/** A thread that answers for a trained walker, started by `threadedWalker`. */
import type { WalkTask } from '../../datasets/walk-sample.js';
import { serveJobs } from '../../src/run/worker-pool.js';
import type { TaskVectors } from './features/featurizer.js';
import { walkerAgent } from './walker-agent.js';
import { policyOf, type WalkerParts } from './walker-parts.js';

/** Tasks for one thread. */
export interface WalkerJob {
  tasks: WalkTask[];
  /** Of these tasks, and perhaps of others. */
  texts: TaskVectors;
}

serveJobs(async (parts: WalkerParts) => {
  const { settings, beamWidth, twoHopBonus, arkBeam } = parts;
  const policy = await policyOf(parts);
  const agent = walkerAgent(policy, { name: settings.name, beamWidth, twoHopBonus, arkBeam });
  return ({ tasks, texts }: WalkerJob) => {
    policy.featurizer.texts = texts;
    return agent.answer(tasks);
  };
});
