/** Figures of ranked link queries, with intervals. */
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';
import { linkDirections, type LinkDirection } from '../../src/run/link-records.js';
import type { EvaluationMetrics } from '../../src/run/records.js';
import type { LinkRows } from './link-rows.js';

/** The k of Hits@k, as the field counts. */
const ks = [1, 3, 10] as const;

/** How the figures are taken. */
export interface FigureOptions {
  /** Bootstrap resamples behind every interval. */
  resamples: number;
  /** `reachable@1` to `reachable@horizon` are given. */
  horizon: number;
}

/** Value of each row by figure, in the order of tables. */
export function figureColumns(rows: LinkRows, horizon: number): Map<string, Float64Array> {
  const columns = new Map<string, Float64Array>();
  const addRanks = (prefix: string, ranks: Float64Array) => {
    columns.set(
      `${prefix}mrr`,
      ranks.map((rank) => 1 / rank),
    );
    for (const k of ks)
      columns.set(
        `${prefix}hits@${k}`,
        ranks.map((rank) => Number(rank <= k)),
      );
  };
  addRanks('', rows.ranks);
  if (rows.sumRanks) addRanks('sum-', rows.sumRanks);
  if (rows.reached) columns.set('reached', Float64Array.from(rows.reached));
  for (let t = 1; t <= horizon; t++) {
    columns.set(
      `reachable@${t}`,
      Float64Array.from(rows.distances, (distance) => Number(distance <= t)),
    );
  }
  return columns;
}

/**
 * Figures of each direction that was asked, and of both where both were. Intervals draw whole questions (head, relation):
 * the answers of one are ranked by the same scores.
 */
export function linkFigures(
  rows: LinkRows,
  { resamples, horizon }: FigureOptions,
): Partial<Record<LinkDirection, EvaluationMetrics>> {
  const columns = figureColumns(rows, horizon);
  const clusters = questionKeys(rows);
  const figures: Partial<Record<LinkDirection, EvaluationMetrics>> = {};
  for (const direction of linkDirections) {
    const places = placesOf(rows, direction);
    if (places.length > 0) figures[direction] = estimatesAt(columns, clusters, places, resamples);
  }
  return figures;
}

/** int32: rows of a direction; none of `both` where only one was asked. */
export function placesOf({ asksHead }: LinkRows, direction: LinkDirection): Int32Array {
  const places = Int32Array.from(asksHead.keys());
  if (direction !== 'both') return places.filter((i) => asksHead[i] === Number(direction === 'head'));
  return asksHead.includes(0) && asksHead.includes(1) ? places : places.subarray(0, 0);
}

/** Which question each row asks: equal for equal head and relation. */
export function questionKeys({ heads, relations }: LinkRows): string[] {
  return Array.from(heads, (head, i) => `${head} ${relations[i]!}`);
}

function estimatesAt(
  columns: ReadonlyMap<string, Float64Array>,
  clusters: readonly string[],
  places: Int32Array,
  resamples: number,
): EvaluationMetrics {
  const chosen = [...columns.values()].map((column) => Float64Array.from(places, (i) => column[i]!));
  const estimates = bootstrapMeans(
    chosen,
    Array.from(places, (i) => clusters[i]!),
    { resamples },
  );
  return Object.fromEntries([...columns.keys()].map((key, c) => [key, estimates[c]!]));
}
