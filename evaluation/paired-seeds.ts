/** Agents on the same samples, each with all of its seeds, compared sample by sample. */
import { type BootstrapOptions, type PairedDifference, pairedDifferences } from '../src/metrics/bootstrap.js';
import type { Figure } from '../src/run/figures.js';
import { columnsOf, isShare } from './figures.js';
import type { Measure, Row } from './score.js';

/**
 * Mean difference of one figure, an agent minus a reference, over the samples that it counts for both: one of them may have failed
 * where the other answered, or walk other edges. Of several seeds, each sample counts by its mean over them.
 * @param agent, reference rows of each seed, of the same samples
 * @returns undefined where no sample is counted for all of them
 */
export function pairedOverSeeds<R extends Row>(
  measure: Measure<R>,
  figure: Figure,
  agent: readonly (readonly R[])[],
  reference: readonly (readonly R[])[],
  { resamples }: Pick<BootstrapOptions, 'resamples'> = {},
): PairedDifference | undefined {
  const [own, others] = [agent, reference].map((seeds) => seeds.map((rows) => valuesById(measure, figure, rows))) as [
    Map<string, number>[],
    Map<string, number>[],
  ];
  const all = [...own, ...others];
  const shared = (agent[0] ?? []).filter(({ id }) => all.every((values) => values.has(id)));
  if (shared.length === 0) return undefined;
  const meansOf = (seeds: readonly Map<string, number>[]) =>
    shared.map(({ id }) => seeds.reduce((sum, values) => sum + values.get(id)!, 0) / seeds.length);
  const clusters = shared.map((row) => measure.cluster(row));
  const options = { ...(resamples !== undefined && { resamples }), shares: [isShare(figure)] };
  return pairedDifferences([meansOf(own)], [meansOf(others)], clusters, options)[0]!;
}

/** A figure's value of each row that it counts, by the row's id. */
function valuesById<R extends Row>(measure: Measure<R>, { key }: Figure, rows: readonly R[]): Map<string, number> {
  const column = columnsOf(measure, [key], rows).get(key);
  return new Map(column?.rows.map(({ id }, i) => [id, column.values[i]!]));
}
