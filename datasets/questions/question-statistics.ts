/** What a question data set looks like: sizes, answers, templates, and how far its graph carries its gold. */
import { type Frontier, type FrontierStepper, frontierStepper, initialFrontier } from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';
import { type Spread, spreadOf } from '../../src/metrics/ranks.js';
import { sampled } from '../../src/run/seeds.js';
import { maskedQuestion, type QuestionGold, type QuestionSample } from '../question.js';
import type { QuestionDataset } from './question-dataset.js';
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

/** Of one set of entities 0 or 1, but F1. */
interface ChainScore {
  /** The set is not empty. */
  executable: number;
  /** The first of the canonical order is an answer. */
  hit1: number;
  f1: number;
  /** The set is the set of answers. */
  exact: number;
}

/**
 * What becomes of the topics while a chain is executed: they leave every frontier, the last frontier only, or none. The
 * first is MetaQA's, the last PathQuestion's; the second is what one would do first, and costs half of MetaQA's three-hop answers.
 */
export type TopicRule = 'leave' | 'leave at the end' | 'stay';

export interface GoldChainScores {
  /** Questions that have one, of both forms: what `executable` is over. */
  questions: number;
  /** Means, null over no question: `hit1`, `f1` and `exact` are over entity questions alone, as statements have no answers. */
  rules: Record<TopicRule, Record<keyof ChainScore, number | null>>;
}

const topicRules: readonly TopicRule[] = ['leave', 'leave at the end', 'stay'];

/** The entities at the end of a chain under a rule for the topics. @param step of the graph they are ids of */
function executeUnder(
  rule: TopicRule,
  step: FrontierStepper,
  topics: readonly number[],
  chain: readonly number[],
): Frontier {
  const leaving = (hop: number) => rule === 'leave' || (rule === 'leave at the end' && hop === chain.length - 1);
  return chain.reduce(
    (frontier, relation, hop) => step(frontier, relation, leaving(hop) ? topics : []),
    initialFrontier(topics),
  );
}

function scoreFrontier({ entities, counts }: Frontier, { answers }: Pick<QuestionGold, 'answers'>): ChainScore {
  if (entities.length === 0) return { executable: 0, hit1: 0, f1: 0, exact: 0 };
  const gold = new Set(answers.map(({ entity }) => entity));
  let first = 0;
  let right = 0;
  for (let i = 0; i < entities.length; i++) {
    // The first of `canonicalOrder`, without sorting.
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

/** Mean scores over the samples that have a gold chain; the best one counts where there are several. */
function scoreGoldChains(samples: readonly QuestionSample[], graph: Graph): GoldChainScores {
  const withChain = samples.filter(({ gold }) => gold.chains.length > 0);
  const step = frontierStepper(graph);
  const rules = topicRules.map((rule) => {
    const scores = withChain.map(({ task, gold }) => {
      const topics = task.topics.map(({ entity }) => entity);
      return gold.chains
        .map((chain) => scoreFrontier(executeUnder(rule, step, topics, chain), gold))
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

/** Null where there is nothing to be a share of. */
const shareOf = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);

/**
 * For each of `answers` the least number of edges from any topic, at most `hops`; `Infinity` beyond, and for entities the graph lacks.
 * O(edges met), and it stops when every answer was met.
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
