/** Plots from logs: one chart per figure and phase, one line per run or per setting (seeds together). */
import { agentColors } from '../../reports/plots/colors.js';
import type { LinePlot, PlotLine, Value } from '../../reports/plots/plot.js';
import { meanOf } from '../../reports/plots/smoothing.js';
import { isShare, phaseWords, seriesOfPhase, takenBy, type Timing } from '../../reports/plots/logged.js';
import type { LoggedMetrics, RunSummary } from '../api.js';

export interface CurveOptions {
  /** Weight of the past in the exponential moving average, in [0, 1); 0 is unsmoothed. */
  smoothing: number;
  /** Preferred horizontal axis. */
  axis: 'step' | 'envSteps' | 'seconds';
  /** Seeds of one setting as mean with a band, or separately. */
  seeds: 'together' | 'apart';
}

/** A chart of the page. */
export interface NamedPlot {
  /** `ppo eval/path@1`. */
  id: string;
  phase: string;
  key: string;
  plot: LinePlot;
}

const phases = Object.keys(phaseWords);
const kinds = ['eval', 'rollout', 'train'];

export function phaseTitle(phase: string): string {
  const name = phaseWords[phase]?.name ?? phase;
  return name[0]!.toUpperCase() + name.slice(1);
}

export interface RunLog {
  metrics: readonly LoggedMetrics[];
  timing: readonly Timing[];
  trouble?: string;
}

/** Runs of one line. */
interface Drawn {
  label: string;
  runs: readonly RunSummary[];
}

/** All charts of some runs: the last phase first, evaluations before training metrics. */
export function plotsOf(
  runs: readonly RunSummary[],
  logs: ReadonlyMap<string, RunLog>,
  options: CurveOptions,
): NamedPlot[] {
  const lines = linesOf(runs, options.seeds);
  const colors = colorsOf(lines);
  const logged = new Set(runs.flatMap(({ key }) => (logs.get(key)?.metrics ?? []).map(({ phase }) => phase)));
  return [...logged]
    .sort((a, b) => phases.indexOf(b) - phases.indexOf(a) || (a < b ? -1 : 1))
    .flatMap((phase) => {
      const series = new Map(
        runs.flatMap(({ key }) => (logs.has(key) ? [[key, seriesOf(logs.get(key)!, phase)]] : [])),
      );
      const keys = new Set([...series.values()].flatMap(({ metrics }) => [...metrics.keys()]));
      return [...keys]
        .sort((a, b) => kindOf(a) - kindOf(b) || (a < b ? -1 : 1))
        .map((key): NamedPlot => {
          const drawn = lines.flatMap((line) => lineOf(line, key, series, options, colors.get(line.label)!) ?? []);
          const axes = axesOf(phase, drawn, options.axis);
          const values = drawn.flatMap(({ seeds }) => seeds.flat()).filter((value) => value !== null);
          const plot: LinePlot = {
            kind: 'lines',
            title: key.replaceAll('_', ' '),
            unit: isShare(key, values) ? '%' : 'number',
            axes: axes.map(({ title }) => title),
            lines: drawn.map(({ at, ...line }) => ({ ...line, x: axes.map(({ axis }) => at[axis]) })),
            smooths: false,
          };
          return { id: `${phase} ${key}`, phase, key, plot };
        });
    });
}

function kindOf(key: string): number {
  const kind = kinds.indexOf(key.split('/')[0]!);
  return kind < 0 ? kinds.length : kind;
}

interface RunSeries {
  metrics: ReadonlyMap<string, ReadonlyMap<number, Value>>;
  /** Cumulative cost by step. */
  taken: Readonly<Record<'envSteps' | 'seconds', ReadonlyMap<number, number>>>;
}

function seriesOf({ metrics, timing }: RunLog, phase: string): RunSeries {
  const taken = { envSteps: takenBy(timing, phase, 'time/env_steps'), seconds: takenBy(timing, phase, 'seconds') };
  return { metrics: seriesOfPhase(metrics, phase), taken };
}

function linesOf(runs: readonly RunSummary[], seeds: CurveOptions['seeds']): Drawn[] {
  if (seeds === 'apart') return runs.map((run) => ({ label: run.id, runs: [run] }));
  const groups = new Map<string, RunSummary[]>();
  for (const run of runs) groups.set(run.group, [...(groups.get(run.group) ?? []), run]);
  const all = [...groups.values()];
  // Settings with equal names get the name of their first run.
  const nameOf = ([first, ...others]: readonly RunSummary[]) =>
    others.length === 0 || all.filter(([one]) => one!.label === first!.label).length > 1
      ? first!.id + (others.length > 0 ? ` and ${others.length} more` : '')
      : `${first!.label}, ${others.length + 1} seeds`;
  return all.map((group) => ({ label: nameOf(group), runs: group }));
}

const colorsOf = (lines: readonly Drawn[]) => agentColors(lines.map(({ label }) => ({ name: label, vivid: true })));

/** Colour of each run's line, by key. */
export function runColors(runs: readonly RunSummary[], seeds: CurveOptions['seeds']): Map<string, string> {
  const lines = linesOf(runs, seeds);
  const colors = colorsOf(lines);
  return new Map(lines.flatMap(({ label, runs: own }) => own.map(({ key }) => [key, colors.get(label)!] as const)));
}

type Axis = CurveOptions['axis'];
type AtAxis = Readonly<Record<Axis, Value[]>>;

function lineOf(
  { label, runs }: Drawn,
  key: string,
  series: ReadonlyMap<string, RunSeries>,
  { smoothing }: CurveOptions,
  color: string,
): (Omit<PlotLine, 'x'> & { at: AtAxis }) | undefined {
  const known = runs.flatMap((run) => {
    const { metrics, taken } = series.get(run.key) ?? {};
    const values = metrics?.get(key);
    return values && taken ? [{ values, taken }] : [];
  });
  if (known.length === 0) return undefined;
  const steps = [...new Set(known.flatMap(({ values }) => [...values.keys()]))].sort((a, b) => a - b);
  const meanTaken = (what: 'envSteps' | 'seconds') =>
    steps.map((step): Value => {
      const costs = known.flatMap(({ taken }) => taken[what].get(step) ?? []);
      return costs.length === 0 ? null : meanOf(costs);
    });
  const at = { step: steps, envSteps: meanTaken('envSteps'), seconds: meanTaken('seconds') };
  const raw = known.map(({ values }) => steps.map((step): Value => values.get(step) ?? null));
  if (smoothing === 0) return { label, color, at, seeds: raw };
  return { label, color, at, seeds: raw.map((values) => movingAverage(values, smoothing)), raw };
}

/** Exponential moving average, each value divided by the weight seen so far; missing values stay missing. */
function movingAverage(values: readonly Value[], weight: number): Value[] {
  let [sum, seen] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    seen = weight * seen + (1 - weight);
    return sum / seen;
  });
}

/** Axes known at two points or more of some line, the preferred one first. */
function axesOf(phase: string, lines: readonly { at: AtAxis }[], wanted: Axis): { axis: Axis; title: string }[] {
  const all = [
    { axis: 'step', title: phaseWords[phase]?.steps ?? 'steps' },
    { axis: 'envSteps', title: 'environment steps' },
    { axis: 'seconds', title: 'seconds' },
  ] as const;
  const known = all.filter(
    ({ axis }) => axis === 'step' || lines.some(({ at }) => at[axis].filter((value) => value !== null).length > 1),
  );
  return [...known].sort((a, b) => Number(b.axis === wanted) - Number(a.axis === wanted));
}
