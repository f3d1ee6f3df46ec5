/** What a question data set looks like: sizes, answers, templates, and how far its graph carries its gold. */
import { drawn } from '../../src/run/drawn.js';
import type { Graph } from '../../src/kg/graph.js';
import { type Spread, spreadOf } from '../../src/metrics/ranks.js';
import { maskedQuestion, type QuestionSample } from '../question.js';
import { answerDistances } from './answer-reach.js';
import { type GoldChainScores, scoreGoldChains, shareOf } from './gold-chain.js';
import type { QuestionDataset } from './question-registry.js';
import { sampleOf, type StoredQuestion } from './stored-question.js';

/** Figures of one subset. */
export interface SubsetStatistics {
  questions: number;
  /** Questions by split, hold-outs included. */
  splits: Record<string, number>;
  /** Questions by release file that were left out, by reason. */
  dropped: Record<string, Record<string, number>>;
  topicsNotInGraph: number;
  answersNotInGraph: number;
  /** Answers a question; over questions that ask for entities. */
  answers: Spread;
  /** Share of those with one answer; null where none asks for entities. */
  singleAnswer: number | null;
  /** Different questions once topics are masked. */
  templates: number;
  /** Different question types; 0 where unknown. */
  types: number;
  /** Questions of the form `truth`. */
  truth: number;
  /** Gold chains, executed under three rules for the topics; the data set's own is `topicsReturn`. */
  chains: GoldChainScores;
  /** Share of answers within 1, 2 and 3 edges of a topic, in any direction the graph has, over a seeded sample of questions; null without answers. */
  reach: { questions: number; within: Record<1 | 2 | 3, number | null> };
}

/** Figures of a question data set. */
export interface QuestionStatistics {
  dataset: string;
  /** Whether this data set's walks may come back to their topics. */
  topicsReturn: boolean;
  labels: readonly string[];
  graphs: QuestionDataset['manifest']['graphs'];
  subsets: Record<string, SubsetStatistics>;
}

const reachQuestions = 300;

/** Reads the data set from disk; seconds for tens of thousands of questions. @param only default all subsets */
export async function questionStatistics(
  dataset: QuestionDataset,
  only: readonly string[] = dataset.subsets,
): Promise<QuestionStatistics> {
  const { name, topicsReturn, labels, graphs } = dataset.manifest;
  const subsets: QuestionStatistics['subsets'] = {};
  const loaded = new Map<string, Graph>();
  for (const subset of only) {
    const graphName = dataset.manifest.subsets[subset]?.graph ?? '';
    const graph = loaded.get(graphName) ?? (await dataset.loadGraph([subset]));
    loaded.set(graphName, graph);
    subsets[subset] = subsetStatistics(dataset, subset, graph);
  }
  return { dataset: name, topicsReturn, labels, graphs, subsets };
}

function subsetStatistics(dataset: QuestionDataset, subset: string, graph: Graph): SubsetStatistics {
  const { files } = dataset.manifest.subsets[subset]!;
  const stored = Object.keys(files).flatMap((file) =>
    dataset.storedQuestions(subset, file).map((question) => ({ question, file })),
  );
  const samples = stored.map(({ question }) => sampleOf(question, subset, graph, dataset.manifest.topicsReturn));
  const asked = samples.filter(({ task }) => task.form === 'entities').map(({ gold }) => gold.answers.length);
  return {
    questions: samples.length,
    splits: countSplits(dataset, stored),
    dropped: Object.fromEntries(Object.entries(files).map(([file, { dropped }]) => [file, dropped])),
    topicsNotInGraph: Object.values(files).reduce((sum, file) => sum + file.topicsNotInGraph, 0),
    answersNotInGraph: Object.values(files).reduce((sum, file) => sum + file.answersNotInGraph, 0),
    answers: spreadOf(asked),
    singleAnswer: shareOf(asked.filter((count) => count === 1).length, asked.length),
    templates: new Set(samples.map(({ task }) => maskedQuestion(task))).size,
    types: new Set(samples.flatMap(({ gold }) => gold.type ?? [])).size,
    truth: samples.length - asked.length,
    chains: scoreGoldChains(samples, graph),
    reach: reachOf(samples, graph),
  };
}

function countSplits(dataset: QuestionDataset, stored: readonly { question: StoredQuestion; file: string }[]) {
  return Object.fromEntries(
    dataset.splits().map(({ name, has }) => [name, stored.filter(({ question, file }) => has(question, file)).length]),
  );
}

function reachOf(samples: readonly QuestionSample[], graph: Graph): SubsetStatistics['reach'] {
  const asked = samples.filter(({ gold }) => gold.answers.length > 0);
  const some = drawn(asked, reachQuestions, 'questions/reach');
  const distances = some.flatMap(({ task, gold }) =>
    answerDistances(
      graph,
      task.topics.map(({ entity }) => entity),
      gold.answers.map(({ entity }) => entity),
      3,
    ),
  );
  const within = (hops: number) => shareOf(distances.filter((distance) => distance <= hops).length, distances.length);
  return { questions: some.length, within: { 1: within(1), 2: within(2), 3: within(3) } };
}
