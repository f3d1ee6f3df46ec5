/** Training curves: evaluation figures (large) and diagnostics. */
import { deviation } from '../src/metrics/intervals.js';
import type { Figure } from '../src/run/figures.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import type { Level, LinePlot, PlotLine, Value } from './plots/plot.js';
import { courseOf, largest, meanOf, plotsOf } from './plots/series.js';
import type { ResultRow, ResultSet } from './results.js';
import { seedOf, type RunGroup, type Subject } from './run-data.js';
import { algorithmOf, percent, plain } from './format.js';
import { curveTitle, phaseHeading, phaseName, phaseWords } from './titles.js';

/** Name of a phase for these runs; for `ppo` the optimiser's name: `PPO`, `REINFORCE` or both. */
export function phaseTitle(phase: string, groups: readonly RunGroup[]): string {
  const algorithms = groups.map(({ runs }) => algorithmOf(runs[0]!.info.config));
  return phaseName(phase, algorithms);
}

/** Shown large next to the evaluation figures; all other keys are diagnostics. */
const rollouts: readonly string[] = ['rollout/reward', 'rollout/hit_rate'];

/** Runs on one data set with the keys that they logged. */
export interface Trained extends Subject {
  /** Figures declared by the evaluations of the runs. */
  figures: readonly Figure[];
  /** Results on the split used for validation during training; absent if none compare. */
  valid?: ResultSet | undefined;
  /** Name in chart titles; set if a report has several data sets. */
  isNamed: boolean;
}

/** Data sets with the results that their curves are compared with. */
export function trainedOf(subjects: readonly Subject[], sets: readonly ResultSet[]): Trained[] {
  return subjects.map((subject) => {
    const evaluations = subject.groups.flatMap(({ runs }) => runs.flatMap((run) => run.evaluations));
    const figures = new Map(evaluations.flatMap(({ record }) => record.figures.map((one) => [one.key, one])));
    const valid = sets.find(
      ({ about: { dataset, split, limit }, rows }) =>
        dataset === subject.dataset && split.includes('valid') && limit === undefined && rows.some(({ own }) => own),
    );
    return { ...subject, figures: [...figures.values()], valid, isNamed: subjects.length > 1 };
  });
}

/** Evaluation figures logged by a phase, such as `eval/path@1`: the main ones, or all if none are declared. */
export function evaluatedKeys({ groups, figures }: Pick<Trained, 'groups' | 'figures'>, phase: string): string[] {
  const logged = loggedKeys(groups, phase).filter((key) => key.startsWith('eval/') && !key.endsWith('loss'));
  const declared = figures.flatMap(({ key, place }) => (place === 'main' ? [`eval/${key}`] : []));
  const main = declared.filter((key) => logged.includes(key));
  return main.length > 0 ? main : logged;
}

function loggedKeys(groups: readonly RunGroup[], phase: string): string[] {
  const records = groups.flatMap(({ runs }) => runs.flatMap(({ metrics }) => metrics));
  return [...new Set(records.flatMap((record) => (record.phase === phase ? Object.keys(record.metrics) : [])))];
}

function largeKeys(trained: Trained, phase: string): string[] {
  if (phase === 'transe' || phase === 'bilinear') return evaluatedKeys(trained, phase).slice(0, 1);
  return [...(phase === 'clone' || phase === 'fit' ? ['train/loss'] : rollouts), ...evaluatedKeys(trained, phase)];
}

/** Learning curves in training order, with the best baseline, the best prompted agent and the clone as reference levels. */
export function learningFigures(trained: Trained): ChartGroup[] {
  const { dataset, groups, valid, isNamed } = trained;
  const measured = Object.keys(phaseWords).flatMap((phase) => {
    const plots = plotsOfPhase(trained, phase);
    return largeKeys(trained, phase).flatMap((key) => {
      const isWalk = phase === 'ppo' || phase === 'clone' || phase === 'fit';
      const clone = ({ method }: ResultRow) => method === 'clone';
      const levels = [
        ...(phase === 'ppo' && groups.length === 1 ? levelOf(valid, key, clone) : []),
        ...(isWalk ? levelOf(valid, key, ({ own, model }) => !own && model === undefined) : []),
        ...(isWalk ? levelOf(valid, key, ({ model, simulated }) => model !== undefined && !simulated) : []),
      ];
      return drawn(trained, phase, key, plots.get(key), levels);
    });
  });
  if (measured.length === 0) return [];
  const heading = isNamed ? `On ${dataset}` : undefined;
  return [{ heading, charts: measured.map(({ chart }) => chart), caption: captionOf(groups, measured) }];
}

