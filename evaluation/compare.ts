/** Several agents on the same samples: which differences are more than chance. */
import { pairedDifferences } from '../src/metrics/bootstrap.js';
import type { PairedDifference } from '../src/metrics/bootstrap.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Outcome } from './outcome.js';
import { metricColumns } from './summary.js';

/** One agent against the reference. */
export interface Comparison {
  agent: string;
  against: string;
  /**
   * Agent minus reference by metric key, over the same samples, of what was counted for both. Tests are not corrected for their number: with many
   * agents some p below 0.05 is chance.
   */
  differences: Record<string, PairedDifference>;
}

/** Which k are compared, and how many bootstrap resamples stand behind each test. */
export interface CompareOptions {
  ks: readonly number[];
  resamples: number;
}

/**
 * Tests every evaluation against one of them by a paired bootstrap over dialogues.
 * @param named evaluations of the same samples with the names to show
 * @param against index of the reference. Default: the last
 * @throws WorkbenchError `data` when they are not of the same samples
 */
export function compareEvaluations(
  named: readonly { name: string; rows: readonly Outcome[] }[],
  { ks, resamples }: CompareOptions,
  against = named.length - 1,
): Comparison[] {
  const reference = named[against]!;
  const dialogues = reference.rows.map(({ dialogue }) => dialogue);
  const baseline = metricColumns(reference.rows, ks);
  return named.flatMap(({ name, rows }, i) => {
    if (i === against) return [];
    if (rows.length !== reference.rows.length || rows.some(({ id }, row) => id !== reference.rows[row]!.id)) {
      throw new WorkbenchError('data', `expected the samples of ${reference.name}, got others, at ${name}`, {
        hint: 'Compare agents on the same data set, graph, split and turns.',
      });
    }
    const columns = metricColumns(rows, ks);
    const keys = [...columns.keys()].filter((key) => baseline.has(key));
    const of = (some: ReadonlyMap<string, Float64Array>) => keys.map((key) => some.get(key)!);
    const results = pairedDifferences(of(columns), of(baseline), dialogues, { resamples });
    const differences = Object.fromEntries(keys.map((key, c) => [key, results[c]!]));
    return [{ agent: name, against: reference.name, differences }];
  });
}
