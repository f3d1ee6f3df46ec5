/** The questions that a run trains or is judged on, and what training needs of a walk over relations or over edges. */
import type { Actor, TaskRequest } from '../../agents/actor.js';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import type { QuestionSample } from '../../datasets/question.js';
import { loadQuestionDataset, type QuestionDataset } from '../../datasets/questions/question-dataset.js';
import type { BatchedEnv } from '../../envs/vector-env.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sampled } from '../../src/run/seeds.js';
import type { GreedyWalk } from '../../trainers/greedy-walks.js';
import type { Learner } from '../../trainers/ppo-step.js';
import type { Session } from '../../trainers/session.js';
import type { TrainSettings } from '../../trainers/train-settings.js';

/** Questions of one graph, by what they are used for. */
export interface TrainingQuestions {
  dataset: QuestionDataset;
  subsets: readonly string[];
  graph: Graph;
  /** Those for entities that have an answer, as `valid`; a draw of them with `data.trainSamples`. */
  train: QuestionSample[];
  valid: QuestionSample[];
}

/** @throws WorkbenchError `data` for a data set that is not there or holds nothing to train on, `usage` for a subset or split it lacks */
export async function loadTrainingQuestions({ data }: Pick<TrainSettings, 'data'>): Promise<TrainingQuestions> {
  const dataset = loadQuestionDataset(data.dataset);
  const subsets = data.subsets === 'all' ? dataset.subsets : data.subsets;
  const graph = await dataset.loadGraph(subsets);
  const questionsOf = (split: 'train' | 'valid') => {
    const questions = dataset
      .questions(graph, { subsets, split, holdOut: data.holdOut })
      .filter(({ task, gold }) => task.form === 'entities' && gold.answers.length > 0);
    if (questions.length > 0) return questions;
    throw new WorkbenchError(
      'data',
      `expected questions with answers, got none, at split ${split} of ${data.dataset} (hold-out ${data.holdOut})`,
      { hint: '`kgwalk datasets stats` shows what each split holds.' },
    );
  };
  const train = sampled(questionsOf('train'), data.trainSamples ?? Infinity, 'data/train-samples');
  return { dataset, subsets, graph, train, valid: questionsOf('valid') };
}

/** Result of a finished walk. */
interface WalkOutcome {
  f1: number;
  /** First answer is right. */
  hit: boolean;
  exact: boolean;
  /** Relations walked. */
  chain: readonly number[];
}

/** A walk whose texts are encoded and whose networks are made; closed by who opened it. */
export interface OpenedWalk<Observation, Request extends TaskRequest> {
  learner: Learner<Observation, Request>;
  /** Another actor with these weights, which PPO is kept near; the caller disposes it. Absent where nothing is cloned. */
  anchor?(weights: Checkpoint): Actor<Observation, Request>;
  /** Copies over the train questions, as many as a round walks. */
  envs: BatchedEnv<Observation>;
  /** Copies over the valid questions. */
  validEnvs: BatchedEnv<Observation>;
  /** int32: train questions that can be walked. */
  walkable: Int32Array;
  outcomeOf(walk: GreedyWalk<Observation>, sample: QuestionSample): WalkOutcome;
  close(): void;
}

/** Opens a kind of walk over the questions of a run. */
export type QuestionWalk<Observation, Request extends TaskRequest> = (
  session: Session,
) => Promise<OpenedWalk<Observation, Request>>;

/** Copies of the environment that valid questions are walked in at once. */
export const evaluatedAtOnce = 512;
