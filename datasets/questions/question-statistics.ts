/** Statistics of a question data set: sizes, answers, templates, gold chains, answer reachability. */
import { type Frontier, initialFrontier, stepFrontier } from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';
import { type Spread, spreadOf } from '../../src/metrics/ranks.js';
import { sampled } from '../../src/run/seeds.js';
import { maskedQuestion, type QuestionGold, type QuestionSample } from '../question.js';
import type { QuestionDataset } from './question-dataset.js';
import { sampleOf, type StoredQuestion } from './stored-question.js';

/** Statistics of one subset. */
export interface SubsetStatistics {
  questions: number;
  /** Questions by split, hold-outs included. */
  splits: Record<string, number>;
  dropped: Record<string, Record<string, number>>;
  topicsNotInGraph: number;
  answersNotInGraph: number;
  /** Answers per question, over entity questions. */
  answers: Spread;
  /** Share with a single answer; null without entity questions. */
  singleAnswer: number | null;
  /** Distinct questions after masking topics. */
  templates: number;
  /** Distinct question types; 0 if unknown. */
  types: number;
  truth: number;
  /** Gold chains executed under three topic rules; the data set's rule is `topicsReturn`. */
  chains: GoldChainScores;
  /**
   * Share of answers within 1, 2 and 3 edges of a topic, in any direction of the graph, over a seeded sample of questions; null without
   * answers.
   */
  reach: { questions: number; within: Record<1 | 2 | 3, number | null> };
}

/** Statistics of a question data set. */
export interface QuestionStatistics {
  dataset: string;
  /** True if walks may return to their topics. */
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
  const some = sampled(asked, reachQuestions, 'questions/reach');
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

/** Score of one result set: 0 or 1, except F1. */
interface ChainScore {
  /** The set is not empty. */
  executable: number;
  /** The first entity in canonical order is an answer. */
  hit1: number;
  f1: number;
  /** The set equals the answers. */
  exact: number;
}

/**
 * Topic exclusion while a chain is executed: from every frontier, from the last only, or never. The first is MetaQA's rule, the last
 * PathQuestion's; the second, the obvious one, costs half of MetaQA's three-hop answers.
 */
export type TopicRule = 'leave' | 'leave at the end' | 'stay';

export interface GoldChainScores {
  /** Questions with a chain, of both forms: the base of `executable`. */
  questions: number;
  /** Means, null without questions: `hit1`, `f1` and `exact` are over entity questions only, as statements have no answers. */
  rules: Record<TopicRule, Record<keyof ChainScore, number | null>>;
}

const topicRules: readonly TopicRule[] = ['leave', 'leave at the end', 'stay'];

/** Entities at the end of a chain under a topic rule. */
function executeUnder(rule: TopicRule, graph: Graph, topics: readonly number[], chain: readonly number[]): Frontier {
  const leaving = (hop: number) => rule === 'leave' || (rule === 'leave at the end' && hop === chain.length - 1);
  return chain.reduce(
    (frontier, relation, hop) => stepFrontier(graph, frontier, relation, leaving(hop) ? topics : []),
    initialFrontier(topics),
  );
}

function scoreFrontier({ entities, counts }: Frontier, { answers }: Pick<QuestionGold, 'answers'>): ChainScore {
  if (entities.length === 0) return { executable: 0, hit1: 0, f1: 0, exact: 0 };
  const gold = new Set(answers.map(({ entity }) => entity));
  let first = 0;
  let right = 0;
  for (let i = 0; i < entities.length; i++) {
    // First in `canonicalOrder`, without sorting.
    if (counts[i]! > counts[first]!) first = i;
    if (gold.has(entities[i]!)) right++;
  }
  return {
    executable: 1,
    hit1: Number(gold.has(entities[first]!)),
    f1: (2 * right) / (entities.length + answers.length),
    exact: Number(right === entities.length && right === answers.length),
  };
}

/** Mean scores over samples with a gold chain; the best of several counts. */
function scoreGoldChains(samples: readonly QuestionSample[], graph: Graph): GoldChainScores {
  const withChain = samples.filter(({ gold }) => gold.chains.length > 0);
  const rules = topicRules.map((rule) => {
    const scores = withChain.map(({ task, gold }) => {
      const topics = task.topics.map(({ entity }) => entity);
      return gold.chains
        .map((chain) => scoreFrontier(executeUnder(rule, graph, topics, chain), gold))
        .reduce((a, b) => (b.f1 > a.f1 ? b : a));
    });
    const asking = scores.filter((_, i) => withChain[i]!.task.form === 'entities');
    const { hit1, f1, exact } = meanOf(asking);
    return [rule, { executable: meanOf(scores).executable, hit1, f1, exact }] as const;
  });
  return { questions: withChain.length, rules: Object.fromEntries(rules) as GoldChainScores['rules'] };
}

function meanOf(scores: readonly ChainScore[]): Record<keyof ChainScore, number | null> {
  const mean = (of: keyof ChainScore) =>
    shareOf(
      scores.reduce((sum, score) => sum + score[of], 0),
      scores.length,
    );
  return { executable: mean('executable'), hit1: mean('hit1'), f1: mean('f1'), exact: mean('exact') };
}

/** Null for an empty denominator. */
const shareOf = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);

/**
 * For each of `answers` the distance in edges from the nearest topic, up to `hops`; `Infinity` beyond, and for entities missing from the
 * graph. O(edges visited), stops when all answers are found.
 */
export function answerDistances(
  graph: Graph,
  topics: readonly number[],
  answers: readonly number[],
  hops: number,
): number[] {
  const distance = new Map<number, number>();
  let frontier = [...new Set(topics)].filter((topic) => topic >= 0);
  for (const topic of frontier) distance.set(topic, 0);
  const missing = new Set(answers.filter((answer) => answer >= 0 && !distance.has(answer)));
  for (let hop = 1; hop <= hops && missing.size > 0; hop++) {
    const next: number[] = [];
    for (const entity of frontier) {
      for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
        const tail = graph.tails[edge]!;
        if (distance.has(tail)) continue;
        distance.set(tail, hop);
        missing.delete(tail);
        next.push(tail);
      }
    }
    frontier = next;
  }
  return answers.map((answer) => distance.get(answer) ?? Infinity);
}
