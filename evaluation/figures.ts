/** From rows to figures: every one with its interval, for all rows and for slices of them. */
import { bootstrapMeans } from '../src/metrics/bootstrap.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { EvaluationMetrics, Figure } from '../src/run/figures.js';
import type { Measure, Row } from './score.js';

/** A slice with more values than this gets no table. */
const mostValues = 40;

/** A figure of the user's own: its declaration, and what it makes of a row. */
type OwnFigure = { figure: Figure; valueOf: (row: never) => number | undefined };

// eslint-disable-next-line @typescript-eslint/no-explicit-any
const ownFigures = new WeakMap<Measure<any>, OwnFigure[]>();

/**
 * Adds a figure to all evaluations of a task from now on: in their records, tables, comparisons and pages.
 * @param measure that of the task: `(await loadTask('questions')).measure`
 * @param valueOf value of a row; undefined for rows outside the figure's denominator
 * @throws WorkbenchError `usage` for a key that is registered already
 */
export function registerFigure<R extends Row>(
  measure: Measure<R>,
  figure: Figure,
  valueOf: (row: R) => number | undefined,
): void {
  const known = ownFigures.get(measure) ?? [];
  if (known.some((one) => one.figure.key === figure.key)) {
    const got = `"${figure.key}", which is registered already`;
    throw new WorkbenchError('usage', `expected the key of a new figure, got ${got}`);
  }
  ownFigures.set(measure, [...known, { figure, valueOf }]);
}

/** Figures of a scorer, and registered ones. */
export function allFigures<R extends Row>(measure: Measure<R>, figures: readonly Figure[]): Figure[] {
  return [...figures, ...(ownFigures.get(measure) ?? []).map(({ figure }) => figure)];
}

/** See `Measure.valueOf`; registered figures included. */
function valueOf<R extends Row>(measure: Measure<R>, key: string): (row: R) => number | undefined {
  const own = ownFigures.get(measure)?.find(({ figure }) => figure.key === key);
  return own ? (own.valueOf as (row: R) => number | undefined) : measure.valueOf(key);
}

/** One figure's column: the rows in its denominator, and the value of each, float64. */
export type Column<R> = { rows: R[]; values: Float64Array };

/** Columns by key, of those figures that some row counts in. */
export function columnsOf<R extends Row>(
  measure: Measure<R>,
  keys: readonly string[],
  rows: readonly R[],
): Map<string, Column<R>> {
  const columns = new Map<string, Column<R>>();
  for (const key of keys) {
    const value = valueOf(measure, key);
    const counted: R[] = [];
    const values: number[] = [];
    for (const row of rows) {
      const found = value(row);
      if (found === undefined) continue;
      counted.push(row);
      values.push(found);
    }
    if (counted.length > 0) columns.set(key, { rows: counted, values: Float64Array.from(values) });
  }
  return columns;
}

/**
 * Means with 95 % intervals over clusters: what other dialogues, questions … of the same making would give.
 * @param resamples bootstrap resamples behind every interval
 */
export function metricsOf<R extends Row>(
  measure: Measure<R>,
  figures: readonly Figure[],
  rows: readonly R[],
  resamples: number,
): EvaluationMetrics {
  const keys = figures.map(({ key }) => key);
  const columns = columnsOf(measure, keys, rows);
  for (const { key, rare } of figures)
    if (rare && columns.get(key)?.values.every((one) => one === 0)) columns.delete(key);
  const found = new Map<string, EvaluationMetrics[string]>();
  // Columns over the same rows share their resamples.
  const left = new Map(columns);
  while (left.size > 0) {
    const [first] = left.values();
    const alike = [...left].filter(([, column]) => sameRows(column.rows, first!.rows));
    const clusters = first!.rows.map((row) => measure.cluster(row));
    const estimates = bootstrapMeans(
      alike.map(([, { values }]) => values),
      clusters,
      { resamples, shares: alike.map(([key]) => isShare(figures.find((one) => one.key === key)!)) },
    );
    alike.forEach(([key], i) => {
      found.set(key, estimates[i]!);
      left.delete(key);
    });
  }
  return Object.fromEntries([...columns.keys()].map((key) => [key, found.get(key)!]));
}

/** True if the values of a figure lie in [0, 1]. */
export const isShare = ({ unit }: Figure): boolean => unit === '%' || unit === 'mean';

/** Figures by `name=value`; a name with one value only is left out, and one with more than forty. */
export function slicesOf<R extends Row>(
  measure: Measure<R>,
  figures: readonly Figure[],
  rows: readonly R[],
  resamples: number,
): Record<string, EvaluationMetrics> {
  const slices: Record<string, EvaluationMetrics> = {};
  for (const [name, own] of rowsBySlice(measure, rows)) slices[name] = metricsOf(measure, figures, own, resamples);
  return slices;
}

/** Rows by `name=value`, the values of a name in order. @param only one name. Default all */
export function rowsBySlice<R extends Row>(
  { slices }: Measure<R>,
  rows: readonly R[],
  only?: string,
): Map<string, R[]> {
  const found = new Map<string, R[]>();
  for (const [name, valueOf] of Object.entries(slices)) {
    if (only !== undefined && name !== only) continue;
    const values = Map.groupBy(rows, (row) => valueOf(row));
    values.delete(undefined);
    if (values.size < 2 || values.size > mostValues) continue;
    for (const value of [...values.keys()].sort()) found.set(`${name}=${value}`, values.get(value)!);
  }
  return found;
}

const sameRows = <R>(a: readonly R[], b: readonly R[]) => a.length === b.length && a.every((row, i) => row === b[i]);
