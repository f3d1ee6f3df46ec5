/** Training of a walker over questions, from questions and answers alone: text vectors, PPO, and the best on valid. */
import { createRelationNetwork } from '../../agents/relation-walker/network.js';
import {
  encodeQuestions,
  scaledVectors,
  unitScale,
  vectorScale,
  type QuestionVectors,
  type VectorScale,
} from '../../agents/relation-walker/question-vectors.js';
import { relationActor } from '../../agents/relation-walker/relation-actor.js';
import { writeScale } from '../../agents/relation-walker/scale-file.js';
import type { QuestionSample } from '../../datasets/question.js';
import { frontierTrie } from '../../envs/frontier-trie.js';
import { RelationWalkEnv } from '../../envs/relation-walk-env.js';
import { relationWalkWorld, type RelationWalkWorld } from '../../envs/relation-walk-world.js';
import { VectorEnv } from '../../envs/vector-env.js';
import { configHash } from '../../src/run/config.js';
import { ppo } from '../ppo/ppo.js';
import { adamOf, ppoPhase } from '../ppo/ppo-phase.js';
import { logEncoding, type Session, type Training } from '../session.js';
import type { TrainSettings } from '../train-settings.js';
import { evaluateBestOnValid } from './evaluate-best.js';
import { evaluatedQuestions, evaluateQuestionsOnValid } from './evaluate-valid.js';
import { loadTrainingQuestions } from './load-questions.js';

/** Copies of the environment that valid questions are walked in at once. */
const evaluatedAtOnce = 512;

/** @throws WorkbenchError see `loadTrainingQuestions`; `data` for questions of which none can be walked */
export async function openQuestionTraining(settings: TrainSettings): Promise<Training> {
  const { horizon, hops, reward, memoryMegabytes } = settings.relationWalk;
  const { dataset, subsets, graph, ...questions } = await loadTrainingQuestions(settings);
  const frontiers = frontierTrie(graph, memoryMegabytes * 2 ** 20);
  const worldOf = (samples: readonly QuestionSample[]) =>
    relationWalkWorld({ graph, samples, rules: { horizon, hops }, reward, frontiers });
  const train = worldOf(questions.train);
  const valid = worldOf(questions.valid);
  return {
    hashes: { graph: graph.hash, dataset: configHash(dataset.manifest.sources) },
    async run(session, from) {
      const { run } = session;
      run.update({ phase: 'encode' });
      const { vectors, scale } = await encode(session, train.samples, valid.samples);
      writeScale(run.folder, scale);
      logEncoding(session);
      run.update({ phase: 'ppo', done: { ...run.state.done, encode: true } });
      await questionPpo(session, train, valid, vectors, from);
      run.update({ done: { ...run.state.done, ppo: true } });
      const split = dataset.split({ split: 'valid', holdOut: settings.data.holdOut });
      await evaluateBestOnValid(session, valid, scale, { subsets, split });
    },
  };
}

/** The scale comes from train alone. */
async function encode(
  { encoder, settings: { relationWalker }, progress, signal }: Session,
  train: readonly QuestionSample[],
  valid: readonly QuestionSample[],
): Promise<{ vectors: QuestionVectors; scale: VectorScale }> {
  const tasks = [...train, ...valid].map(({ task }) => task);
  const encoded = await encodeQuestions(encoder, tasks, { settings: relationWalker, progress, signal });
  const ofTrain = { ...encoded, rows: encoded.rows.subarray(0, train.length) };
  const scale = relationWalker.standardize ? vectorScale(ofTrain) : unitScale(encoded.dim);
  return { vectors: scaledVectors(tasks, encoded, scale), scale };
}

async function questionPpo(
  session: Session,
  train: RelationWalkWorld,
  valid: RelationWalkWorld,
  vectors: QuestionVectors,
  from: Parameters<Training['run']>[1],
): Promise<void> {
  const { tf, settings } = session;
  const shape = { dim: vectors.dim, numRelations: train.graph.numRelations, horizon: train.rules.horizon };
  const actor = relationActor(createRelationNetwork(tf, settings.relationWalker, shape, settings.seed), vectors);
  const optimizer = adamOf(actor.parameters, settings.ppo);
  const copies = (world: RelationWalkWorld, count: number) =>
    new VectorEnv(Array.from({ length: count }, () => new RelationWalkEnv(world)));
  const envs = copies(train, settings.ppo.samplesPerUpdate * settings.ppo.explorations);
  const chosen = evaluatedQuestions(valid.samples.length, settings.ppo.evalSamples);
  const validEnvs = copies(valid, Math.min(evaluatedAtOnce, chosen.length));
  try {
    await ppoPhase(session, {
      trainee: { actor, optimizer },
      best: 'eval/f1',
      evaluate: () => evaluateQuestionsOnValid(session, actor, validEnvs, valid.samples, chosen),
      from,
      train: (shared) => ppo({ ...shared, actor, optimizer, envs, walkable: train.walkable }),
    });
  } finally {
    envs.close();
    validEnvs.close();
    optimizer.dispose();
    actor.dispose();
  }
}
