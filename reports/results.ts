/** Evaluations of all runs as comparable rows: one an agent, averaged over seeds, apart for each split and graph. */
import type { EvaluationMetrics, EvaluationRecord } from '../src/run/records.js';
import type { RunGroup } from './run-data.js';
import { average, averageSlices, type Figures } from './series.js';
import { baselineName, labelOf, methodOf } from './words.js';

/** One agent's figures on one split. */
export interface ResultRow {
  label: string;
  note?: string;
  /** Whether it is an agent that a run of the report trained, not a baseline. */
  own: boolean;
  /** Index of the group of runs that trained it; of a baseline, of the first group that was measured with it. */
  group: number;
  /** How many measurements were averaged. */
  seeds: number;
  /** How many of them were counted as LLM-ARK's code counts, too: figures of that kind are averages only where all were. */
  arkCounted: number;
  metrics: Figures;
  slices: Readonly<Record<string, Figures>>;
  /** One of the averaged records: coverage, cost, examples. */
  record: EvaluationRecord;
}

/** All that was measured on the same samples. */
export interface ResultSet {
  dataset: string;
  graph: string;
  split: string;
  turns: string;
  n: number;
  /** Best path@1 first. */
  rows: ResultRow[];
}

/** The metric that orders rows and makes the summary. */
export const mainMetric = 'path@1';

/**
 * Collects the evaluations. Sets with the checkpoint that training chose come first, then those with other trained agents;
 * of these `valid`, by which it was chosen, comes last.
 */
export function collectResults(groups: readonly RunGroup[]): ResultSet[] {
  const sets = new Map<string, { first: EvaluationRecord; rows: Map<string, Measured> }>();
  groups.forEach((group, g) => {
    for (const record of group.runs.flatMap(({ evaluations }) => evaluations)) {
      const { dataset, graph, split, turns, n } = record;
      const setKey = JSON.stringify([dataset, graph, split, turns, n]);
      const set = sets.get(setKey) ?? { first: record, rows: new Map() };
      sets.set(setKey, set);
      const row = rowKey(record, group, groups.length > 1);
      const key = JSON.stringify(row);
      const entry = set.rows.get(key) ?? { row, group: g, records: [] };
      set.rows.set(key, entry);
      entry.records.push(record);
    }
  });
  const rank = ({ rows, split }: ResultSet) =>
    (rows.some(({ own, record }) => own && record.checkpoint === 'best') ? 0 : rows.some(({ own }) => own) ? 2 : 4) +
    (split.includes('valid') ? 1 : 0);
  return [...sets.values()]
    .map(({ first, rows }) => ({
      dataset: first.dataset,
      graph: first.graph,
      split: first.split,
      turns: first.turns,
      n: first.n,
      rows: [...rows.values()].map(resultRow).sort((a, b) => mainValue(b) - mainValue(a)),
    }))
    .sort((a, b) => rank(a) - rank(b) || b.rows.length - a.rows.length);
}

/** The row a report is about: the `best` checkpoint of a run where there is one. */
export function mainRow({ rows }: ResultSet): ResultRow | undefined {
  const own = rows.filter((row) => row.own);
  return own.find(({ record }) => record.checkpoint === 'best') ?? own[0] ?? rows[0];
}

/** The smallest, a middle and the largest k of `name@k`: what charts and narrow tables show. */
export function shownKs(rows: readonly ResultRow[], name: string): number[] {
  const ks = ksOf(rows, name);
  return [...new Set([ks[0], ks[Math.floor(ks.length / 2)], ks.at(-1)])].filter((k) => k !== undefined);
}

/** The k of every `name@k` that some row has, ascending. */
export function ksOf(rows: readonly ResultRow[], name: string): number[] {
  const ks = rows.flatMap(({ metrics }) =>
    Object.keys(metrics).flatMap((key) => (key.startsWith(`${name}@`) ? [Number(key.slice(name.length + 1))] : [])),
  );
  return [...new Set(ks)].sort((a, b) => a - b);
}

interface Measured {
  row: RowKey;
  group: number;
  records: EvaluationRecord[];
}

interface RowKey {
  label: string;
  note?: string;
  own: boolean;
}

function rowKey({ agent, note, checkpoint, twoHopBonus }: EvaluationRecord, group: RunGroup, several: boolean): RowKey {
  const bonus = twoHopBonus ? [`two-hop bonus ${twoHopBonus}`] : [];
  const aside = note !== undefined && { note };
  if (checkpoint === undefined) return { label: labelOf(baselineName(agent), bonus), own: false, ...aside };
  const method = methodOf(group.runs[0]!.info.config, checkpoint) ?? agent;
  return { label: labelOf(method, [checkpoint, ...bonus, ...(several ? [group.label] : [])]), own: true, ...aside };
}

function isArkCounted({ count }: EvaluationRecord): boolean {
  return count === 'ark';
}

/** Without what `--count ark` adds to the figures that every evaluation has. */
function strictMetrics({ metrics }: EvaluationRecord): EvaluationMetrics {
  return Object.fromEntries(Object.entries(metrics).filter(([key]) => !/^(ark-|target-any@)/.test(key)));
}

function resultRow({ row, group, records }: Measured): ResultRow {
  // A baseline that knows no seed says the same in every run: that is one measurement, not several.
  const twiceCounted = records.toSorted((a, b) => Number(isArkCounted(a)) - Number(isArkCounted(b)));
  const byFigures = new Map(twiceCounted.map((record) => [JSON.stringify(strictMetrics(record)), record]));
  const distinct = row.own ? records : [...byFigures.values()];
  return {
    ...row,
    group,
    seeds: distinct.length,
    arkCounted: distinct.filter(isArkCounted).length,
    metrics: average(distinct.map(({ metrics }) => metrics)),
    slices: averageSlices(distinct),
    record: records.find(({ examples }) => examples?.length) ?? records[0]!,
  };
}

function mainValue({ metrics }: ResultRow): number {
  return metrics[mainMetric]?.value ?? -1;
}
