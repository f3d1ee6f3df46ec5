/** Curves of training: what was learned, large, and diagnostics. */
import { lineChart } from './line-chart.js';
import type { Level, Line } from './line-chart.js';
import { isRate, learningMeasures, phaseTitles, stepNames, titleOfMeasure } from './measures.js';
import { percent, plain } from './numbers.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import type { ResultRow, ResultSet } from './results.js';
import type { RunGroup } from './run-data.js';
import { seedOf } from './run-data.js';
import type { Curve, Series } from './series.js';
import { curveOf, environmentSteps, largest, seriesOfPhase } from './series.js';
import { strokeOf } from './theme.js';

/**
 * Learning curves in the order of training, with the best baseline and the clone as levels to compare PPO with.
 * @param valid results on the split that training is evaluated on; absent where none compare
 * @param about what the runs are trained on, where a report has runs of two kinds
 */
export function learningFigures(groups: readonly RunGroup[], valid?: ResultSet, about?: string): ChartGroup[] {
  const measured = learningMeasures.flatMap(([phase, key]) => {
    const clone =
      phase === 'ppo' && groups.length === 1 ? levelOf(valid, key, ({ record }) => record.checkpoint === 'clone') : [];
    const levels = phase === 'transe' ? [] : [...clone, ...levelOf(valid, key, ({ own }) => !own)];
    return drawn(groups, phase, key, { about, levels });
  });
  if (measured.length === 0) return [];
  const caption = captionOf(groups, measured);
  return [
    { ...(about !== undefined && { heading: `On ${about}` }), charts: measured.map(({ chart }) => chart), caption },
  ];
}

/** Everything else that was logged at every step, by phase. */
export function diagnosticFigures(groups: readonly RunGroup[], about?: string): ChartGroup[] {
  const records = groups.flatMap(({ runs }) => runs.flatMap(({ metrics }) => metrics));
  const isLearning = (phase: string, key: string) => learningMeasures.some(([p, k]) => p === phase && k === key);
  return [...new Set(records.map(({ phase }) => phase))].flatMap((phase): ChartGroup[] => {
    const logged = records.flatMap((record) => (record.phase === phase ? Object.keys(record.metrics) : []));
    const keys = [...new Set(logged)].filter((key) => !isLearning(phase, key));
    const measured = keys.flatMap((key) => drawn(groups, phase, key, { about, levels: [] }));
    if (measured.length === 0) return [];
    const heading = `${phaseTitles[phase] ?? phase}${about === undefined ? '' : ` on ${about}`}`;
    const charts = measured.map(({ chart }) => chart);
    return [{ heading, charts, caption: captionOf(groups, measured) + stillOf(groups, phase, keys), minor: true }];
  });
}

interface Measured {
  chart: NamedChart;
  curves: Curve[];
}

/** The chart of one key of one phase, or nothing where it was not logged or never changed. */
function drawn(
  groups: readonly RunGroup[],
  phase: string,
  key: string,
  { about, levels }: { about: string | undefined; levels: Level[] },
): Measured[] {
  const lines = groups.flatMap((group, g): Line[] => {
    const curve = curveOfGroup(group, phase, key);
    const label = groups.length > 1 ? group.label : (phaseTitles[phase] ?? phase);
    return curve.steps.length > 1 ? [{ label, ...strokeOf(g), curve }] : [];
  });
  if (new Set(lines.flatMap(({ curve }) => curve.mean)).size < 2) return [];
  const { lines: scaled, unit } = inEnvironmentSteps(groups, phase, lines);
  const title = `${phaseTitles[phase] ?? phase}: ${titleOfMeasure(key)}`;
  const xLabel = `${phaseTitles[phase] ?? phase}, ${unit}`;
  return [
    {
      curves: lines.map(({ curve }) => curve),
      chart: {
        name: [...(about === undefined ? [] : [about]), phase, key].join('-'),
        alt: `${title} by ${xLabel}: ${scaled.map((line) => said(line, key)).join('; ')}${levels.map(({ label, value }) => `; ${label} is at ${write(value, key)}`).join('')}`,
        chart: lineChart(scaled, { title, xLabel, percent: isRate(key), levels }),
      },
    },
  ];
}

