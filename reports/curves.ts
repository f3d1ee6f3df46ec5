/** Training curves: evaluation figures (large) and diagnostics. */
import type { Figure } from '../src/run/figures.js';
import { phases } from '../src/run/records.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import type { Level, PlotLine } from './plots/plot.js';
import { meanOf } from './plots/smoothing.js';
import type { ResultRow, ResultSet } from './results.js';
import { seedOf, type RunGroup, type Subject } from './run-data.js';
import { isShare, phaseWords, seriesOfPhase, type Taken } from './plots/logged.js';
import { type Curve, curveOf, largest, type Series, takenUpTo } from './series.js';
import { algorithmOf, percent, plain } from './format.js';

/** Title of a phase for these runs; for `ppo` the optimiser's name: `PPO`, `REINFORCE` or both. */
export function phaseTitle(phase: string, groups: readonly RunGroup[]): string {
  if (phase !== 'ppo') return phaseWords[phase]?.name ?? phase;
  return [...new Set(groups.map(({ runs }) => algorithmOf(runs[0]!.info.config)))].sort().join(' and ');
}

/** Shown large next to the evaluation figures; all other keys are diagnostics. */
const rollouts: readonly string[] = ['rollout/reward', 'rollout/hit_rate'];

const titles: Readonly<Record<string, string>> = {
  'rollout/reward': 'mean reward of a walk',
  'train/loss': 'loss on train',
  'rollout/hit_rate': 'walks that end on the answer, %',
};

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

/** Axis title such as `path@1 on valid, %`, and whether values are fractions shown as percent. */
export function measureOf(
  key: string,
  figures: readonly Figure[],
  values: readonly number[],
): { title: string; isShare: boolean; unit: string } {
  const [kind, ...rest] = key.split('/');
  const declared = kind === 'eval' ? figures.find((one) => one.key === rest.join('/')) : undefined;
  const inPercent = declared ? declared.unit === '%' : isShare(key, values);
  const name = declared?.title ?? rest.join('/').replaceAll('_', ' ');
  return {
    title: titles[key] ?? `${name}${kind === 'eval' ? ' on valid' : ''}${inPercent ? ', %' : ''}`,
    isShare: inPercent,
    unit: inPercent ? '%' : (declared?.unit ?? ''),
  };
}

/** Learning curves in training order, with the best baseline and the clone as reference levels for PPO. */
export function learningFigures(trained: Trained): ChartGroup[] {
  const { dataset, groups, valid, isNamed } = trained;
  const measured = phases.flatMap((phase) =>
    largeKeys(trained, phase).flatMap((key) => {
      const isWalk = phase === 'ppo' || phase === 'clone' || phase === 'fit';
      const clone = ({ method }: ResultRow) => method === 'clone';
      const levels = [
        ...(phase === 'ppo' && groups.length === 1 ? levelOf(valid, key, clone) : []),
        ...(isWalk ? levelOf(valid, key, ({ own, model }) => !own && model === undefined) : []),
      ];
      return drawn(trained, phase, key, levels);
    }),
  );
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
    const keys = loggedKeys(groups, phase).filter((key) => !large.includes(key));
    const measured = keys.flatMap((key) => drawn(trained, phase, key, []));
    if (measured.length === 0) return [];
    const heading = `${phaseTitle(phase, groups)}${isNamed ? ` on ${dataset}` : ''}`;
    const charts = measured.map(({ chart }) => chart);
    return [{ heading, charts, caption: captionOf(groups, measured) + stillOf(trained, phase, keys), minor: true }];
  });
}

interface Measured {
  chart: NamedChart;
  curves: Curve[];
  levels: readonly Level[];
}

