/** Agents on the same samples, each with all of its seeds, compared sample by sample. */
import { type PairedDifference, pairedDifferences } from '../src/metrics/bootstrap.js';
import type { Figure } from '../src/run/figures.js';
import { columnsOf, isShare } from './figures.js';
import type { Measure, Row } from './score.js';

/**
 * Mean difference of one figure, an agent minus a reference; of several seeds, each sample counts by its mean over them.
 * @param agent, reference rows of each seed, of the same samples in the same order
 * @returns undefined where the figure counts other samples for one of them, or none
 */
export function pairedOverSeeds<R extends Row>(
  measure: Measure<R>,
  figure: Figure,
  agent: readonly (readonly R[])[],
  reference: readonly (readonly R[])[],
): PairedDifference | undefined {
  const means = [agent, reference].map((seeds) => {
    const columns = seeds.map((rows) => columnsOf(measure, [figure.key], rows).get(figure.key));
    const [first] = columns;
    if (!first) return undefined;
    const ids = first.rows.map(({ id }) => id).join('\n');
    if (columns.some((column) => column?.rows.map(({ id }) => id).join('\n') !== ids)) return undefined;
    const values = first.values.map(
      (_, i) => columns.reduce((sum, column) => sum + column!.values[i]!, 0) / columns.length,
    );
    return { ids, values, clusters: first.rows.map((row) => measure.cluster(row)) };
  });
  const [a, b] = means;
  if (!a || !b || a.ids !== b.ids) return undefined;
  return pairedDifferences([a.values], [b.values], a.clusters, { shares: [isShare(figure)] })[0]!;
}