function curveOfGroup({ runs }: RunGroup, phase: string, key: string): Curve {
  const seeds = runs.flatMap(({ metrics }): Series[] => {
    const series = seriesOfPhase(metrics, phase).get(key);
    return series ? [series] : [];
  });
  return curveOf(seeds, key);
}

/** PPO counts the steps that walks took in the environment, where all runs tell them. */
function inEnvironmentSteps(
  groups: readonly RunGroup[],
  phase: string,
  lines: readonly Line[],
): { lines: readonly Line[]; unit: string } {
  const taken = environmentSteps(
    groups.flatMap(({ runs }) => runs.map(({ timings }) => timings)),
    phase,
  );
  const isTold = lines.every(({ curve }) => curve.steps.every((step) => taken?.has(step)));
  if (!taken || !isTold) return { lines, unit: stepNames[phase] ?? 'steps' };
  const scale = largest(taken.values()) >= 20_000 ? 1000 : 1;
  return {
    lines: lines.map((line) => {
      const steps = line.curve.steps.map((step) => taken.get(step)! / scale);
      return { ...line, curve: { ...line.curve, steps } };
    }),
    unit: scale === 1 ? 'environment steps' : 'thousands of environment steps',
  };
}

/** Where a curve begins and ends, and its highest point where that is neither. */
function said({ label, curve: { steps, mean } }: Line, key: string): string {
  const [first, last] = [mean[0]!, mean.at(-1)!];
  const highest = mean.indexOf(largest(mean));
  const between = highest > 0 && highest < mean.length - 1 && !/loss|rate$|norm|kl/.test(key);
  const peak = between ? `, highest ${write(mean[highest]!, key)} at ${plain(steps[highest]!)}` : '';
  const way = last > first ? 'rises' : last < first ? 'falls' : 'stays';
  return `${label} ${way} from ${write(first, key)} to ${write(last, key)}${peak}`;
}

function write(value: number, key: string): string {
  return isRate(key) ? `${percent(value)} %` : plain(value);
}

function levelOf(valid: ResultSet | undefined, key: string, isMeant: (row: ResultRow) => boolean): Level[] {
  const row = valid?.rows.find(isMeant);
  const figure = row?.metrics[key.replace('eval/', '')];
  return row && figure && key.startsWith('eval/') ? [{ label: row.label, value: figure.value }] : [];
}

/** Of single-valued figures, which are not drawn. */
function stillOf(groups: readonly RunGroup[], phase: string, keys: readonly string[]): string {
  const still = keys.flatMap((key) => {
    const values = new Set(groups.flatMap((group) => curveOfGroup(group, phase, key).mean));
    return values.size === 1 ? [`${titleOfMeasure(key)} = ${plain([...values][0]!)}`] : [];
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
  const { evalSamples } = (groups[0]!.runs[0]!.info.config.ppo ?? {}) as { evalSamples?: unknown };
  const isEvaluated = measured.some(({ chart }) => chart.name.includes('ppo-eval/'));
  return [
    `Of ${seeds.join('; ')}.`,
    most > 1 && 'Thick: mean over seeds; thin: each seed.',
    curves.some((curve) => curve.interval) && 'Shaded: 95\u00a0% interval of the mean over seeds (Student’s t).',
    windows.length > 0
      ? `Smoothing: moving mean over ${windows.sort((a, b) => a - b).join(' or ')} points; evaluations are as measured.`
      : 'No smoothing.',
    typeof evalSamples === 'number' &&
      isEvaluated &&
      `PPO is evaluated on a fixed sample of ${plain(evalSamples)} of valid; dashed levels are of all of it.`,
  ]
    .filter(Boolean)
    .join(' ');
}
