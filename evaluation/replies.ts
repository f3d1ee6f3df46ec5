/** Replies that were cut or could not be read: two figures of every task with prompted agents, absent where there are none. */
import type { CallTotals } from '../src/llm/client/create-clients.js';
import type { EvaluationMetrics, Figure } from '../src/run/figures.js';
import type { Section } from '../src/run/evaluation.js';

const common = { unit: '%', better: 'low', place: 'table', rare: true } as const;
/** Shares of the replies of a sample. */
export const replyFigures: readonly Figure[] = [
  { key: 'cut', title: 'replies cut', ...common },
  { key: 'unreadable', title: 'replies unreadable', ...common },
];

/** Remedies. */
export const replyHint =
  'replies that were cut at their limit or hold nothing of the asked form are no decisions; --model-set replyTokens=4096 raises the limit, reasoning=off asks for no thoughts';

/** Calls of a sample, and how many of their replies were cut or unreadable. */
export interface ReplyCounts {
  calls: number;
  cut: number;
  unreadable: number;
}

/** Counts of the calls of a sample. */
export function replyCounts({ calls, remarks, phases }: Pick<CallTotals, 'calls' | 'remarks' | 'phases'>): ReplyCounts {
  const unreadable = Object.values(phases).reduce((sum, { stages }) => sum + (stages.unparsed ?? 0), 0);
  return { calls, cut: remarks?.cut ?? 0, unreadable };
}

/** Value of a figure of replies; undefined for other figures. */
export function replyValue(key: string): ((counts: ReplyCounts) => number | undefined) | undefined {
  if (key !== 'cut' && key !== 'unreadable') return undefined;
  return ({ calls, [key]: count }) => (calls > 0 ? count / calls : undefined);
}

/** True where some reply was cut or unreadable. */
export const hasLostReplies = (metrics: EvaluationMetrics): boolean => replyFigures.some(({ key }) => metrics[key]);

/** The hint where it is needed. */
export const lostReplies = (metrics: EvaluationMetrics): Section[] =>
  hasLostReplies(metrics) ? [{ title: 'Cut or unreadable replies', lines: [replyHint] }] : [];
