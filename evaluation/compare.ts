/** Several agents on the same samples: which differences are more than chance. */
import {
  type BootstrapOptions,
  differenceOverSeeds,
  meanOverSeeds,
  type PairedDifference,
} from '../src/metrics/bootstrap.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { EvaluationRecord } from '../src/run/evaluation.js';
import type { Estimate, Figure } from '../src/run/figures.js';
import { columnsOf, isShare, rowsBySlice } from './figures.js';
import type { Compared, Measure, Row } from './score.js';

/** One agent against the reference. */
export interface Comparison {
  agent: string;
  against: string;
  /**
   * Agent minus reference by figure, over the same samples, of what was counted for both. Tests are not corrected for their
   * number: with many agents some p below 0.05 is chance.
   */
  differences: Record<string, PairedDifference>;
  /** The same within the slices that are compared by themselves, by `name=value`. */
  slices?: Record<string, Record<string, PairedDifference>> | undefined;
}

/** Number of resamples per test, and whether different models may be compared. */
export interface CompareOptions {
  /** Default 2000. */
  resamples?: number;
  /** Allow different budgets and models, and simulated models next to real ones. Default false. */
  mixed?: boolean;
}

/**
 * Tests every evaluation against one of them by a paired bootstrap over clusters, on the figures that are declared as tested.
 * @param named evaluations of the same samples with the names to show
 * @param against index of the reference. Default: the last
 * @throws WorkbenchError `data` when they are not of the same samples; `usage` where budgets or models differ, or simulated
 *   models meet real ones, unless `mixed`
 */
export function compareEvaluations<R extends Row>(
  measure: Measure<R>,
  named: readonly Compared<R>[],
  { resamples = 2000, mixed = false }: CompareOptions = {},
  against = named.length - 1,
): Comparison[] {
  const reference = named[against]!;
  refuseOtherSamples(named, reference);
  if (!mixed)
    refuseMixture(
      named.map(({ record }) => record),
      measure.spends,
    );
  const figures = reference.record.figures.filter(({ tested }) => tested);
  const differences = (rows: readonly R[], others: readonly R[]) =>
    Object.fromEntries(
      figures.flatMap((figure) => {
        const tested = pairedOverSeeds(measure, figure, [rows], [others], { resamples });
        return tested ? [[figure.key, tested]] : [];
      }),
    );
  const slicesOf = (rows: readonly R[]) =>
    measure.comparedSlice === undefined ? new Map<string, R[]>() : rowsBySlice(measure, rows, measure.comparedSlice);
  const others = slicesOf(reference.rows);
  return named.flatMap(({ name, rows }, i) => {
    if (i === against) return [];
    const slices = [...slicesOf(rows)].map(([slice, own]) => [slice, differences(own, others.get(slice)!)] as const);
    return {
      ...{ agent: name, against: reference.name, differences: differences(rows, reference.rows) },
      slices: slices.length > 0 ? Object.fromEntries(slices) : undefined,
    };
  });
}

/**
 * Refuses what would compare models or budgets rather than agents. Agents that ask no model go with all.
 * @param spends see `Measure`
 * @throws WorkbenchError `usage`
 */
export function refuseMixture(
  abouts: readonly Pick<EvaluationRecord, 'agent' | 'model' | 'simulated' | 'budget' | 'budgetMode'>[],
  spends: (agent: string) => boolean = () => true,
): void {
  const prompted = abouts.filter(({ model }) => model !== undefined);
  const [first] = prompted;
  const spending = prompted.find(({ agent }) => spends(agent));
  for (const other of prompted) {
    const models = `${first!.model} and ${other.model}`;
    const got =
      other.simulated !== first!.simulated
        ? `a simulated model and a real one (${models})`
        : other.model !== first!.model
          ? `different models (${models})`
          : spends(other.agent) &&
            budgetText(other) !== budgetText(spending!) &&
            `different budgets (${budgetText(spending!)} and ${budgetText(other)})`;
    if (got === false) continue;
    const message = `expected agents that can be compared, got ${got}, at ${first!.agent} and ${other.agent}`;
    const hint = 'Compare at one model and one budget; --mixed compares them all the same.';
    throw new WorkbenchError('usage', message, { hint });
  }
}

