/** Training of the relation walker: question vectors scaled by train alone, the network, the worlds it walks. */
import type { Actor } from '../../agents/actor.js';
import { writeBasis } from '../../agents/readers/facts.js';
import { wordBasis } from '../../agents/readers/words/inputs.js';
import {
  relationActor,
  type RelationRequest,
  type RelationShape,
  SentenceNetwork,
} from '../../agents/relation-walker/network.js';
import {
  encodeQuestions,
  questionText,
  ScaledTexts,
  scaleOfSamples,
  unitScale,
  writeScale,
} from '../../agents/relation-walker/question-vectors.js';
import { wordFacts, WordNetwork } from '../../agents/relation-walker/word-network.js';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import type { QuestionSample } from '../../datasets/question.js';
import { frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import {
  RelationWalkEnv,
  type RelationWalkObservation,
  relationWalkWorld,
  type RelationWalkWorld,
} from '../../envs/relation-walk/relation-walk-env.js';
import { VectorEnv } from '../../envs/vector-env.js';
import { openActorCritic } from '../../trainers/ppo-phase.js';
import type { Session } from '../../trainers/session.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import type { TrainingQuestions } from './training-data.js';

/** Copies of the environment that valid questions are walked in at once. */
const evaluatedAtOnce = 512;

/** @throws WorkbenchError `data` for questions of which none can be walked */
export function relationWalk(
  { relationWalk: { horizon, hops, reward, memoryMegabytes }, ppo }: TrainSettings,
  { graph, ...questions }: Pick<TrainingQuestions, 'graph' | 'train' | 'valid'>,
) {
  const frontiers = frontierTrie(graph, memoryMegabytes * 2 ** 20);
  const worldOf = (samples: readonly QuestionSample[]) =>
    relationWalkWorld({ graph, samples, rules: { horizon, hops }, reward, frontiers });
  const train = worldOf(questions.train);
  const valid = worldOf(questions.valid);
  const copies = (world: RelationWalkWorld, count: number) =>
    new VectorEnv(Array.from({ length: count }, () => new RelationWalkEnv(world)));
  return async (session: Session) => {
    const shape = { numRelations: graph.numRelations, horizon };
    const actors = session.settings.relationWalker.reads === 'words' ? wordActors : sentenceActors;
    const newActor = await actors(session, questions, shape);
    return {
      ...openActorCritic(newActor(), undefined, ppo),
      /** Another actor with these weights, which PPO is kept near; the caller disposes it. */
      referencePolicy({ tensors }: Checkpoint) {
        const referencePolicy = newActor();
        referencePolicy.parameters.import(tensors);
        return referencePolicy;
      },
      /** Copies over the train questions, as many as a round walks. */
      envs: copies(train, ppo.samplesPerUpdate * ppo.explorations),
      validEnvs: copies(valid, evaluatedAtOnce),
      walkable: train.walkable,
    };
  };
}

/** Makes actors with fresh weights, whose questions are read. */
type Actors = (
  session: Session,
  questions: Pick<TrainingQuestions, 'train' | 'valid'>,
  shape: RelationShape,
) => Promise<() => Actor<RelationWalkObservation, RelationRequest>>;

const sentenceActors: Actors = async (session, { train, valid }, shape) => {
  const { executor, run, encoder, progress, signal } = session;
  const { relationWalker, seed } = session.settings;
  const tasks = [...train, ...valid].map(({ task }) => task);
  const encoded = await encodeQuestions(encoder, tasks, { settings: relationWalker, progress, signal });
  const scale = relationWalker.standardize ? scaleOfSamples(encoded, train) : unitScale(encoded.dim);
  writeScale(run.folder, scale);
  // All stay: the states of a round are scored again and again.
  const texts = new ScaledTexts(encoder, scale, relationWalker.maxTokens, Infinity);
  texts.keep(
    tasks.map((task) => questionText(task, relationWalker.keepName)),
    encoded,
  );
  return () => relationActor(new SentenceNetwork(executor, relationWalker, shape, texts, seed));
};

const wordActors: Actors = async ({ executor, run, encoder, settings, signal }, { train, valid }, shape) => {
  const facts = wordFacts(settings.relationWalker, encoder);
  const basis = await wordBasis(facts, train, signal);
  writeBasis(run.folder, basis);
  const newNetwork = () => new WordNetwork(executor, facts, shape, basis, settings.seed);
  await newNetwork().prepare(
    [...train, ...valid].map(({ task }) => task),
    signal,
  );
  return () => relationActor(newNetwork());
};