/** All other metrics logged at every step, by phase. */
export function diagnosticFigures(trained: Trained): ChartGroup[] {
  const { dataset, groups, isNamed } = trained;
  const logged = groups.flatMap(({ runs }) => runs.flatMap(({ metrics }) => metrics.map(({ phase }) => phase)));
  return [...new Set(logged)].flatMap((phase): ChartGroup[] => {
    const large = largeKeys(trained, phase);
    const plots = [...plotsOfPhase(trained, phase)].filter(([key]) => !large.includes(key));
    const measured = plots.flatMap(([key, plot]) => drawn(trained, phase, key, plot, []));
    if (measured.length === 0) return [];
    const heading = phaseHeading(phaseTitle(phase, groups), isNamed ? dataset : undefined);
    const charts = measured.map(({ chart }) => chart);
    const caption = captionOf(groups, measured) + stillOf(plots.map(([, plot]) => plot));
    return [{ heading, charts, caption, minor: true }];
  });
}

/** Environment steps come first: updates of two settings can differ in size. */
function plotsOfPhase({ groups, figures }: Trained, phase: string): Map<string, LinePlot> {
  const only = groups.length > 1 ? undefined : phaseTitle(phase, groups);
  const lines = groups.map(({ label, ...group }) => ({ ...group, label: only ?? label }));
  return plotsOf(lines, phase, { figures, axis: 'time/env_steps' });
}

/** The values that the lines of a plot take, unsmoothed. */
const valuesOf = ({ lines }: LinePlot) => [...new Set(lines.flatMap((line) => courseOf(line, 1).mean))];

interface Measured {
  chart: NamedChart;
  /** All that was logged, before it is made thinner. */
  plot: LinePlot;
}

/** Chart of one key of one phase; empty if it was not logged at two steps or never changed. */
function drawn(
  { dataset, groups, isNamed }: Trained,
  phase: string,
  key: string,
  logged: LinePlot | undefined,
  levels: Level[],
): Measured[] {
  if (!logged || valuesOf(logged).length < 2 || logged.lines.every(({ x }) => x[0]!.length < 2)) return [];
  const plot = { ...logged, title: curveTitle(phaseTitle(phase, groups), logged.title), levels };
  const write = (value: number) => (plot.unit === '%' ? `${percent(value)} %` : plain(value));
  const said = plot.lines.map((line) => courseSaid(line, plot.window, !/loss|rate$|norm|kl/.test(key), write));
  const levelText = levels.map(({ label, value }) => `; ${label} is at ${write(value)}`).join('');
  const chart: NamedChart = {
    name: [...(isNamed ? [dataset] : []), phase, key].join('-'),
    alt: `${plot.title} by ${plot.axes[0]}: ${said.join('; ')}${levelText}`,
    plot: thinned(plot),
  };
  return [{ chart, plot }];
}

/** Maximum points per line. */
const mostPoints = 800;

/** Downsamples longer lines to means of equal groups of neighbours; numbers keep six digits. */
function thinned({ lines, window = 1, ...plot }: LinePlot): LinePlot {
  const thin = (values: readonly Value[]) => {
    const stride = Math.ceil(values.length / mostPoints);
    return Array.from({ length: Math.ceil(values.length / stride) }, (_, i) =>
      short(meanOf(values.slice(i * stride, (i + 1) * stride).map((value) => value ?? NaN))),
    );
  };
  const thinner = lines.map((line) => ({
    ...line,
    x: line.x.map((places) => places && thin(places)),
    seeds: line.seeds.map(thin),
    ...(line.low && line.high && { low: thin(line.low), high: thin(line.high) }),
  }));
  const stride = Math.max(1, ...lines.map(({ seeds }, i) => seeds[0]!.length / thinner[i]!.seeds[0]!.length));
  return { ...plot, lines: thinner, window: 1 + 2 * Math.round((window - 1) / 2 / stride) };
}

const short = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(6)) : null);

/** First and last value of a curve, and its maximum if that is neither. */
function courseSaid(
  line: PlotLine,
  window: number | undefined,
  peaks: boolean,
  write: (value: number) => string,
): string {
  const { mean } = courseOf(line, window ?? 1);
  const [first, last] = [mean[0]!, mean.at(-1)!];
  const highest = mean.indexOf(largest(mean));
  const between = peaks && highest > 0 && highest < mean.length - 1;
  const peak = between ? `, highest ${write(mean[highest]!)} at ${plain(line.x[0]![highest]!)}` : '';
  const way = last > first ? 'rises' : last < first ? 'falls' : 'stays';
  return `${line.label} ${way} from ${write(first)} to ${write(last)}${peak}`;
}