/** @throws WorkbenchError `data` for evaluations of other samples than the reference's */
export function refuseOtherSamples<R extends Row>(named: readonly Compared<R>[], reference: Compared<R>): void {
  const { name, record, rows } = reference;
  refuseOthers(named, { name, ...record, ids: rows.map(({ id }) => id) });
}

/** Samples that were asked, or are about to be. */
export interface AskedSamples {
  name: string;
  task: string;
  dataset: string;
  split: string;
  hashes: Readonly<Record<string, string>>;
  /** In the order in which they are asked. */
  ids: readonly string[];
}

/** @throws WorkbenchError `data` for evaluations of other samples */
export function refuseOthers(named: readonly Compared<Row>[], wanted: AskedSamples): void {
  for (const { name, rows, record } of named) {
    const same =
      record.task === wanted.task &&
      record.split === wanted.split &&
      record.hashes.graph === wanted.hashes.graph &&
      record.hashes.dataset === wanted.hashes.dataset &&
      rows.length === wanted.ids.length &&
      rows.every(({ id }, i) => id === wanted.ids[i]);
    if (same) continue;
    const text = (of: Pick<AskedSamples, 'dataset' | 'split'>, n: number) =>
      `${of.dataset}, split ${of.split}, n = ${n}`;
    throw new WorkbenchError(
      'data',
      `expected the ${record.clusters} of ${wanted.name}, got others, at ${name}: ${text(wanted, wanted.ids.length)}, and ${text(record, rows.length)}`,
      { hint: 'Compare agents on the same data set, graph, split, limit and seed.' },
    );
  }
}

const budgetText = ({ budget, budgetMode }: Pick<EvaluationRecord, 'budget' | 'budgetMode'>) =>
  `${budget ?? 'none'} ${budgetMode ?? ''}`.trim();

/** Bootstrap resamples, and whether seed i of an agent belongs to seed i of its reference. */
type SeedOptions = Pick<BootstrapOptions, 'resamples'> & { paired?: boolean };

/**
 * Mean difference of one figure, an agent minus a reference, over the samples that it counts for both: one of them may have failed
 * where the other answered, or walk other edges. Of three seeds and more, seeds are drawn as well as samples.
 * @param agent, reference rows of each seed, of the same samples
 * @returns undefined where no sample is counted for all of them
 */
export function pairedOverSeeds<R extends Row>(
  measure: Measure<R>,
  figure: Figure,
  agent: readonly (readonly R[])[],
  reference: readonly (readonly R[])[],
  { resamples, paired = false }: SeedOptions = {},
): PairedDifference | undefined {
  const shared = sharedValues(measure, figure, [...agent, ...reference]);
  if (shared === undefined) return undefined;
  const [own, others] = [shared.values.slice(0, agent.length), shared.values.slice(agent.length)];
  return differenceOverSeeds(own, others, shared.clusters, { resamples, paired, share: isShare(figure) });
}

/** Mean of one figure over seeds and samples, with its interval of two levels; undefined where seeds count different samples. */
export function estimateOverSeeds<R extends Row>(
  measure: Measure<R>,
  figure: Figure,
  seeds: readonly (readonly R[])[],
): Estimate | undefined {
  const shared = sharedValues(measure, figure, seeds);
  return shared?.whole ? meanOverSeeds(shared.values, shared.clusters, { share: isShare(figure) }) : undefined;
}

/** Values [numSeeds][numSamples] of the samples that all count; `whole`: no other is counted. Undefined where there is none. */
function sharedValues<R extends Row>(measure: Measure<R>, figure: Figure, seeds: readonly (readonly R[])[]) {
  const all = seeds.map((rows) => valuesById(measure, figure, rows));
  const shared = (seeds[0] ?? []).filter(({ id }) => all.every((values) => values.has(id)));
  if (shared.length === 0) return undefined;
  return {
    values: all.map((values) => Float64Array.from(shared, ({ id }) => values.get(id)!)),
    clusters: shared.map((row) => measure.cluster(row)),
    whole: all.every(({ size }) => size === shared.length),
  };
}

/** A figure's value of each row that it counts, by the row's id. */
function valuesById<R extends Row>(measure: Measure<R>, { key }: Figure, rows: readonly R[]): Map<string, number> {
  const column = columnsOf(measure, [key], rows).get(key);
  return new Map(column?.rows.map(({ id }, i) => [id, column.values[i]!]));
}
