/** Charts of agents on the same questions: scores and calls as bars, and what more calls buy as curves. */
import { barChart, lineChart, strokeOf } from './charts.js';
import type { Line } from './charts.js';
import { figureNames } from './figure-names.js';
import type { ChartGroup, NamedChart } from './figures.js';
import { percent, plain } from './numbers.js';
import { markOf } from './question-results.js';
import type { QuestionResult, QuestionSet } from './question-results.js';
import { meanOf } from './series.js';

const barWidth = 360;
const curveSize = { width: 460, height: 290 };

/** Scores and calls with intervals. @param name begins every file name */
export function questionBars(set: QuestionSet, name: string): ChartGroup {
  const charts = ['hit@1', 'f1', 'exact', 'complete', 'accuracy', 'calls.mean'].flatMap((key): NamedChart[] => {
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
    const write = (value: number) => (isShare ? percent(value) : value.toFixed(1));
    const alt = `${title}: ${bars.map(({ label, figure }) => `${label} ${write(figure.value)}`).join(', ')}`;
    return [
      { name: `${name}-${key}`, alt, chart: barChart(bars, { title, percent: isShare, bound, width: barWidth }) },
    ];
  });
  const models = [...new Set(set.rows.flatMap(({ model }) => model ?? []))].join(', ');
  const asked =
    models === '' ? 'No agent asks a language model.' : `Model: ${models}${set.simulated ? ', simulated' : ''}.`;
  const caption = `Of ${plain(set.n)} questions, whatever went wrong included. Whiskers: 95\u00a0% bootstrap interval over questions. ${asked}`;
  return { charts, caption };
}

/** Share of questions that ended right within so many calls; nothing where no agent makes calls. */
export function callCurves(set: QuestionSet, name: string): ChartGroup[] {
  const most = Math.max(...set.rows.flatMap(({ budgetCurves }) => budgetCurves.flat().map(({ calls }) => calls)));
  if (!(most > 0)) return [];
  const charts = (['hit', 'complete'] as const).map((key): NamedChart => {
    const lines = set.rows.map((row): Line => ({
      ...strokeOf(row.color),
      label: row.label,
      curve: callCurve(row, key, most),
    }));
    const what = key === 'complete' ? 'complete match' : set.main;
    const title = `${what} within so many calls, %${markOf(set)}`;
    const ends = lines.map(({ label, curve }) => `${label} ${percent(curve.mean.at(-1)!)}`).join(', ');
    const alt = `${title}, for 0 to ${most} calls a question; at ${most} calls: ${ends}`;
    const options = { title, xLabel: 'calls a question may take', percent: true, fromZero: true, stepped: true };
    return { name: `${name}-calls-${key}`, alt, chart: lineChart(lines, { ...options, size: curveSize }) };
  });
  const caption =
    'A question counts from the number of calls at which it ended; what an agent would have said if stopped earlier is not in it. Agents that ask no model are level.';
  return [{ charts, caption }];
}

/** The mean over seeds at every number of calls. */
function callCurve({ budgetCurves }: QuestionResult, key: 'hit' | 'complete', most: number): Line['curve'] {
  // One more than any question took, so that the last rise is seen.
  const steps = Array.from({ length: most + 2 }, (_, calls) => calls);
  const at = (curve: QuestionResult['budgetCurves'][number], calls: number) =>
    curve.findLast((point) => point.calls <= calls)?.[key] ?? 0;
  const mean = steps.map((calls) => meanOf(budgetCurves.map((curve) => at(curve, calls))));
  return { steps, seeds: [], mean, window: 1 };
}