/** Chart of one key of one phase; undefined if it was not logged or never changed. */
function drawn(trained: Trained, phase: string, key: string, levels: Level[]): Measured[] {
  const { dataset, groups, figures, isNamed } = trained;
  const phaseName = phaseTitle(phase, groups);
  const logged = groups.flatMap((group): GroupCurve[] => {
    const curve = curveOfGroup(group, phase, key);
    const label = groups.length > 1 ? group.label : phaseName;
    return curve.steps.length > 1 ? [{ label, curve, group }] : [];
  });
  const values = logged.flatMap(({ curve }) => curve.mean);
  if (new Set(values).size < 2) return [];
  const { title: measure, isShare: inPercent, unit } = measureOf(key, figures, values);
  const title = `${phaseName}: ${measure}`;
  const axes = axesOf(phase, logged);
  const write = (value: number) => (inPercent ? `${percent(value)} %` : plain(value));
  const said = logged.map((line, i) => courseSaid(line, axes[0]!.places[i]!, !/loss|rate$|norm|kl/.test(key), write));
  const levelText = levels.map(({ label, value }) => `; ${label} is at ${write(value)}`).join('');
  const xLabels = axes.map(({ label }) => label);
  const lines = logged.map(({ label, curve, group: { color, dashed } }, i) =>
    thinned({ label, color, dashed, x: axes.map(({ places }) => places[i]!), seeds: curve.raw }),
  );
  const stride = Math.max(1, ...logged.map(({ curve }, i) => curve.steps.length / lines[i]!.seeds[0]!.length));
  const window = Math.max(...logged.map(({ curve }) => curve.window));
  const chart: NamedChart = {
    name: [...(isNamed ? [dataset] : []), phase, key].join('-'),
    alt: `${title} by ${xLabels[0]}: ${said.join('; ')}${levelText}`,
    plot: {
      ...{ kind: 'lines', title, unit, axes: xLabels, lines, levels },
      window: 1 + 2 * Math.round((window - 1) / 2 / stride),
    },
  };
  return [{ curves: logged.map(({ curve }) => curve), levels, chart }];
}

/** Maximum points per line. */
const mostPoints = 800;

/** Downsamples longer lines to means of equal groups of neighbours; numbers keep six digits. */
function thinned(line: PlotLine): PlotLine {
  const length = line.x[0]!.length;
  const stride = Math.ceil(length / mostPoints);
  const thin = (values: readonly (number | null)[]) =>
    Array.from({ length: Math.ceil(length / stride) }, (_, i) =>
      short(meanOf(values.slice(i * stride, (i + 1) * stride).map((value) => value ?? NaN))),
    );
  return { ...line, x: line.x.map((places) => places && thin(places)), seeds: line.seeds.map(thin) };
}

const short = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(6)) : null);

function curveOfGroup({ runs }: RunGroup, phase: string, key: string): Curve {
  const seeds = runs.flatMap(({ metrics }): Series[] => {
    const series = seriesOfPhase(metrics, phase).get(key);
    return series ? [series] : [];
  });
  return curveOf(seeds, key);
}

interface GroupCurve {
  label: string;
  curve: Curve;
  group: RunGroup;
}

/** Horizontal axis with the x values of each line. */
interface Axis {
  label: string;
  places: number[][];
}

/** Axes: the steps of the phase, then environment steps or time if every line has them. */
function axesOf(phase: string, lines: readonly GroupCurve[]): [Axis, ...Axis[]] {
  const steps = { label: phaseWords[phase]?.steps ?? 'steps', places: lines.map(({ curve }) => curve.steps) };
  const [walked] = takenAxis('time/env_steps', phase, lines);
  const timed = takenAxis('seconds', phase, lines);
  // Environment steps come first: updates of two settings can differ in size.
  return walked ? [walked, steps, ...timed] : [steps, ...timed];
}

/** Each line uses its own runs. */
function takenAxis(what: Taken, phase: string, lines: readonly GroupCurve[]): Axis[] {
  const timings = lines.map(({ group }) => group.runs.map((run) => run.timings));
  const taken = timings.map((runs) => takenUpTo(runs, phase, what));
  const isTold = lines.every(({ curve }, i) => curve.steps.every((step) => taken[i]?.has(step)));
  if (!isTold) return [];
  const most = largest(taken.flatMap((one) => [...one!.values()]));
  const { scale, unit } = unitsOf[what].findLast(({ from }) => most >= from)!;
  const places = lines.map(({ curve }, i) => curve.steps.map((step) => taken[i]!.get(step)! / scale));
  return [{ label: unit, places }];
}

