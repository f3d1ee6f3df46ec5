/** The report in a few sentences. */
import { percent, plain } from './numbers.js';
import type { Figure, ResultRow, ResultSet } from './results.js';
import { mainMetric, mainRow } from './results.js';
import type { RunGroup } from './run-data.js';

/** What was found, with sample size, seeds and interval; without an evaluation, how to get one. */
export function summaryOf(set: ResultSet | undefined, groups: readonly RunGroup[]): string {
  const main = set && mainRow(set);
  const figure = main?.metrics[mainMetric];
  if (!set || !main || !figure) {
    const id = groups[0]!.runs[0]!.info.id;
    return `Nothing was evaluated yet: run kgwalk evaluate ${id}, then kgwalk report ${id} again.`;
  }
  const baseline = set.rows.find((row) => !row.own && row !== main);
  const bound = main.record.coverage?.reachable;
  const target = main.metrics['target@1'];
  return [
    `On the ${set.split} split of ${set.dataset} (graph ${set.graph}, ${plain(set.n)} samples), ${main.label} puts the right path first for ${percent(figure.value)}\u00a0% of the samples (${evidence(main, figure)})${target ? ` and the right target for ${percent(target.value)} %` : ''}.`,
    baseline && comparison(figure, baseline),
    groups.length > 1 && `It is the highest of ${groups.length} settings, chosen by this very figure.`,
    bound !== undefined && `With this graph and horizon no agent can exceed ${percent(bound)}\u00a0%.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function evidence({ seeds }: ResultRow, { low, high, deviation }: Figure): string {
  const spread = deviation === undefined ? '' : `; mean of ${seeds} seeds, ± ${percent(deviation)} between them`;
  return `95\u00a0% interval ${percent(low)} to ${percent(high)}${spread}`;
}

function comparison({ value }: Figure, baseline: ResultRow): string | undefined {
  const other = baseline.metrics[mainMetric];
  if (!other) return undefined;
  const points = 100 * (value - other.value);
  const side = points >= 0 ? 'above' : 'below';
  return `That is ${Math.abs(points).toFixed(1)} points ${side} the strongest baseline, ${baseline.label} (${percent(other.value)}\u00a0%).`;
}
