/** Training of a walker over edges on questions: the network, features and texts of dialogues, a question a message. */
import { createCritic } from '../../agents/walker/critic.js';
import type { StateRequest } from '../../agents/walker/features/featurizer.js';
import { createPolicy, networkShape, walkerInputs } from '../../agents/walker/inputs.js';
import { type Policy, walkerActor, walkerValues } from '../../agents/walker/policy.js';
import { encodeTasks, writeTables } from '../../agents/walker/vectors.js';
import { writeVocabulary } from '../../agents/walker/words/vocabulary.js';
import {
  DialogueWalkEnv,
  type DialogueWalkObservation,
  type DialogueWalkWorld,
} from '../../envs/dialogue-walk/dialogue-walk-env.js';
import { questionEdgeWalkWorld } from '../../envs/dialogue-walk/question-edge-walk.js';
import { VectorEnv } from '../../envs/vector-env.js';
import { canonicalPath } from '../../src/kg/graph.js';
import { adamOf } from '../../trainers/ppo-phase.js';
import type { Session } from '../../trainers/session.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { evaluatedAtOnce, type QuestionWalk, type TrainingQuestions } from './training-data.js';

/** @throws WorkbenchError `data` for questions of which none can be walked */
export function edgeWalk(
  { env, ppo, seed, walker }: TrainSettings,
  { dataset, graph, ...questions }: Pick<TrainingQuestions, 'dataset' | 'graph' | 'train' | 'valid'>,
): QuestionWalk<DialogueWalkObservation, StateRequest> {
  const rules = { horizon: env.horizon, equalAtStep1: env.equalAtStep1, noReturn: !dataset.manifest.topicsReturn };
  const reward = { ...env.reward, kind: 'target' as const };
  const train = questionEdgeWalkWorld({ graph, samples: questions.train, rules, reward });
  const valid = questionEdgeWalkWorld({ graph, samples: questions.valid, rules, reward });
  const copies = (world: DialogueWalkWorld, count: number) =>
    new VectorEnv(Array.from({ length: count }, () => new DialogueWalkEnv(world)));

  const encode = async ({ tf, run, settings, encoder, progress, signal }: Session) => {
    const options = { settings: settings.encoder, progress, signal };
    const inputs = await walkerInputs({
      tf,
      settings: walker,
      encoderSettings: settings.encoder,
      graph,
      rules,
      encoder,
      train: train.samples,
      progress,
      signal,
    });
    const tasks = [...train.samples, ...valid.samples].map(({ task }) => task);
    inputs.featurizer.texts = await encodeTasks(encoder, tasks, options);
    writeTables(run.folder, inputs.tables);
    writeVocabulary(run.folder, inputs.vocabulary);
    return inputs;
  };

  return async (session) => {
    const { tf } = session;
    const inputs = await encode(session);
    const { featurizer } = inputs;
    const policies: Policy[] = [];
    const policyOf = () => {
      policies.push(createPolicy(tf, inputs, seed));
      return policies.at(-1)!;
    };
    const actor = walkerActor(policyOf());
    const critic = ppo.baseline === 'critic' ? createCritic(tf, walker, networkShape(inputs), seed) : undefined;
    const learner = {
      actor,
      optimizer: adamOf(actor.parameters, ppo),
      critic: critic && {
        network: walkerValues(critic, featurizer),
        optimizer: adamOf(critic.parameters, ppo),
      },
    };
    return {
      learner,
      envs: copies(train, ppo.samplesPerUpdate * ppo.explorations),
      validEnvs: copies(valid, evaluatedAtOnce),
      walkable: train.walkable,
      // One walk ends at one entity: the figures of an answer of one.
      outcomeOf: ({ info, observation }, { gold }) => ({
        f1: info.hit === true ? 2 / (1 + gold.answers.length) : 0,
        hit: info.hit === true,
        exact: info.hit === true && gold.answers.length === 1,
        chain: canonicalPath(observation.path, graph.equalRelation).map(([, relation]) => relation),
      }),
      close() {
        learner.optimizer.dispose();
        learner.critic?.optimizer.dispose();
        critic?.dispose();
        for (const { head } of policies) head.dispose();
      },
    };
  };
}
