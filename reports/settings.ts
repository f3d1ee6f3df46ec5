/** Comparison of run settings on one data set: scores after equal environment steps, with intervals over seeds. */
import { deviation, studentInterval } from '../src/metrics/intervals.js';
import { settingDifferences } from '../src/run/config-values.js';
import { numberText, type Figure } from '../src/run/figures.js';
import { evaluatedKeys, type Trained } from './curves.js';
import type { Cell, Table } from './html.js';
import type { ChartGroup } from './pictures.js';
import { saidOf } from './results.js';
import { type Mean, type RunData, type RunGroup } from './run-data.js';
import type { BarPlot } from './plots/plot.js';
import { largest, meanOf, seriesOfPhase, takenUpTo } from './plots/series.js';
import { figureCell } from './tables.js';
import { duration, kindOf, plain, withoutSeed } from './format.js';

const phase = 'ppo';

/** Results of one setting, averaged over its seeds. */
interface SettingRow {
  group: RunGroup;
  /** Figure on valid at the last evaluation within the environment steps that all settings took. */
  atEqualSteps: Mean;
  /** Highest value on valid of each seed. */
  best: Mean;
  /** Share of walks per update that end on the answer: mean over the last tenth of the updates. */
  hitRate?: Mean | undefined;
  environmentSteps?: number | undefined;
  /** Environment steps at the first evaluation at the threshold or above, one for each seed that came there. */
  stepsTo: number[];
  seconds: number;
}

/** Compared settings; undefined for fewer than two with validation during training. */
interface SettingComparison {
  /** Compared figure: the first main figure of validation. */
  figure: Figure;
  /** Best first. */
  rows: SettingRow[];
  /** Environment steps that all settings took; undefined if not logged, and then the last evaluation counts. */
  equalSteps?: number | undefined;
  /** Nine tenths of the figure of the best setting after equal steps. */
  threshold: number;
}

/** Compares groups of runs by their training logs. */
export function compareSettings(trained: Pick<Trained, 'groups' | 'figures'>): SettingComparison | undefined {
  const { groups, figures } = trained;
  const [measured] = evaluatedKeys({ groups, figures }, phase);
  if (measured === undefined) return undefined;
  const key = measured.replace('eval/', '');
  const figure = figures.find((one) => one.key === key) ?? { key, title: key, unit: '%', better: 'high' };
  const logged = groups
    .map((group) => ({ group, steps: stepsOf(group) }))
    .filter(({ group }) => group.runs.every((run) => seriesOf(run, measured).size > 0));
  if (logged.length < 2) return undefined;
  const totals = logged.map(({ steps }) => steps && largest(steps.values()));
  const equalSteps = totals.every((total) => total !== undefined) ? Math.min(...totals) : undefined;
  const atEqual = logged.map(({ group, steps }) => {
    const within = (step: number) => equalSteps === undefined || (steps!.get(step) ?? Infinity) <= equalSteps;
    return overSeeds(group.runs.map((run) => lastWithin(seriesOf(run, measured), within)));
  });
  const threshold = 0.9 * largest(atEqual.map(({ value }) => value));
  const rows = logged.map(({ group, steps }, i): SettingRow => {
    const hits = group.runs.map((run) => lastTenth([...seriesOf(run, 'rollout/hit_rate').values()]));
    const spent = group.runs.flatMap(({ timings }) => timings.filter((record) => record.phase === phase));
    return {
      group,
      atEqualSteps: atEqual[i]!,
      best: overSeeds(group.runs.map((run) => largest(seriesOf(run, measured).values()))),
      hitRate: hits.every(Number.isFinite) ? overSeeds(hits) : undefined,
      environmentSteps: totals[i],
      stepsTo: group.runs.flatMap((run) => {
        const reached = [...seriesOf(run, measured)].find(([, value]) => value >= threshold);
        return (reached && steps?.get(reached[0])) ?? [];
      }),
      seconds: spent.reduce((sum, { seconds }) => sum + seconds, 0) / group.runs.length,
    };
  });
  return { figure, rows: rows.sort((a, b) => b.atEqualSteps.value - a.atEqualSteps.value), equalSteps, threshold };
}

