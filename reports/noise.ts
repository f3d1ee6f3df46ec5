/** How agents bear a simulated model that errs: accuracy and calls against its error rate. */
import { strokeOf } from './chart.js';
import type { Table } from './html.js';
import { lineChart, type Line } from './line-chart.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import { oracleError, type QuestionResult, type QuestionSet } from './question-results.js';
import type { Figure } from './series.js';
import { figureNames, interval, percent, plain } from './words.js';

/** One agent over error rates. */
interface NoiseRow {
  label: string;
  color: number;
  /** By error rate, ascending. */
  levels: { error: number; result: QuestionResult }[];
}

/** The same questions under several error rates. */
export interface NoiseSet {
  /** One of the sets, for what they share. */
  set: QuestionSet;
  /** Error rates, ascending, fractions. */
  errors: number[];
  rows: NoiseRow[];
}

/** Questions that were asked of oracles of at least two error rates. */
export function collectNoise(sets: readonly QuestionSet[]): NoiseSet[] {
  const simulated = sets.flatMap((set) => {
    const error = set.simulated ? oracleError(set.model) : undefined;
    return error === undefined ? [] : [{ error, set }];
  });
  return [...new Set(simulated.map(({ set }) => set.questions))].flatMap((questions): NoiseSet[] => {
    const levels = simulated.filter(({ set }) => set.questions === questions).sort((a, b) => a.error - b.error);
    if (levels.length < 2) return [];
    const asked = levels.flatMap(({ set, error }) =>
      set.rows.flatMap((result) => (result.simulated ? [{ error, result }] : [])),
    );
    const rows = [...new Set(asked.map(({ result }) => result.label))].map((label): NoiseRow => {
      const own = asked.filter(({ result }) => result.label === label);
      return { label, color: own[0]!.result.color, levels: own };
    });
    return [{ set: levels[0]!.set, errors: levels.map(({ error }) => error), rows }];
  });
}

/** Main figure, complete match and calls, one line an agent. @param name begins every file name */
export function noiseFigures({ set, rows }: NoiseSet, name: string): ChartGroup {
  const keys = [...new Set([set.main, 'complete', 'calls.mean'])];
  const charts = keys.flatMap((key): NamedChart[] => {
    const lines = rows.flatMap((row) => noiseLine(row, key));
    if (lines.length === 0) return [];
    const isShare = key !== 'calls.mean';
    const title = `${isShare ? `${figureNames[key]}, %` : 'calls a question'} (simulated)`;
    const xLabel = 'decisions in which the oracle errs, %';
    const write = (value: number) => (isShare ? `${percent(value)} %` : value.toFixed(1));
    const alt = `${title} against ${xLabel}: ${lines
      .map(
        ({ label, curve: { steps, mean } }) =>
          `${label} from ${write(mean[0]!)} at ${plain(steps[0]!)} % to ${write(mean.at(-1)!)} at ${plain(steps.at(-1)!)} %`,
      )
      .join(', ')}`;
    const chart = lineChart(lines, { title, xLabel, percent: isShare, fromZero: true });
    return [{ name: `${name}-noise-${key}`, alt, chart }];
  });
  return {
    charts,
    caption: `Simulated: the oracle knows the gold and errs once a decision at the given rate, so these lines compare algorithms, not models. ${plain(set.n)} questions a point; shaded: 95\u00a0% bootstrap interval over questions.`,
  };
}

/** Every agent at every error rate. */
export function noiseTable({ set, errors, rows }: NoiseSet): Table {
  return {
    head: ['agent (simulated)', ...errors.map((error) => `error ${plain(100 * error)} %`)],
    rows: rows.map(({ label, levels }) => ({
      cells: [
        { text: label, details: [`${figureNames[set.main]}, %`] },
        ...errors.map((error) => {
          const metrics = levels.find((level) => level.error === error)?.result.metrics;
          const main = metrics?.[set.main];
          const { complete, 'calls.mean': calls } = metrics ?? {};
          if (!main) return { text: '' };
          return {
            text: percent(main.value),
            details: [
              ...interval(main),
              ...(complete ? [`complete ${percent(complete.value)}`] : []),
              ...(calls ? [`${calls.value.toFixed(1)} calls`] : []),
            ],
          };
        }),
      ],
    })),
  };
}

function noiseLine({ label, color, levels }: NoiseRow, key: string): Line[] {
  const points = levels.flatMap(({ error, result }): { error: number; figure: Figure }[] => {
    const figure = result.metrics[key];
    return figure ? [{ error, figure }] : [];
  });
  if (points.length < 2) return [];
  const of = (part: 'value' | 'low' | 'high') => points.map(({ figure }) => figure[part]);
  return [
    {
      ...strokeOf(color),
      label,
      curve: {
        steps: points.map(({ error }) => 100 * error),
        seeds: [],
        mean: of('value'),
        interval: { low: of('low'), high: of('high') },
        window: 1,
      },
    },
  ];
}
