/** From rows to figures: every metric with its interval, for all questions and for slices of them. */
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';
import { spreadOf } from '../../src/metrics/ranks.js';
import type { PhaseCalls, QuestionRow } from '../../src/run/question-records.js';
import type { EvaluationMetrics, QuestionEvaluationRecord } from '../../src/run/records.js';
import { isRight } from './question-row.js';

const ofEntities = ['hit@1', 'hit-any', 'precision', 'recall', 'f1', 'exact', 'partial', 'complete'] as const;

/** Figures of all questions, whatever they ask for. */
const ofAll: Record<string, (row: QuestionRow) => number> = {
  abstained: ({ abstained }) => Number(abstained),
  unparsed: ({ unparsed }) => Number(unparsed),
  crashed: ({ crash }) => Number(crash !== undefined),
  degraded: ({ degraded }) => Number(degraded),
  'at-cap': ({ atCap }) => Number(atCap),
  'calls.mean': ({ calls }) => calls,
};

const costs = ['calls', 'promptTokens', 'cachedTokens', 'completionTokens', 'graphReads', 'encodes'] as const;

/** More types than these are no slices: a table of them would say nothing. */
const mostTypes = 40;

/** Values of single questions by metric key; entity and truth questions have columns of their own length. */
export function questionColumns(
  rows: readonly QuestionRow[],
): Map<string, { rows: QuestionRow[]; values: Float64Array }> {
  const columns = new Map<string, { rows: QuestionRow[]; values: Float64Array }>();
  const add = (key: string, of: QuestionRow[], value: (row: QuestionRow) => number) => {
    if (of.length > 0) columns.set(key, { rows: of, values: Float64Array.from(of, value) });
  };
  const entities = rows.filter(({ form }) => form === 'entities');
  const truths = rows.filter(({ form }) => form === 'truth');
  for (const key of ofEntities) add(key, entities, ({ metrics }) => metrics[key]!);
  add('accuracy', truths, ({ metrics }) => metrics.accuracy!);
  add('reachable', entities, ({ reachable }) => Number(reachable));
  add('reachable-all', entities, ({ reachableAll }) => Number(reachableAll));
  for (const [key, value] of Object.entries(ofAll)) add(key, [...rows], value);
  return columns;
}

/**
 * Metrics with intervals. Each question is a cluster of its own: questions of one template are not drawn together, so an interval
 * says what other questions of the same making would give, not what other templates would.
 */
export function summariseQuestions(rows: readonly QuestionRow[], resamples: number): EvaluationMetrics {
  const columns = [...questionColumns(rows)];
  const metrics = new Map<string, EvaluationMetrics[string]>();
  // Columns over the same questions share their resamples.
  const groups = new Map<number, typeof columns>();
  for (const column of columns) {
    const form = column[1].rows.length === rows.length ? 0 : column[1].rows[0]!.form === 'truth' ? 1 : 2;
    groups.set(form, [...(groups.get(form) ?? []), column]);
  }
  for (const group of groups.values()) {
    const ids = group[0]![1].rows.map(({ id }) => id);
    const estimates = bootstrapMeans(
      group.map(([, { values }]) => values),
      ids,
      { resamples },
    );
    group.forEach(([key], i) => metrics.set(key, estimates[i]!));
  }
  return Object.fromEntries(columns.map(([key]) => [key, metrics.get(key)!]));
}

/** Metrics by subset, type, form and number of right answers; a name with one value only is left out. */
export function sliceQuestions(rows: readonly QuestionRow[], resamples: number): Record<string, EvaluationMetrics> {
  const names: Record<string, (row: QuestionRow) => string | undefined> = {
    subset: ({ subset }) => subset,
    type: ({ type }) => type,
    form: ({ form }) => form,
    answers: ({ golds }) => (golds === 0 ? undefined : golds === 1 ? '1' : 'many'),
  };
  const slices: Record<string, EvaluationMetrics> = {};
  for (const [name, valueOf] of Object.entries(names)) {
    const values = [...new Set(rows.flatMap((row) => valueOf(row) ?? []))].sort();
    if (values.length < 2 || (name === 'type' && values.length > mostTypes)) continue;
    for (const value of values) {
      const slice = rows.filter((row) => valueOf(row) === value);
      slices[`${name}=${value}`] = summariseQuestions(slice, resamples);
    }
  }
  return slices;
}

/** Calls, tokens and reads of a question. */
export function costOfQuestions(rows: readonly QuestionRow[]): QuestionEvaluationRecord['cost'] {
  return Object.fromEntries(
    costs.map((key) => {
      const values = rows.map((row) => row[key]);
      return [key, { ...spreadOf(values), total: values.reduce((sum, value) => sum + value, 0) }];
    }),
  );
}

/** Calls of all questions by phase and by how their replies were read. */
export function phasesOfQuestions(rows: readonly QuestionRow[]): PhaseCalls {
  const total: PhaseCalls = {};
  for (const { phases } of rows) {
    for (const [phase, { calls, stages }] of Object.entries(phases)) {
      const sum = (total[phase] ??= { calls: 0, stages: {} });
      sum.calls += calls;
      for (const [stage, count] of Object.entries(stages)) sum.stages[stage] = (sum.stages[stage] ?? 0) + count;
    }
  }
  return sortedByKey(total);
}

/** How often each word occurs, by word. */
export function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return sortedByKey(counts);
}

/** Share of the questions that ended right, and complete, within so many calls; a point for each number of calls that occurs. */
export function budgetCurve(rows: readonly QuestionRow[]): QuestionEvaluationRecord['budgetCurve'] {
  const sorted = [...rows].sort((a, b) => a.calls - b.calls);
  const curve: QuestionEvaluationRecord['budgetCurve'] = [];
  let hit = 0;
  let complete = 0;
  sorted.forEach((row, i) => {
    hit += Number(isRight(row));
    complete += Number((row.metrics.complete ?? row.metrics.accuracy) === 1);
    if (sorted[i + 1]?.calls !== row.calls) {
      curve.push({ calls: row.calls, hit: hit / rows.length, complete: complete / rows.length });
    }
  });
  return curve;
}

function sortedByKey<T>(values: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}
