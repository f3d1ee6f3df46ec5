/** Policy gradients on link queries: what is trained, on which walks, and from where. */
import { createLinkCritic } from '../../agents/link-walker/link-walker.js';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import { linkQueryId } from '../../envs/link-query/world.js';
import { makeVectorEnv } from '../../envs/registry.js';
import { readClone } from '../clone-phase.js';
import { adamOf, ppoPhase } from '../ppo-phase.js';
import { ppo } from '../ppo.js';
import { madeFrom } from '../../src/run/provenance.js';
import { beginWith } from '../session.js';
import { evaluateLinksOnValid } from './evaluate-valid.js';
import { trainWalks, walkerOf, type LinkSession } from './learner.js';

/**
 * Starts from the clone or from scratch.
 * @param from a checkpoint of this phase
 */
export async function linkPpo(session: LinkSession, from: Checkpoint | undefined): Promise<void> {
  const { tf, settings, data, scorers } = session;
  const { graph } = data.dataset;
  const { numEntities, numRelations } = graph;
  const clone = settings.ppo.init === 'clone' ? readClone(session) : undefined;
  const actor = walkerOf(session);
  const anchor = clone && settings.ppo.klCoef > 0 ? walkerOf(session) : undefined;
  anchor?.parameters.import(clone!.tensors);
  const shape = { numEntities, numRelations, start: scorers.start };
  const critic =
    settings.ppo.baseline === 'critic' ? createLinkCritic(tf, settings.linkWalker, shape, settings.seed) : undefined;
  const learner = {
    actor,
    optimizer: adamOf(actor.parameters, settings.ppo),
    critic: critic && { network: critic, optimizer: adamOf(critic.parameters, settings.ppo) },
  };
  const first = clone ?? session.start;
  if (first) beginWith(learner, first);
  const envs = makeVectorEnv(
    linkQueryId,
    { ...trainWalks(session), ...(scorers.shaping && { shaping: scorers.shaping }) },
    settings.ppo.samplesPerUpdate * settings.ppo.explorations,
  );
  const walkable = Int32Array.from(data.queries.heads.keys());
  madeFrom('training', 'policy gradient', { graph: graph.hash, split: 'train', queries: walkable.length });
  try {
    await ppoPhase(session, {
      trainee: learner,
      best: 'eval/mrr',
      evaluate: () => evaluateLinksOnValid(session, actor),
      from,
      train: (shared) => ppo({ ...shared, ...learner, anchor, envs, walkable }),
    });
  } finally {
    envs.close();
    anchor?.dispose();
    learner.optimizer.dispose();
    learner.critic?.optimizer.dispose();
    critic?.dispose();
    actor.dispose();
  }
}
