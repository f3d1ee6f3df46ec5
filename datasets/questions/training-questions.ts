/** The questions that a run trains or is judged on. */
import type { QuestionSample } from '../question.js';
import { loadQuestionDataset, type QuestionDataset } from './question-dataset.js';
import { type HoldOut, questionsHash } from './question-manifest.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sampled } from '../../src/run/seeds.js';
import type { DataSettings } from '../settings.js';

/** Questions of one graph, by what they are used for. */
export interface TrainingQuestions {
  dataset: QuestionDataset;
  subsets: readonly string[];
  graph: Graph;
  /** Identity of graph and data set, for checkpoints. */
  hashes: { graph: string; dataset: string };
  /** Those for entities that have an answer, as `valid`; a draw of them with `data.trainSamples`. */
  train: QuestionSample[];
  valid: QuestionSample[];
}

/** @throws WorkbenchError `data` for a data set that is not there or holds nothing to train on, `usage` for a subset or split it lacks */
export async function loadTrainingQuestions({ data }: { data: DataSettings }): Promise<TrainingQuestions> {
  const dataset = loadQuestionDataset(data.dataset);
  const subsets = data.subsets === 'all' ? dataset.subsets : data.subsets;
  const graph = await dataset.loadGraph(subsets);
  const answered = (split: string) => answeredQuestions(dataset, graph, { ...data, subsets }, split);
  const train = sampled(answered('train'), data.trainSamples ?? Infinity, 'data/train-samples');
  const hashes = { graph: graph.hash, dataset: questionsHash(dataset.manifest) };
  return { dataset, subsets, graph, hashes, train, valid: answered('valid') };
}

/** Questions for entities that have an answer. @throws WorkbenchError `data` where there is none */
export function answeredQuestions(
  dataset: QuestionDataset,
  graph: Graph,
  { subsets, holdOut }: { subsets: readonly string[]; holdOut: HoldOut },
  split: string,
): QuestionSample[] {
  const questions = dataset
    .questions(graph, { subsets, split, holdOut })
    .filter(({ task, gold }) => task.form === 'entities' && gold.answers.length > 0);
  if (questions.length > 0) return questions;
  throw new WorkbenchError(
    'data',
    `expected questions with answers, got none, at split ${split} of ${dataset.manifest.name} (hold-out ${holdOut})`,
    { hint: '`kgwalk datasets stats` shows what each split holds.' },
  );
}
