/** Bars of agents on the same questions: scores and calls. */
import { barChart } from './bar-chart.js';
import { strokeOf } from './chart.js';
import { lineChart, type Line } from './line-chart.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import { markOf, type QuestionResult, type QuestionSet } from './question-results.js';
import { scatterChart, type Point } from './scatter-chart.js';
import { meanOf, type Figure } from './series.js';
import { figureNames, interval, milliseconds, percent, plain } from './words.js';

/** What the page shows at once. */
export const firstBars = ['hit@1', 'f1', 'accuracy', 'exact'] as const;

/** What it folds. */
export function otherFigures(set: QuestionSet, name: string): ChartGroup[] {
  return questionBars(set, name, ['complete', 'calls.mean']).map(({ charts, caption }) => {
    const curves = callCurves(set, name).slice(1);
    return {
      charts: [...charts, ...curves],
      caption: [caption, ...(curves.length > 0 ? [callsCaption] : [])].join(' '),
    };
  });
}

/** Scores and calls with intervals. @param name begins every file name */
export function questionBars(set: QuestionSet, name: string, keys: readonly string[]): ChartGroup[] {
  const charts = keys.flatMap((key): NamedChart[] => {
    const bars = set.rows.flatMap(({ label, metrics, color }) =>
      metrics[key] ? [{ label, figure: metrics[key], color: strokeOf(color).color }] : [],
    );
    const isShare = key !== 'calls.mean';
    if (bars.length === 0 || !bars.some(({ figure }) => isShare || figure.high > 0)) return [];
    const title = `${isShare ? `${figureNames[key]}, %` : 'calls a question'}${markOf(set)}`;
    const reachable = set.rows[0]!.metrics.reachable?.value;
    const bound =
      key === 'hit@1' && reachable !== undefined && reachable < 1
        ? { label: `reachable ${percent(reachable)}`, value: reachable }
        : undefined;
    const said = ({ value, low, high }: Figure) =>
      isShare
        ? `${percent(value)} (${percent(low)}–${percent(high)})`
        : `${value.toFixed(1)} (${low.toFixed(1)}–${high.toFixed(1)})`;
    const alt = `${title}, with 95 % intervals: ${bars.map(({ label, figure }) => `${label} ${said(figure)}`).join(', ')}`;
    return [{ name: `${name}-${key}`, alt, chart: barChart(bars, { title, percent: isShare, bound }) }];
  });
  const models = [...new Set(set.rows.flatMap(({ model }) => model ?? []))].join(', ');
  const asked =
    models === '' ? 'No agent asks a language model.' : `Model: ${models}${set.simulated ? ', simulated' : ''}.`;
  const caption = `Of ${plain(set.n)} questions, whatever went wrong included. Whiskers: 95\u00a0% bootstrap interval over questions. ${asked}`;
  return charts.length > 0 ? [{ charts, caption }] : [];
}

/** The main figure against calls, against time, and within so many calls, where some agent asks a model. */
export function costFigures(set: QuestionSet, name: string): ChartGroup[] {
  if (set.rows.every(({ model }) => model === undefined)) return [];
  const what = `${figureNames[set.main]}, %`;
  const axes = [
    {
      key: 'calls',
      xLabel: 'calls a question',
      write: (value: number) => `${plain(Number(value.toPrecision(2)))} calls`,
      xOf: ({ metrics }: QuestionResult) => metrics['calls.mean'],
    },
    {
      key: 'seconds',
      xLabel: 'seconds a question',
      write: (value: number) => milliseconds(1000 * value),
      xOf: ({ speed }: QuestionResult) => speed && { value: speed.msPerQuestion / 1000 },
    },
  ];
  const charts = axes.flatMap(({ key, xLabel, xOf, write }): NamedChart[] => {
    const points = set.rows.flatMap((row): Point[] => {
      const [x, y] = [xOf(row), row.metrics[set.main]];
      return x && y ? [{ label: row.label, color: strokeOf(row.color).color, x, y }] : [];
    });
    if (points.length < 2) return [];
    const title = `${what} against ${xLabel}${markOf(set)}`;
    const said = points.map(
      ({ label, x, y }) => `${label} ${percent(y.value)} (${interval(y)[0]!}) at ${write(x.value)}`,
    );
    const alt = `${title}, logarithmic, with 95 % intervals: ${said.join(', ')}`;
    return [
      { name: `${name}-cost-${key}`, alt, chart: scatterChart(points, { title, xLabel: `${xLabel}, log scale` }) },
    ];
  });
  const scattered =
    'Up and to the left is better. Whiskers: 95\u00a0% bootstrap intervals over questions. Agents that ask no model stand at 0 calls, left of the logarithmic axis; time is wall time, preparing included.';
  const shown = [...charts, ...callCurves(set, name).slice(0, 1)];
  if (shown.length === 0) return [];
  return [
    {
      charts: shown,
      caption: [...(charts.length > 0 ? [scattered] : []), callsCaption].join(' '),
    },
  ];
}

/** Share of questions that ended right within so many calls; none where no agent makes calls. */
export function callCurves(set: QuestionSet, name: string): NamedChart[] {
  const most = Math.max(...set.rows.flatMap(({ budgetCurves }) => budgetCurves.flat().map(({ calls }) => calls)));
  if (!(most > 0)) return [];
  return (['hit', 'complete'] as const).map((key): NamedChart => {
    const lines = set.rows.map((row): Line => ({
      ...strokeOf(row.color),
      label: row.label,
      curve: callCurve(row, key, most),
    }));
    const what = key === 'complete' ? 'complete match' : set.main;
    const title = `${what} within so many calls, %${markOf(set)}`;
    const ends = lines.map(({ label, curve }) => `${label} ${percent(curve.mean.at(-1)!)}`).join(', ');
    const alt = `${title}, for 0 to ${most} calls a question; at ${most} calls: ${ends}`;
    const xLabel = 'calls a question may take';
    const options = { title, xLabel, percent: true, fromZero: true, stepped: true, height: 300 };
    return { name: `${name}-calls-${key}`, alt, chart: lineChart(lines, options) };
  });
}

/** What callCurves leave out. */
const callsCaption =
  'Within so many calls: a question counts from the number of calls at which it ended; what an agent would have said if stopped earlier is not in it. Agents that ask no model are level.';

/** The mean over seeds at every number of calls. */
function callCurve({ budgetCurves }: QuestionResult, key: 'hit' | 'complete', most: number): Line['curve'] {
  // One more than any question took, so that the last rise is seen.
  const steps = Array.from({ length: most + 2 }, (_, calls) => calls);
  const at = (curve: QuestionResult['budgetCurves'][number], calls: number) =>
    curve.findLast((point) => point.calls <= calls)?.[key] ?? 0;
  const mean = steps.map((calls) => meanOf(budgetCurves.map((curve) => at(curve, calls))));
  return { steps, seeds: [], mean, window: 1 };
}
