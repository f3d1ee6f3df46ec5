/** How well a question's known relation chain gives its answers. */
import { type Frontier, type FrontierStepper, frontierStepper, initialFrontier } from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';
import type { QuestionGold, QuestionSample } from '../question.js';

/** Of one set of entities 0 or 1, but F1. */
export interface ChainScore {
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

/** Gold chains of a set of questions. */
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

/** Scores one set against the answers. */
export function scoreFrontier({ entities, counts }: Frontier, { answers }: Pick<QuestionGold, 'answers'>): ChainScore {
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
export function scoreGoldChains(samples: readonly QuestionSample[], graph: Graph): GoldChainScores {
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
export const shareOf = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);
