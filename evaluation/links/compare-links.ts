/** Several rankers on the same queries: which differences are more than chance. */
import { pairedDifferences } from '../../src/metrics/bootstrap.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { LinkDirection, LinkEvaluationRecord } from '../../src/run/link-records.js';
import type { EvaluationMetrics } from '../../src/run/records.js';
import type { Comparison } from '../compare.js';
import { figureColumns, placesOf, questionKeys } from './link-figures.js';
import type { LinkRows } from './link-rows.js';

/** What an evaluation needs to be compared. */
export interface ComparedLinkEvaluation {
  /** As it is shown. */
  name: string;
  record: LinkEvaluationRecord;
  rows: LinkRows;
}

/** One ranker against the reference, on the queries of one direction. */
export interface LinkComparison extends Comparison {
  direction: LinkDirection;
}

/**
 * A walker twice: by the best walk to each entity, and by the sum of the walks under a name of its own, whose figures are then the
 * plain ones. Whatever sums nothing stays as it is.
 */
export function byPooling<Evaluation extends ComparedLinkEvaluation>(evaluation: Evaluation): Evaluation[] {
  const { name, record, rows } = evaluation;
  if (!rows.sumRanks) return [evaluation];
  const summed = (metrics: EvaluationMetrics) =>
    Object.fromEntries(Object.keys(metrics).map((key) => [key, metrics[`sum-${key}`] ?? metrics[key]!]));
  const directions = Object.fromEntries(
    Object.entries(record.directions).map(([direction, metrics]) => [direction, summed(metrics)]),
  );
  const sum = {
    ...evaluation,
    name: `${name}, summed`,
    record: { ...record, directions },
    rows: { ...rows, ranks: rows.sumRanks },
  };
  return [evaluation, sum];
}

const tested = ['mrr', 'hits@1', 'hits@3', 'hits@10'];

/**
 * Tests every evaluation against one of them in each direction, by a paired bootstrap over questions.
 * @param against index of the reference. Default: the last
 * @throws WorkbenchError `data` when they are not of the same queries
 */
export function compareLinkEvaluations(
  named: readonly ComparedLinkEvaluation[],
  { resamples = 2000 }: { resamples?: number } = {},
  against = named.length - 1,
): LinkComparison[] {
  const reference = named[against]!;
  refuseOtherQueries(named, reference);
  const keys = questionKeys(reference.rows);
  const directions = Object.keys(reference.record.directions) as LinkDirection[];
  const columnsOf = ({ rows }: ComparedLinkEvaluation) => figureColumns(rows, 0);
  const baseline = columnsOf(reference);
  return named.flatMap((one, i) => {
    if (i === against) return [];
    const columns = columnsOf(one);
    return directions.map((direction) => {
      const places = placesOf(reference.rows, direction);
      const at = (some: ReadonlyMap<string, Float64Array>) =>
        tested.map((key) => Float64Array.from(places, (place) => some.get(key)![place]!));
      const clusters = Array.from(places, (place) => keys[place]!);
      const results = pairedDifferences(at(columns), at(baseline), clusters, { resamples });
      const differences = Object.fromEntries(tested.map((key, c) => [key, results[c]!]));
      return { agent: one.name, against: reference.name, direction, differences };
    });
  });
}

function refuseOtherQueries(named: readonly ComparedLinkEvaluation[], reference: ComparedLinkEvaluation): void {
  for (const { name, rows, record } of named) {
    const same =
      record.hashes.dataset === reference.record.hashes.dataset &&
      (['heads', 'relations', 'answers'] as const).every((column) => equal(rows[column], reference.rows[column]));
    if (same) continue;
    throw new WorkbenchError('data', `expected the queries of ${reference.name}, got others, at ${name}`, {
      hint: 'Compare on the same data set, split, limit and direction.',
    });
  }
}

const equal = (a: Int32Array, b: Int32Array) => a.length === b.length && a.every((value, i) => value === b[i]);
