/** Share of right decisions of prompted agents, step by step: shows where errors arise. */
import { z } from 'zod';
import { confusionOf } from '../../evaluation/oracle/confusion.js';
import type { ObservedDecision } from '../../evaluation/oracle/fit-confusion.js';
import { judgeDecision } from '../../evaluation/oracle/judge-decision.js';
import { questionFacts } from '../../evaluation/oracle/question-facts.js';
import { isCopied, type TakenDecision } from '../../evaluation/watch-decisions.js';
import type { QuestionSample } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import type { Section } from '../../src/run/evaluation.js';
import { numberText } from '../../src/run/figures.js';
import { openObject } from '../../src/run/read-json.js';
import { anyNumber } from '../../src/run/records.js';

const count = z.int().min(0);

/** Decisions of one phase, and where they were one hop of a gold chain, of that hop. */
export const decisionCount = openObject({
  phase: z.string(),
  /** From 1; absent for whole chains, verdicts, answers, and where nothing right was offered. */
  hop: count.optional(),
  taken: count,
  /** Number of those that were offered nothing right, and of those with a right reply. */
  lost: count,
  judged: count,
  /** Sums over the judged: those that were right, and what a uniform choice would get. */
  right: anyNumber,
  chance: anyNumber,
  /** Replies that an example of the prompt could have given, and those that did repeat it. */
  copyable: count,
  copied: count,
});
export type DecisionCount = z.output<typeof decisionCount>;

/** The decisions of one question; judged where the data set gives its gold chains. */
export function countDecisions(graph: Graph, sample: QuestionSample, taken: readonly TakenDecision[]): DecisionCount[] {
  const facts = taken.length > 0 && sample.gold.chains.length > 0 ? questionFacts(graph, sample) : undefined;
  const counts = taken.map((one): DecisionCount => {
    const { decision, decided } = one;
    const judged = facts && judgeDecision(graph, facts, decision, decided.reply);
    const copies = isCopied(one);
    const { right = 0, chance = 0, hop } = typeof judged === 'object' ? judged : {};
    return {
      phase: decision.phase,
      hop,
      ...{ taken: 1, lost: Number(judged === 'lost'), judged: Number(typeof judged === 'object'), right, chance },
      ...{ copyable: Number(copies !== undefined), copied: Number(copies === true) },
    };
  });
  return sumOfCounts(counts);
}

/** The judged decisions of one question that offered at least two choices, as the simulated model is fitted to them. */
export function observedDecisions(
  sample: QuestionSample,
  { decisions: taken = [] }: { decisions?: readonly TakenDecision[] | undefined },
  { graph: { local } }: { graph: Pick<Graph, 'local'> },
): ObservedDecision[] {
  if (taken.length === 0 || sample.gold.chains.length === 0) return [];
  const facts = questionFacts(local, sample);
  return taken.flatMap(({ decision, decided }) => {
    const judged = judgeDecision(local, facts, decision, decided.reply);
    const { choices, effective } = confusionOf(facts, decision);
    if (typeof judged !== 'object' || choices < 2) return [];
    return [{ questionId: sample.task.id, choices, effective, right: judged.right }];
  });
}

/** By phase and hop, in this order. */
export function sumOfCounts(counts: readonly DecisionCount[]): DecisionCount[] {
  const sums = new Map<string, DecisionCount>();
  for (const one of counts) {
    const key = JSON.stringify([one.phase, one.hop]);
    const sum = sums.get(key);
    if (!sum) sums.set(key, { ...one });
    else for (const what of summed) sum[what] += one[what];
  }
  const order = ({ phase, hop = Infinity }: DecisionCount) => [phase, hop] as const;
  return [...sums.values()].sort((a, b) => {
    const [[phase, hop], [other, otherHop]] = [order(a), order(b)];
    return phase < other ? -1 : phase > other ? 1 : hop - otherHop || 0;
  });
}

const summed = ['taken', 'lost', 'judged', 'right', 'chance', 'copyable', 'copied'] as const;

/** Share of a question's replies that repeat an example of their prompt; undefined where none could. */
export function copiedShare(counts: readonly DecisionCount[] = []): number | undefined {
  const copyable = counts.reduce((sum, one) => sum + one.copyable, 0);
  return copyable === 0 ? undefined : counts.reduce((sum, one) => sum + one.copied, 0) / copyable;
}

export const decisionsTitle = 'Decisions by phase';

/** The same for people: one row a phase and hop. */
export function decisionsSection(counts: readonly DecisionCount[]): Section {
  const share = (part: number, whole: number) => (whole === 0 ? '' : numberText(part / whole));
  return {
    title: decisionsTitle,
    rows: counts.map(({ phase, hop, taken, lost, judged, right, chance, copyable, copied }) => ({
      phase,
      hop: hop ?? '',
      decisions: taken,
      judged,
      'right, %': share(right, judged),
      'chance, %': share(chance, judged),
      'nothing right offered': lost,
      'copied, %': share(copied, copyable),
    })),
  };
}
