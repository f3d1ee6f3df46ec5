/** Plots from logs: one chart per figure and phase, one line per run or per setting (seeds together). */
import { agentColors } from '../../reports/plots/colors.js';
import type { LinePlot, PlotLine, Value } from '../../reports/plots/plot.js';
import type { RunSummary } from '../api.js';
import type { RunLog } from './logs.js';

/** Display options of curves. */
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

/** Training phases in order; see `src/run/records.ts`. */
const phases = ['transe', 'bilinear', 'encode', 'clone', 'fit', 'ppo'];
const phaseTitles: Readonly<Record<string, string>> = {
  ...{
    transe: 'TransE',
    bilinear: 'Bilinear embeddings',
    encode: 'Text vectors',
    clone: 'Cloning',
    fit: 'Fitting',
    ppo: 'PPO',
  },
};
const kinds = ['eval', 'rollout', 'train'];

/** Display name of a phase. */
export const phaseTitle = (phase: string): string => phaseTitles[phase] ?? phase;

const stepTitle = (phase: string) => (['transe', 'bilinear'].includes(phase) ? 'epochs' : 'updates');

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
  const wanted = new Map<string, { phase: string; key: string }>();
  for (const { key: run } of runs)
    for (const [phase, keys] of logs.get(run)?.metrics ?? [])
      for (const key of keys.keys()) wanted.set(`${phase} ${key}`, { phase, key });
  const rank = ({ phase, key }: { phase: string; key: string }) => {
    const kind = kinds.indexOf(key.split('/')[0]!);
    return -100 * phases.indexOf(phase) + (kind < 0 ? kinds.length : kind);
  };
  return [...wanted]
    .sort(([a, one], [b, other]) => rank(one) - rank(other) || (a < b ? -1 : 1))
    .flatMap(([id, { phase, key }]) => {
      const drawn = lines.flatMap((line) => lineOf(line, { phase, key }, logs, options, colors.get(line.label)!) ?? []);
      if (drawn.length === 0) return [];
      const axes = axesOf(phase, drawn, options.axis);
      const plotLines = drawn.map(({ at, ...line }) => ({ ...line, x: axes.map(({ axis }) => at[axis]) }));
      const plot: LinePlot = {
        kind: 'lines',
        title: titleOf(key),
        unit: isShare(key, drawn) ? '%' : 'number',
        axes: axes.map(({ title }) => title),
        lines: plotLines,
        smooths: false,
      };
      return [{ id, phase, key, plot }];
    });
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
  { phase, key }: { phase: string; key: string },
  logs: ReadonlyMap<string, RunLog>,
  { smoothing }: CurveOptions,
  color: string,
): (Omit<PlotLine, 'x'> & { at: AtAxis }) | undefined {
  const known = runs.flatMap((run) => {
    const log = logs.get(run.key);
    const values = log?.metrics.get(phase)?.get(key);
    return log && values && values.size > 0 ? [{ log, values }] : [];
  });
  if (known.length === 0) return undefined;
  const steps = [...new Set(known.flatMap(({ values }) => [...values.keys()]))].sort((a, b) => a - b);
  const taken = (what: 'envSteps' | 'seconds') =>
    steps.map((step): Value => meanOf(known.flatMap(({ log }) => log.taken.get(phase)?.get(step)?.[what] ?? [])));
  const at = { step: steps, envSteps: taken('envSteps'), seconds: taken('seconds') };
  const raw = known.map(({ values }) => steps.map((step): Value => values.get(step) ?? null));
  if (smoothing === 0) return { label, color, at, seeds: raw };
  return { label, color, at, seeds: raw.map((values) => movingAverage(values, smoothing)), raw };
}

/**
 * Exponential moving average with bias correction: each value is divided by the weight seen so far. Missing values stay
 * missing.
 */
export function movingAverage(values: readonly Value[], weight: number): Value[] {
  let [sum, seen] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    seen = weight * seen + (1 - weight);
    return sum / seen;
  });
}

function meanOf(values: readonly number[]): Value {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Axes known at two points or more of some line, the preferred one first. */
function axesOf(phase: string, lines: readonly { at: AtAxis }[], wanted: Axis): { axis: Axis; title: string }[] {
  const all = [
    { axis: 'step', title: stepTitle(phase) },
    { axis: 'envSteps', title: 'environment steps' },
    { axis: 'seconds', title: 'seconds' },
  ] as const;
  const known = all.filter(
    ({ axis }) => axis === 'step' || lines.some(({ at }) => at[axis].filter((value) => value !== null).length > 1),
  );
  return [...known].sort((a, b) => Number(b.axis === wanted) - Number(a.axis === wanted));
}

const titleOf = (key: string) => key.replaceAll('_', ' ');

/** True if values are fractions shown as percent. */
function isShare(key: string, lines: readonly { seeds: readonly (readonly Value[])[] }[]): boolean {
  if (/(rate|fraction|accuracy)$/.test(key) && !key.endsWith('learning_rate')) return true;
  if (!key.startsWith('eval/') || key.endsWith('loss')) return false;
  return lines.every(({ seeds }) =>
    seeds.every((values) => values.every((one) => one === null || (one >= 0 && one <= 1))),
  );
}
