/** Curves with bands, named at their ends or, where names are long, below. */
import type { ChartDataset, LegendItem, ScaleOptions } from 'chart.js';
import { axis, chartWidth, endLabels, font, plugins, shorten, ticks, type Chart, type Theme } from './chart.js';
import type { Curve } from './series.js';

/** A curve with its name and look. */
export interface Line {
  label: string;
  /** Of the palette. */
  color: string;
  /** Set where colours were used up. */
  dashed?: boolean;
  curve: Curve;
}

/** A level to compare curves with, such as a baseline's score. */
export interface Level {
  label: string;
  value: number;
}

/** Title, axes and levels of a chart of curves. */
export interface LineChartOptions {
  title: string;
  /** What the horizontal axis counts, with its unit. */
  xLabel: string;
  /** Values are fractions that read as percent. */
  percent: boolean;
  levels?: readonly Level[];
  /** The value axis begins at 0. Default: where the values do. */
  fromZero?: boolean;
  /** A value holds until the next step. Default: straight lines between them. */
  stepped?: boolean;
  /** CSS pixels. Default 250. */
  height?: number;
}

/** Names longer than this stand below the plot. */
const longestAtEnd = 14;
const longestBelow = 46;

/** Mean curves over seeds with shaded intervals and each seed as a faint line. */
export function lineChart(lines: readonly Line[], options: LineChartOptions): Chart {
  const { title, xLabel, percent, levels = [], fromZero = false, stepped = false, height = 250 } = options;
  const isNamed = lines.length > 1 || levels.length > 0;
  const longest = Math.max(...[...lines, ...levels].map(({ label }) => label.length));
  const atEnds = isNamed && longest <= longestAtEnd;
  const below = isNamed && !atEnds;
  return {
    size: { width: chartWidth, height: height + (below ? 17 * rowsOfNames([...lines, ...levels]) : 0) },
    config: (theme) => ({
      type: 'line',
      data: {
        datasets: [
          ...lines.flatMap((line) => lineDatasets(line, stepped, theme)),
          ...levels.map((level, i) => levelDataset(level, i, lines, theme)),
        ],
      },
      options: {
        layout: { padding: { top: 4, right: atEnds ? 12 + 6.4 * longest : 16, bottom: 2, left: 2 } },
        plugins: { ...plugins(title, theme), legend: legend(below, theme) },
        scales: {
          x: {
            type: 'linear',
            ...axis(theme, xLabel),
            ticks: { ...ticks(theme), includeBounds: false },
            min: 0,
            max: lastStep(lines),
          },
          y: {
            ...axis(theme),
            beginAtZero: fromZero,
            ...(percent && shareBounds(lines)),
            ticks: ticks(theme, percent),
          },
        } as Record<string, ScaleOptions<'linear'>>,
      },
      plugins: atEnds ? [endLabels(namesAtEnds(lines, levels, theme))] : [],
    }),
  };
}

/** Rows that names take below the plot, each beside the stroke that it names. */
function rowsOfNames(named: readonly { label: string }[]): number {
  let [rows, used] = [1, 0];
  for (const { label } of named) {
    const width = 34 + 6.4 * Math.min(label.length, longestBelow);
    if (used > 0 && used + width > chartWidth - 20) [rows, used] = [rows + 1, 0];
    used += width;
  }
  return rows;
}

function namesAtEnds(lines: readonly Line[], levels: readonly Level[], { quiet, shade }: Theme) {
  return [
    ...lines.map(({ label, color, curve }) => ({ label, color: shade(color), value: curve.mean.at(-1) ?? NaN })),
    ...levels.map((level) => ({ ...level, color: quiet })),
  ];
}

function legend(display: boolean, { ink }: Theme) {
  return {
    display,
    position: 'bottom' as const,
    align: 'start' as const,
    // Only what has a name: neither bands nor single seeds.
    labels: {
      color: ink,
      font: { family: font, size: 12 },
      boxWidth: 22,
      boxHeight: 0,
      padding: 5,
      filter: ({ text }: LegendItem) => Boolean(text),
    },
  };
}

function lineDatasets(
  { label, curve, color, dashed }: Line,
  stepped: boolean,
  { shade }: Theme,
): ChartDataset<'line'>[] {
  const { steps, seeds, mean, interval } = curve;
  const points = (values: readonly number[]) => steps.map((step, i) => ({ x: step, y: values[i]! }));
  const thin = { pointRadius: 0, borderWidth: 0, label: '' };
  const band: ChartDataset<'line'>[] = interval
    ? [
        { data: points(interval.low), ...thin },
        { data: points(interval.high), ...thin, fill: '-1', backgroundColor: shade(`${color}26`) },
      ]
    : [];
  const faint =
    seeds.length > 1
      ? seeds.map((one) => ({ data: points(one), ...thin, borderWidth: 1, borderColor: shade(`${color}40`) }))
      : [];
  return [
    ...band,
    ...faint,
    {
      label: shorten(label, longestBelow),
      data: points(mean),
      borderColor: shade(color),
      borderWidth: 2.2,
      ...(dashed && { borderDash: [6, 4] }),
      stepped,
      pointRadius: steps.length <= 20 && !stepped ? 2.5 : 0,
      pointBackgroundColor: shade(color),
      pointBorderWidth: 0,
      clip: 4,
    },
  ];
}

function levelDataset(
  { label, value }: Level,
  i: number,
  lines: readonly Line[],
  { quiet }: Theme,
): ChartDataset<'line'> {
  return {
    label: shorten(label, longestBelow),
    data: [0, lastStep(lines)].map((x) => ({ x, y: value })),
    borderColor: quiet,
    borderWidth: 1.4,
    borderDash: i === 0 ? [5, 4] : [1.5, 3],
    pointRadius: 0,
  };
}

/** No axis of shares goes below 0 % or beyond 100 %, whatever an interval of their mean does. */
function shareBounds(lines: readonly Line[]): { min?: number; max?: number } {
  const values = lines.flatMap(({ curve: { mean, interval } }) => [
    ...mean,
    ...(interval ? [...interval.low, ...interval.high] : []),
  ]);
  return {
    ...(values.some((value) => value < 0) && { min: 0 }),
    ...(values.some((value) => value > 0.85) && { max: 1 }),
  };
}

function lastStep(lines: readonly Line[]): number {
  return Math.max(Number.MIN_VALUE, ...lines.map(({ curve }) => curve.steps.at(-1) ?? 0));
}