export function settingTable({ figure, rows, equalSteps, threshold }: SettingComparison): Table {
  const cell = (mean: Mean | undefined, of: Pick<Figure, 'unit'> = figure) => ({
    ...figureCell(mean, of),
    ...(mean && mean.n < 3 && { details: [] }),
  });
  const unit = figure.unit === '%' ? ', %' : '';
  const at = equalSteps === undefined ? 'at the end' : `at ${plain(Math.round(equalSteps))} steps`;
  return {
    head: [
      ...['setting', `${figure.title} ${at}${unit}`, `best ${figure.title}${unit}`, 'walks that hit, %'],
      ...['environment steps', `steps to ${numberText(threshold, figure.unit)}${unit}`, 'wall time', 'seeds'],
    ],
    rows: rows.map(({ group, atEqualSteps, best, hitRate, environmentSteps, stepsTo, seconds }) => ({
      cells: [
        { text: group.label },
        cell(atEqualSteps),
        cell(best),
        cell(hitRate, { unit: '%' }),
        { text: environmentSteps === undefined ? '' : plain(Math.round(environmentSteps)) },
        stepsCell(stepsTo, group.runs.length),
        { text: seconds > 0 ? duration(seconds) : '' },
        { text: plain(group.runs.length) },
      ],
    })),
  };
}

/** Mean over the seeds that came there, their deviation, and how many they are where some did not. */
function stepsCell(steps: readonly number[], seeds: number): Cell {
  if (steps.length === 0) return { text: '–' };
  const spread = steps.length < 3 ? [] : [`± ${plain(Math.round(deviation(steps)))}`];
  const some = steps.length < seeds ? [`${steps.length} of ${seeds} seeds`] : [];
  return { text: plain(Math.round(meanOf(steps))), details: [...spread, ...some] };
}

/** Maximum settings with a column each, and maximum rows. */
const mostDiffering = { groups: 6, keys: 40 };

/** For each kind of run one row per setting that differs between its groups, one column per group. No table of many groups. */
export function differingTables(groups: readonly RunGroup[]): Table[] {
  const kinds = Map.groupBy(groups, ({ runs }) => kindOf(runs[0]!.info.config));
  return [...kinds.values()].flatMap((alike) => {
    const differing = settingDifferences(alike.map(({ runs }) => withoutSeed(runs[0]!.info.config)));
    if (differing.length === 0 || alike.length > mostDiffering.groups) return [];
    const rows = differing.slice(0, mostDiffering.keys).map(({ key, values }) => ({
      cells: [{ text: key }, ...values.map((value) => ({ text: value ?? '–', wraps: true }))],
    }));
    return [{ head: ['setting', ...alike.map(({ label }) => label)], rows }];
  });
}

/** The figure after equal steps as bars, in the colours of the curves. */
export function settingFigures({ figure, rows, equalSteps }: SettingComparison, dataset: string): ChartGroup[] {
  const bars = rows.map(({ group: { label, color }, atEqualSteps: { value, low, high } }) => {
    return { label, color, value, low, high, text: numberText(value, figure.unit) };
  });
  const at = equalSteps === undefined ? 'the last evaluation' : `${plain(Math.round(equalSteps))} environment steps`;
  const title = `${dataset}: ${figure.title} on valid at ${at}${figure.unit === '%' ? ', %' : ''}`;
  const said = bars.map((bar) => `${bar.label} ${saidOf(bar, figure)}`);
  const alt = `${title}, with 95 % intervals over seeds: ${said.join(', ')}`;
  const plot: BarPlot = { kind: 'bars', title, unit: figure.unit, bars };
  return [{ charts: [{ name: `settings-${dataset}`, alt, plot }], caption: settingCaption }];
}

const settingCaption =
  'Figures are on valid. Means over seeds; intervals: 95\u00a0% of the mean over seeds (Student’s t) from three seeds on, cut at 0 and 100\u00a0%, then ± the standard deviation. Names list the distinguishing settings; all other differences are shown with the runs below. Settings are compared at the number of environment steps that all of them took. Best: of each seed, which favours noise. Steps to a figure: environment steps at the first evaluation that reaches nine tenths of the best setting’s, mean of the seeds that do. Walks that hit: of the last tenth of the updates, drawn from the policy, not the best of a beam.';

function stepsOf({ runs }: RunGroup): Map<number, number> | undefined {
  const timings = runs.map((run) => run.timings);
  return takenUpTo(timings, phase, 'time/env_steps');
}

function seriesOf({ metrics }: RunData, key: string): ReadonlyMap<number, number> {
  return seriesOfPhase(metrics, phase).get(key) ?? new Map<number, number>();
}

/** The last value at a counted step, or the first value if there is none. */
function lastWithin(series: ReadonlyMap<number, number>, counts: (step: number) => boolean): number {
  const inOrder = [...series].sort(([a], [b]) => a - b);
  return (inOrder.findLast(([step]) => counts(step)) ?? inOrder[0]!)[1];
}

function lastTenth(values: readonly number[]): number {
  return meanOf(values.slice(-Math.max(1, Math.round(values.length / 10))));
}

function overSeeds(values: readonly number[]): Mean {
  const n = values.length;
  if (n < 3) return { value: meanOf(values), low: meanOf(values), high: meanOf(values), n };
  const { value, low, high } = studentInterval(values);
  return { value, low: Math.max(0, low), high: Math.min(1, high), n, deviation: deviation(values) };
}
