/** Which charts a report shows, from its runs and results. */
import { barChart, lineChart, palette } from './charts.js';
import type { Chart, Level, Line } from './charts.js';
import { figureNames } from './figure-names.js';
import { percent, plain } from './numbers.js';
import type { ResultRow, ResultSet } from './results.js';
import { shownKs } from './results.js';
import type { RunGroup } from './run-data.js';
import { seedOf } from './run-data.js';
import type { Curve, Series } from './series.js';
import { curveOf, seriesOfPhase } from './series.js';

export interface NamedChart {
  /** File name without its ending. */
  name: string;
  /** What the picture shows, for who cannot see it. */
  alt: string;
  chart: Chart;
}

export interface ChartGroup {
  heading?: string;
  caption: string;
  charts: NamedChart[];
}

/** What a step of a phase counts. */
const stepNames: Record<string, string> = { transe: 'epoch', clone: 'update', ppo: 'update' };
const phaseTitles: Record<string, string> = { transe: 'TransE', clone: 'Cloning', ppo: 'PPO' };
const learningKeys = ['eval/path@1', 'eval/target@1', 'eval/hit@1', 'eval/f1', 'eval/exact', 'rollout/reward'];
const barSize = 400;
const smallSize = { width: 350, height: 210 };

/** Bars of path@k and target@k, for the smallest, a middle and the largest k. */
export function resultFigures({ rows, n }: ResultSet, setName: string): ChartGroup[] {
  const bound = Math.max(0, ...rows.map(({ record }) => record.coverage?.reachable ?? 0));
  const charts = ['path', 'target'].flatMap((name) => {
    return shownKs(rows, name).map((k): NamedChart => {
      const key = `${name}@${k}`;
      const bars = rows.flatMap((row) => {
        const figure = row.metrics[key];
        return figure ? [{ label: row.label, figure, ...colorOf(row) }] : [];
      });
      const level = name === 'path' && bound > 0 ? { label: `at most ${percent(bound)}`, value: bound } : undefined;
      const alt = `${key} in percent: ${bars.map(({ label, figure }) => `${label} ${percent(figure.value)}`).join(', ')}`;
      const title = `${key}, %`;
      return {
        name: `${setName}-${key}`,
        alt,
        chart: barChart(bars, { title, percent: true, bound: level, width: barSize }),
      };
    });
  });
  const caption = `Share of ${plain(n)} samples whose gold is among the first k, %. Whiskers: 95\u00a0% bootstrap interval over dialogues. Colour: trained agents; grey: baselines.`;
  return [{ charts, caption }];
}

/**
 * Learning curves of cloning and PPO, with the best baseline and the clone as levels to compare with.
 * @param valid results on the split that training is evaluated on; absent where none compare
 * @param about what the runs are trained on, where a report has runs of two kinds
 */
export function learningFigures(groups: readonly RunGroup[], valid?: ResultSet, about?: string): ChartGroup[] {
  return ['ppo', 'clone'].flatMap((phase) => {
    const levelsOf = (key: string) => [
      ...levelOf(valid, key, ({ own }) => !own),
      ...(phase === 'ppo' && groups.length === 1
        ? levelOf(valid, key, ({ record }) => record.checkpoint === 'clone')
        : []),
    ];
    return phaseFigures(groups, { phase, about, isShown: (key) => learningKeys.includes(key), levelsOf });
  });
}

/** Small multiples of everything else that was logged at every step. */
export function diagnosticFigures(groups: readonly RunGroup[], about?: string): ChartGroup[] {
  const phases = new Set(
    groups.flatMap(({ runs }) => runs.flatMap(({ metrics }) => metrics.map(({ phase }) => phase))),
  );
  const isLearning = (phase: string, key: string) => ['ppo', 'clone'].includes(phase) && learningKeys.includes(key);
  return [...phases].flatMap((phase) =>
    phaseFigures(groups, { phase, about, isShown: (key) => !isLearning(phase, key) }),
  );
}

interface PhaseFigures {
  phase: string;
  about?: string | undefined;
  isShown: (key: string) => boolean;
  /** Levels to compare with, of figures that are shown large. */
  levelsOf?: (key: string) => Level[];
}