function levelOf(valid: ResultSet | undefined, key: string, isMeant: (row: ResultRow) => boolean): Level[] {
  const row = valid?.rows.find(isMeant);
  const mean = row?.metrics[key.replace('eval/', '')];
  return row && mean && key.startsWith('eval/') ? [{ label: row.label, value: mean.value }] : [];
}

/** When each line of the first chart with levels comes to each of them: mean over its seeds on the first axis. */
function passingOf(measured: readonly Measured[]): string {
  const plot = measured.find(({ plot: { levels = [] } }) => levels.length > 0)?.plot;
  if (!plot) return '';
  const said = plot.levels!.flatMap((level) =>
    plot.lines.flatMap(({ label, x, seeds }) => {
      const firsts = seeds.map((seed) => seed.findIndex((value) => value !== null && value >= level.value));
      const places = firsts.flatMap((first) => (first < 0 ? [] : [Number(x[0]![first])]));
      if (places.length === 0) return [];
      const spread = places.length < 3 ? '' : ` ± ${plain(Number(deviation(places).toPrecision(2)))}`;
      const some = places.length < seeds.length ? ` (${places.length} of ${seeds.length} seeds)` : '';
      return [`${label} reaches ${level.label} at ${plain(Number(meanOf(places).toPrecision(3)))}${spread}${some}`];
    }),
  );
  return said.length > 0 ? `By ${plot.title}, in ${plot.axes[0]}: ${said.join('; ')}.` : '';
}

/** Figures with a single value, which have no curve. */
function stillOf(plots: readonly LinePlot[]): string {
  const still = plots.flatMap((plot) => {
    const values = valuesOf(plot);
    return values.length === 1 ? [`${plot.title} = ${plain(values[0]!)}`] : [];
  });
  return still.length > 0 ? ` Constant throughout: ${still.join('; ')}.` : '';
}

function captionOf(groups: readonly RunGroup[], measured: readonly Measured[]): string {
  const seeds = groups.map(({ label, runs }) => {
    const list = runs.map(seedOf).join(', ');
    return `${groups.length > 1 ? `${label}: ` : ''}${runs.length > 1 ? 'seeds' : 'seed'} ${list}`;
  });
  const most = Math.max(...groups.map(({ runs }) => runs.length));
  const windows = [...new Set(measured.map(({ plot: { window = 1 } }) => window))].filter((window) => window > 1);
  type Sections = Record<string, Record<string, unknown> | undefined>;
  const { ppo, policy, evaluation } = groups[0]!.runs[0]!.info.config as Sections;
  const evalSamples = policy?.evalEpisodes ?? ppo?.evalSamples;
  const isEvaluated = measured.some(({ chart }) => chart.name.includes('ppo-eval/'));
  // Both directions are logged where there are two.
  const pooled = isEvaluated && loggedKeys(groups, 'ppo').includes('eval/sum_mrr') && evaluation?.pooling;
  const isLevelled = measured.some(({ plot: { levels = [] } }) => levels.length > 0);
  return [
    `Of ${seeds.join('; ')}.`,
    most > 1 && 'Thick: mean over seeds; thin: each seed.',
    measured.some(({ plot }) => plot.lines.some(({ seeds }) => seeds.length > 2)) &&
      'Shaded: 95\u00a0% interval of the mean over seeds (Student’s t).',
    measured.some(({ plot }) => plot.lines.some(({ low }) => low)) &&
      'Shaded, of a single seed: 95\u00a0% interval over the samples evaluated (Wilson).',
    passingOf(measured),
    windows.length > 0
      ? `Smoothing: moving mean over ${windows.sort((a, b) => a - b).join(' or ')} points; evaluations are as measured.`
      : 'No smoothing.',
    pooled &&
      `Curves count an entity by ${pooled === 'sum' ? 'all of its walks together' : 'its best walk'} (evaluation.pooling), tables and examples by its best walk.`,
    typeof evalSamples === 'number' &&
      isEvaluated &&
      `Evaluated on a fixed sample of ${plain(evalSamples)} of valid, or all of it where it has no more${isLevelled ? '; dashed levels are of all of it' : ''}.`,
  ]
    .filter(Boolean)
    .join(' ');
}
