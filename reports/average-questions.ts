/** Evaluations that differ in the seed alone, as one row. */
import type { QuestionEvaluationRecord } from '../src/run/records.js';
import type { EvaluationData } from './evaluation-data.js';
import type { Cost, QuestionResult } from './question-results.js';
import { average, averageSlices } from './results.js';
import { meanOf } from './series.js';

/** Means of figures and costs, sums of counts. @param color of the row in every chart */
export function resultOf(label: string, same: readonly EvaluationData[], color: number): QuestionResult {
  const records = same.map(({ record }) => record);
  const { note, model, simulated } = records[0]!;
  const speeds = simulated ? [] : same.flatMap(({ speed }) => speed ?? []);
  const rates = speeds.flatMap(({ tokensPerSecond }) => tokensPerSecond ?? []);
  return {
    label,
    ...(note !== undefined && { note }),
    ...(model !== undefined && { model }),
    simulated,
    own: same[0]!.trained !== undefined,
    color,
    seeds: same.length,
    asked: records.reduce((sum, { n }) => sum + n, 0),
    metrics: average(records.map(({ metrics }) => metrics)),
    slices: averageSlices(records),
    cost: averageCost(records),
    phases: sumOfPhases(records),
    stops: sumOf(records.map(({ stops }) => stops)),
    misses: sumOf(records.map(({ misses }) => misses)),
    budgetCurves: records.map(({ budgetCurve }) => budgetCurve),
    ...(speeds.length > 0 && {
      speed: {
        msPerQuestion: meanOf(speeds.map(({ msPerQuestion }) => msPerQuestion)),
        ...(rates.length > 0 && { tokensPerSecond: meanOf(rates) }),
      },
    }),
    examples: same.find(({ examples }) => examples.length > 0)?.examples ?? [],
  };
}

function averageCost(records: readonly QuestionEvaluationRecord[]): Record<string, Cost> {
  const keys = Object.keys(records[0]!.cost).filter((key) => records.every(({ cost }) => cost[key]));
  return Object.fromEntries(
    keys.map((key) => {
      const mean = (part: keyof Cost) => meanOf(records.map(({ cost }) => cost[key]![part]));
      const max = Math.max(...records.map(({ cost }) => cost[key]!.max));
      return [key, { mean: mean('mean'), median: mean('median'), p95: mean('p95'), max, total: mean('total') }];
    }),
  );
}

function sumOfPhases(records: readonly QuestionEvaluationRecord[]): QuestionEvaluationRecord['phases'] {
  const names = [...new Set(records.flatMap(({ phases }) => Object.keys(phases)))];
  return Object.fromEntries(
    names.map((name) => {
      const some = records.flatMap(({ phases }) => phases[name] ?? []);
      const calls = some.reduce((sum, phase) => sum + phase.calls, 0);
      return [name, { calls, stages: sumOf(some.map(({ stages }) => stages)) }];
    }),
  );
}

function sumOf(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  // Names are data's: as keys of an object, some would find what every object has.
  const sum = new Map<string, number>();
  for (const counts of all)
    for (const [key, count] of Object.entries(counts)) sum.set(key, (sum.get(key) ?? 0) + count);
  return Object.fromEntries(sum);
}
