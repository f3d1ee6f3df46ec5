/** What a question's calls cost. Nothing in it depends on the clock or on what was remembered: a resumed run has the same. */
import type { PhaseCalls } from '../../run/question-records.js';
import type { ParseStage } from '../decision-client.js';
import type { Dropped } from '../decisions/fit-to-context.js';

/** One call: one request to a model, the re-ask after an unreadable reply being one of its own. */
export interface CallRecord {
  phase: string;
  /** Decision of the question, from 0. */
  seq: number;
  /** 1 for the re-ask. */
  attempt: number;
  promptTokens: number;
  /** As the model said when it was asked. */
  cachedTokens: number;
  completionTokens: number;
  /** How the reply was read: `asked-again` of a re-ask that could be, `unparsed` of either that could not. */
  stage: ParseStage;
  temperature: number;
  /** Of the completion in the store. */
  key: string;
  /** What the prompt gave up to fit the context. */
  cut: Dropped;
}

/** Sums over calls. */
export interface CallTotals {
  calls: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  /** Calls by phase and by how their replies were read. */
  phases: PhaseCalls;
}

/** Sums of a question's calls. */
export function totalsOf(calls: readonly CallRecord[]): CallTotals {
  const totals: CallTotals = { calls: calls.length, promptTokens: 0, cachedTokens: 0, completionTokens: 0, phases: {} };
  for (const { phase, stage, promptTokens, cachedTokens, completionTokens } of calls) {
    totals.promptTokens += promptTokens;
    totals.cachedTokens += cachedTokens;
    totals.completionTokens += completionTokens;
    const own = (totals.phases[phase] ??= { calls: 0, stages: {} });
    own.calls++;
    own.stages[stage] = (own.stages[stage] ?? 0) + 1;
  }
  return totals;
}

/** In the order of decisions: those under way at once may end in any. */
export function inOrder(calls: readonly CallRecord[]): CallRecord[] {
  return [...calls].sort((a, b) => a.seq - b.seq || a.attempt - b.attempt);
}
