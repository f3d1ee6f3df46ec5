/** PPO over dialogues: what is trained, on which walks, and from where. */
import { createCritic } from '../../agents/walker/critic.js';
import { createPolicy, networkShape, restoredPolicy } from '../../agents/walker/inputs.js';
import { walkerActor, walkerValues } from '../../agents/walker/policy.js';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { dialogueWalkId } from '../../envs/dialogue-walk/dialogue-walk-env.js';
import { makeVectorEnv } from '../../envs/registry.js';
import { initialState } from '../../envs/dialogue-walk/rules.js';
import { embeddingPotential } from '../../envs/dialogue-walk/reward.js';
import type { EmbeddingTable } from '../../src/embedding/transe.js';
import { readClone } from '../clone-phase.js';
import { goldWalks } from '../demonstrations.js';
import { expectedReward } from '../expected-reward.js';
import { ppo, type PpoUpdate } from '../ppo.js';
import { adamOf, ppoPhase } from '../ppo-phase.js';
import { beginWith, logEncoding } from '../session.js';
import { evaluateOnValid } from './evaluate-valid.js';
import { referenceCost, type ReferenceCost } from './reference-cost.js';
import type { DialogueSession } from './training.js';

/**
 * Starts from the clone or from scratch.
 * @param transe embeddings, for `env.shaping: transe`
 * @param from a checkpoint of this phase
 */
export async function dialoguePpo(
  session: DialogueSession,
  transe: EmbeddingTable | undefined,
  from: Checkpoint | undefined,
): Promise<void> {
  const { tf, settings, inputs, train } = session;
  const { featurizer } = inputs;
  const { graph, rules } = featurizer.parts;
  const clone = settings.ppo.init === 'clone' ? readClone(session) : undefined;
  const policy = createPolicy(tf, inputs, settings.seed);
  const anchor = clone && settings.ppo.klCoef > 0 ? restoredPolicy(tf, inputs, clone.tensors) : undefined;
  const near = anchor && walkerActor(anchor);
  const critic =
    settings.ppo.baseline === 'critic'
      ? createCritic(tf, settings.walker, networkShape(inputs), settings.seed)
      : undefined;
  const learner = {
    actor: walkerActor(policy),
    optimizer: adamOf(policy.head.parameters, settings.ppo),
    critic: critic && {
      network: walkerValues(critic, featurizer),
      optimizer: adamOf(critic.parameters, settings.ppo),
    },
  };
  if (clone) beginWith(learner, clone);
  const shaping = settings.env.shaping === 'transe' ? transe! : undefined;
  const envs = makeVectorEnv(
    // Ids of a user's own environment are not known to the types; `checkTrainSettings` has looked it up.
    settings.env.id as typeof dialogueWalkId,
    {
      graph,
      samples: train,
      rules: { ...rules, horizon: settings.ppo.trainHorizon ?? rules.horizon },
      reward: settings.env.reward,
      gamma: settings.ppo.gamma,
      ...(shaping && { potential: embeddingPotential(shaping.entities, shaping.dim) }),
    },
    settings.ppo.samplesPerUpdate * settings.ppo.explorations,
  );
  const walkable = Int32Array.from(train.keys()).filter((i) => !initialState(graph, train[i]!.task.start, rules).done);
  const exact = settings.ppo.gradient === 'exact';
  const note = madeFromSamples('training', exact ? 'policy gradient' : 'PPO');
  if (!exact) walkable.forEach((i) => note(train[i]!));
  try {
    const watched = inputs.reader && referenceCost(envs, inputs.reader);
    await ppoPhase(session, {
      trainee: learner,
      best: 'eval/path@1',
      evaluate: () => evaluateOnValid(session, policy),
      from,
      train: (shared) =>
        exact
          ? expectedReward({ ...shared, ...learner, anchor: near, walks: goldWalks(train, graph, rules, note) })
          : ppo({
              ...shared,
              ...learner,
              anchor: near,
              envs: watched?.envs ?? envs,
              walkable,
              ...(watched && {
                onUpdate: async (update: PpoUpdate) => {
                  await logTextCost(session, watched, update.update);
                  return shared.onUpdate?.(update);
                },
              }),
            }),
    });
  } finally {
    envs.close();
    anchor?.head.dispose();
    learner.optimizer.dispose();
    learner.critic?.optimizer.dispose();
    critic?.dispose();
    policy.head.dispose();
  }
}

/** What the texts of an update cost, and what they would have cost without anything shared. */
async function logTextCost(session: DialogueSession, watched: ReferenceCost, update: number): Promise<void> {
  const { encodes, tokens } = await watched.take();
  if (session.replayed) return;
  session.logs.timing('ppo', update, { 'time/reference_encodes': encodes, 'time/reference_tokens': tokens });
  logEncoding(session, 'ppo', update);
}