/** Units of time with the largest value from which each is used. */
const unitsOf: Readonly<Record<Taken, readonly { from: number; scale: number; unit: string }[]>> = {
  'time/env_steps': [
    { from: 0, scale: 1, unit: 'environment steps' },
    { from: 20_000, scale: 1000, unit: 'thousands of environment steps' },
    { from: 20_000_000, scale: 1_000_000, unit: 'millions of environment steps' },
  ],
  seconds: [
    { from: 0, scale: 1, unit: 'seconds' },
    { from: 120, scale: 60, unit: 'minutes' },
    { from: 7200, scale: 3600, unit: 'hours' },
  ],
};

/** First and last value of a curve, and its maximum if that is neither. */
function courseSaid(
  { label, curve: { mean } }: GroupCurve,
  steps: readonly number[],
  peaks: boolean,
  write: (value: number) => string,
): string {
  const [first, last] = [mean[0]!, mean.at(-1)!];
  const highest = mean.indexOf(largest(mean));
  const between = peaks && highest > 0 && highest < mean.length - 1;
  const peak = between ? `, highest ${write(mean[highest]!)} at ${plain(steps[highest]!)}` : '';
  const way = last > first ? 'rises' : last < first ? 'falls' : 'stays';
  return `${label} ${way} from ${write(first)} to ${write(last)}${peak}`;
}

function levelOf(valid: ResultSet | undefined, key: string, isMeant: (row: ResultRow) => boolean): Level[] {
  const row = valid?.rows.find(isMeant);
  const mean = row?.metrics[key.replace('eval/', '')];
  return row && mean && key.startsWith('eval/') ? [{ label: row.label, value: mean.value }] : [];
}

/** Level lines of figures with a single value, which have no curve. */
function stillOf({ groups, figures }: Trained, phase: string, keys: readonly string[]): string {
  const still = keys.flatMap((key) => {
    const values = new Set(groups.flatMap((group) => curveOfGroup(group, phase, key).mean));
    return values.size === 1 ? [`${measureOf(key, figures, [...values]).title} = ${plain([...values][0]!)}`] : [];
  });
  return still.length > 0 ? ` Constant throughout: ${still.join('; ')}.` : '';
}

function captionOf(groups: readonly RunGroup[], measured: readonly Measured[]): string {
  const curves = measured.flatMap((one) => one.curves);
  const seeds = groups.map(({ label, runs }) => {
    const list = runs.map(seedOf).join(', ');
    return `${groups.length > 1 ? `${label}: ` : ''}${runs.length > 1 ? 'seeds' : 'seed'} ${list}`;
  });
  const most = Math.max(...groups.map(({ runs }) => runs.length));
  const windows = [...new Set(curves.map(({ window }) => window))].filter((window) => window > 1);
  type Sections = Record<string, Record<string, unknown> | undefined>;
  const { ppo, policy, evaluation } = groups[0]!.runs[0]!.info.config as Sections;
  const evalSamples = policy?.evalEpisodes ?? ppo?.evalSamples;
  const isEvaluated = measured.some(({ chart }) => chart.name.includes('ppo-eval/'));
  // Both directions are logged where there are two.
  const pooled = isEvaluated && loggedKeys(groups, 'ppo').includes('eval/sum_mrr') && evaluation?.pooling;
  const isLevelled = measured.some(({ levels }) => levels.length > 0);
  return [
    `Of ${seeds.join('; ')}.`,
    most > 1 && 'Thick: mean over seeds; thin: each seed.',
    curves.some((curve) => curve.low) && 'Shaded: 95\u00a0% interval of the mean over seeds (Student’s t).',
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
