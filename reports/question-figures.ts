/** Bars of agents on the same questions: scores and calls. */
import { barChart } from './bar-chart.js';
import { figureNames } from './figure-names.js';
import { percent, plain } from './numbers.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import { callCurves, callsCaption } from './question-costs.js';
import { markOf } from './question-results.js';
import type { QuestionSet } from './question-results.js';
import type { Figure } from './results.js';
import { strokeOf } from './theme.js';

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