function phaseFigures(groups: readonly RunGroup[], { phase, about, isShown, levelsOf }: PhaseFigures): ChartGroup[] {
  const series = groups.map(({ runs }) => runs.map(({ metrics }) => seriesOfPhase(metrics, phase)));
  const logged = new Set(series.flat().flatMap((one) => [...one.keys()]));
  const keys = [...learningKeys.filter((key) => logged.delete(key)), ...logged].filter(isShown);
  const charts: NamedChart[] = [];
  const curves: Curve[] = [];
  const constant: string[] = [];
  for (const key of keys) {
    const lines = groups.flatMap(({ label }, g): Line[] => {
      const seeds = series[g]!.flatMap((one): Series[] => (one.has(key) ? [one.get(key)!] : []));
      const curve = curveOf(seeds, key);
      const name = groups.length > 1 ? label : (phaseTitles[phase] ?? phase);
      return curve.steps.length > 1 ? [{ label: name, color: palette[g % palette.length]!, curve }] : [];
    });
    const values = new Set(lines.flatMap(({ curve }) => curve.mean));
    if (values.size === 1) constant.push(`${key} = ${plain([...values][0]!)}`);
    if (values.size < 2) continue;
    curves.push(...lines.map(({ curve }) => curve));
    const chart = namedLineChart(phase, key, lines, levelsOf?.(key));
    charts.push(about === undefined ? chart : { ...chart, name: `${about}-${chart.name}` });
  }
  if (charts.length === 0) return [];
  const sample = levelsOf && evalSamplesOf(groups);
  const still = constant.length > 0 ? ` Constant throughout: ${constant.join(', ')}.` : '';
  const heading = `${phaseTitles[phase] ?? phase}${about === undefined ? '' : `, on ${about}`}`;
  return [{ heading, charts, caption: captionOf(groups, curves, sample) + still }];
}

function namedLineChart(phase: string, key: string, lines: Line[], levels?: Level[]): NamedChart {
  const isRate = key.includes('@') || /(hit_rate|mrr|accuracy|\/f1|exact|chain)$/.test(key);
  const plainKey = key.slice(key.indexOf('/') + 1);
  const title = key.startsWith('eval/') ? `valid ${figureNames[plainKey] ?? plainKey}` : plainKey;
  const xLabel = `${phaseTitles[phase] ?? phase} ${stepNames[phase] ?? 'step'}`;
  const ends = lines.map(({ label, curve }) => `${label} ends at ${plain(curve.mean.at(-1)!)}`).join(', ');
  const size = levels ? {} : { size: smallSize };
  return {
    name: `${phase}-${key}`,
    alt: `${title} by ${xLabel}: ${ends}`,
    chart: lineChart(lines, { title, xLabel, percent: isRate, levels: levels ?? [], ...size }),
  };
}

/** The colour of a group's curves, paler for all but its best checkpoint; baselines have none. */
function colorOf({ own, group, record }: ResultRow): { color?: string } {
  const color = palette[group % palette.length]!;
  return own ? { color: record.checkpoint === 'best' ? color : `${color}99` } : {};
}

function levelOf(valid: ResultSet | undefined, key: string, isMeant: (row: ResultRow) => boolean): Level[] {
  const row = valid?.rows.find(isMeant);
  const figure = row?.metrics[key.replace('eval/', '')];
  return row && figure && key.startsWith('eval/') ? [{ label: row.label, value: figure.value }] : [];
}

function evalSamplesOf([first]: readonly RunGroup[]): number | undefined {
  const { evalSamples } = (first!.runs[0]!.info.config.ppo ?? {}) as { evalSamples?: unknown };
  return typeof evalSamples === 'number' ? evalSamples : undefined;
}

/** @param sample how many samples of valid training evaluates on; absent for all, or where nothing was evaluated */
function captionOf(groups: readonly RunGroup[], curves: readonly Curve[], sample?: number): string {
  const seeds = groups.map(({ label, runs }) => {
    const list = runs.map(seedOf).join(', ');
    return `${groups.length > 1 ? `${label}: ` : ''}${runs.length > 1 ? 'seeds' : 'seed'} ${list}`;
  });
  const most = Math.max(...groups.map(({ runs }) => runs.length));
  const window = Math.max(...curves.map((curve) => curve.window));
  return [
    `Of ${seeds.join('; ')}.`,
    most > 1 && 'Thick: mean over seeds; thin: each seed.',
    curves.some((curve) => curve.interval) && 'Shaded: 95\u00a0% interval of the mean over seeds (Student’s t).',
    window > 1 ? `Smoothing: moving mean over ${window} points; evaluations are as measured.` : 'No smoothing.',
    sample && `Evaluated on a fixed sample of ${plain(sample)} of valid; levels are of all of it.`,
  ]
    .filter(Boolean)
    .join(' ');
}
