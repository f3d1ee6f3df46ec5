/** Training of the relation walker: question vectors scaled by train alone, the network, the worlds it walks. */
import { createRelationNetwork, relationActor, type RelationRequest } from '../../agents/relation-walker/network.js';
import {
  encodeQuestions,
  scaledVectors,
  scaleOfSamples,
  unitScale,
  writeScale,
} from '../../agents/relation-walker/question-vectors.js';
import type { QuestionSample } from '../../datasets/question.js';
import { frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import {
  RelationWalkEnv,
  type RelationWalkObservation,
  relationWalkWorld,
  type RelationWalkWorld,
} from '../../envs/relation-walk/relation-walk-env.js';
import { VectorEnv } from '../../envs/vector-env.js';
import { adamOf } from '../../trainers/ppo-phase.js';
import type { Session } from '../../trainers/session.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { evaluatedAtOnce, type QuestionWalk, type TrainingQuestions } from './training-data.js';

/** @throws WorkbenchError `data` for questions of which none can be walked */
export function relationWalk(
  { relationWalk: { horizon, hops, reward, memoryMegabytes }, ppo }: TrainSettings,
  { graph, ...questions }: Pick<TrainingQuestions, 'graph' | 'train' | 'valid'>,
): QuestionWalk<RelationWalkObservation, RelationRequest> {
  const frontiers = frontierTrie(graph, memoryMegabytes * 2 ** 20);
  const worldOf = (samples: readonly QuestionSample[]) =>
    relationWalkWorld({ graph, samples, rules: { horizon, hops }, reward, frontiers });
  const train = worldOf(questions.train);
  const valid = worldOf(questions.valid);
  const copies = (world: RelationWalkWorld, count: number) =>
    new VectorEnv(Array.from({ length: count }, () => new RelationWalkEnv(world)));
  return async (session) => {
    const { tf, settings } = session;
    const vectors = await encode(session, questions);
    const shape = { dim: vectors.dim, numRelations: graph.numRelations, horizon };
    const newActor = () =>
      relationActor(createRelationNetwork(tf, settings.relationWalker, shape, settings.seed), vectors);
    const actor = newActor();
    const optimizer = adamOf(actor.parameters, ppo);
    return {
      learner: { actor, optimizer },
      anchor({ tensors }) {
        const anchor = newActor();
        anchor.parameters.import(tensors);
        return anchor;
      },
      envs: copies(train, ppo.samplesPerUpdate * ppo.explorations),
      validEnvs: copies(valid, evaluatedAtOnce),
      walkable: train.walkable,
      outcomeOf: ({ info, observation }) => ({
        f1: Number(info.f1 ?? 0),
        hit: info.hit === true,
        exact: info.exact === 1,
        chain: [...observation.relations],
      }),
      close() {
        optimizer.dispose();
        actor.dispose();
      },
    };
  };
}

async function encode(
  { run, encoder, settings: { relationWalker }, progress, signal }: Session,
  { train, valid }: Pick<TrainingQuestions, 'train' | 'valid'>,
) {
  const tasks = [...train, ...valid].map(({ task }) => task);
  const encoded = await encodeQuestions(encoder, tasks, { settings: relationWalker, progress, signal });
  const scale = relationWalker.standardize ? scaleOfSamples(encoded, train) : unitScale(encoded.dim);
  writeScale(run.folder, scale);
  return scaledVectors(tasks, encoded, scale);
}
