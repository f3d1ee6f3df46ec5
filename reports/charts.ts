/** The charts of a report as chart.js configurations: curves with bands and bars with whiskers, labelled where the data is. */
import type { ChartConfiguration, ChartDataset, ScaleOptions } from 'chart.js';
import type { Size } from './canvas.js';
import { endLabels, verticalMark, whiskers } from './chart-plugins.js';
import type { Figure } from './results.js';
import type { Curve } from './series.js';

/** A chart and the size it is drawn at. */
export interface Chart {
  config: ChartConfiguration;
  size: Size;
}

/** Told apart by readers who see colours differently, and in print. @source Okabe and Ito, Color Universal Design */
export const palette = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#555555'] as const;

const font = 'Inter, "Helvetica Neue", Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif';
const ink = '#1f2933';
const quiet = '#6b7680';
const grid = '#e9edf0';
const baselineColor = '#b3bcc4';

export interface Line {
  label: string;
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

export interface LineChartOptions {
  title: string;
  xLabel: string;
  /** Values are fractions that read as percent. */
  percent: boolean;
  levels?: readonly Level[];
  /** The value axis begins at 0. Default: where the values do. */
  fromZero?: boolean;
  /** A value holds until the next step. Default: straight lines between them. */
  stepped?: boolean;
  /** CSS pixels. Default 520 by 270. */
  size?: Size;
}

/** Mean curves over seeds with shaded intervals and each seed as a faint line; names stand at the ends of the lines. */
export function lineChart(lines: readonly Line[], options: LineChartOptions): Chart {
  const { title, xLabel, percent, levels = [], fromZero = false, size = { width: 520, height: 270 } } = options;
  const datasets = lines.flatMap((line) => lineDatasets(line, options.stepped ?? false));
  const ends = lines.map(({ label, color, curve }) => ({ label, color, value: curve.mean.at(-1) ?? NaN }));
  const labels = lines.length > 1 || levels.length > 0 ? ends : [];
  for (const { value } of levels) datasets.push(levelDataset(value, lines));
  const named = [...labels, ...levels.map((level) => ({ ...level, color: quiet }))];
  const longest = Math.max(0, ...named.map(({ label }) => Math.min(label.length, 24)));
  return {
    size,
    config: {
      type: 'line',
      data: { datasets },
      options: {
        layout: { padding: { top: 4, right: named.length > 0 ? 14 + 6.2 * longest : 16, bottom: 2, left: 4 } },
        plugins: plainPlugins(title),
        scales: {
          x: {
            type: 'linear',
            ...axis(xLabel),
            ticks: { ...ticks, maxTicksLimit: 7, precision: 0, includeBounds: false },
            min: 0,
            max: lastStep(lines),
          },
          y: {
            ...axis(),
            beginAtZero: fromZero,
            ...(percent && shareBounds(lines)),
            ticks: { ...ticks, maxTicksLimit: 6, ...(percent && { callback: asPercent }) },
          },
        } as Record<string, ScaleOptions<'linear'>>,
      },
      plugins: [endLabels(named, font)],
    },
  };
}

export interface Bar {
  label: string;
  figure: Figure;
  /** Default grey, the colour of baselines. */
  color?: string;
}

export interface BarChartOptions {
  title: string;
  /** Values are fractions that read as percent. */
  percent: boolean;
  /** A level that no bar can exceed. */
  bound?: Level | undefined;
  /** CSS pixels. Default 520. */
  width?: number;
}

/** Horizontal bars with the interval as whisker and the value beside it. */
export function barChart(bars: readonly Bar[], { title, percent, bound, width = 520 }: BarChartOptions): Chart {
  const reach = Math.max(...bars.map(({ figure }) => Math.max(figure.high, figure.value)));
  const labels = bars.map(({ label }) => inLines(label, Math.floor(width / 16)));
  const shown = bound && bound.value <= Math.max(2 * reach, 0.5) ? bound : undefined;
  return {
    size: { width, height: 62 + (labels.some(Array.isArray) ? 34 : 27) * bars.length },
    config: {
      type: 'bar',
      data: {
        labels,
        datasets: [
          {
            data: bars.map(({ figure }) => figure.value),
            backgroundColor: bars.map(({ color }) => color ?? baselineColor),
            borderRadius: 2,
            barPercentage: 0.92,
            categoryPercentage: 0.78,
          },
        ],
      },
      options: {
        indexAxis: 'y',
        layout: { padding: { top: 4, right: 44, bottom: 2, left: 4 } },
        plugins: plainPlugins(title),
        scales: {
          x: {
            min: 0,
            suggestedMax: Math.min(percent ? 1 : Infinity, Math.max(reach, shown?.value ?? 0)),
            ...axis(),
            ticks: { ...ticks, maxTicksLimit: 6, ...(percent && { callback: asPercent }) },
          },
          y: {
            border: { display: false },
            grid: { display: false },
            ticks: { ...ticks, autoSkip: false, color: ink, font: { family: font, size: 12 } },
          },
        } as Record<string, ScaleOptions<'linear'>>,
      },
      plugins: [
        ...(shown ? [verticalMark(shown.value, shown.label, font)] : []),
        whiskers(
          bars.map(({ figure }) => figure),
          (value) => (percent ? 100 * value : value).toFixed(1),
          font,
        ),
      ],
    },
  };
}

function lineDatasets({ curve, color, dashed }: Line, stepped: boolean): ChartDataset<'line'>[] {
  const { steps, seeds, mean, interval } = curve;
  const points = (values: readonly number[]) => steps.map((step, i) => ({ x: step, y: values[i]! }));
  const thin = { pointRadius: 0, borderWidth: 0 };
  const band: ChartDataset<'line'>[] = interval
    ? [
        { data: points(interval.low), ...thin },
        { data: points(interval.high), ...thin, fill: '-1', backgroundColor: `${color}26` },
      ]
    : [];
  const faint =
    seeds.length > 1
      ? seeds.map((one) => ({ data: points(one), ...thin, borderWidth: 1, borderColor: `${color}40` }))
      : [];
  const dots = steps.length <= 20 && !stepped ? 2.5 : 0;
  return [
    ...band,
    ...faint,
    {
      data: points(mean),
      borderColor: color,
      borderWidth: 2.2,
      ...(dashed && { borderDash: [6, 4] }),
      stepped,
      pointRadius: dots,
      pointBackgroundColor: color,
      pointBorderWidth: 0,
    },
  ];
}

/** No axis of shares goes below 0 % or beyond 100 %, whatever an interval of their mean does. */
function shareBounds(lines: readonly Line[]): { min?: number; max?: number } {
  const values = lines.flatMap(({ curve: { mean, interval } }) => [
    ...mean,
    ...(interval ? [...interval.low, ...interval.high] : []),
  ]);
  return { ...(Math.min(...values) < 0 && { min: 0 }), ...(Math.max(...values) > 0.85 && { max: 1 }) };
}

/** Colour and stroke of the n-th thing that a report tells apart. */
export function strokeOf(index: number): { color: string; dashed: boolean } {
  return { color: palette[index % palette.length]!, dashed: index >= palette.length };
}

function levelDataset(value: number, lines: readonly Line[]): ChartDataset<'line'> {
  const ends = [0, lastStep(lines)];
  return {
    data: ends.map((x) => ({ x, y: value })),
    borderColor: quiet,
    borderWidth: 1.2,
    borderDash: [5, 4],
    pointRadius: 0,
  };
}

function lastStep(lines: readonly Line[]): number {
  return Math.max(1, ...lines.map(({ curve }) => curve.steps.at(-1) ?? 0));
}

const ticks = { color: quiet, font: { family: font, size: 11 } };

function axis(label?: string) {
  const title = { display: label !== undefined, text: label, color: quiet, font: { family: font, size: 11 } };
  return { border: { display: false }, grid: { color: grid, drawTicks: false }, title };
}

function plainPlugins(title: string) {
  return {
    legend: { display: false },
    tooltip: { enabled: false },
    title: {
      display: true,
      text: shorten(title, 70),
      align: 'start' as const,
      color: ink,
      font: { family: font, size: 13, weight: 'bold' as const },
      padding: { top: 2, bottom: 10 },
    },
  };
}

function asPercent(value: number | string): string {
  return `${Number((Number(value) * 100).toFixed(1))} %`;
}

/** A long label in two lines, parted at a space where there is one. */
function inLines(text: string, limit: number): string | string[] {
  if (text.length <= limit) return text;
  const space = text.lastIndexOf(' ', limit);
  const end = space > 0 ? space : limit;
  return [text.slice(0, end), shorten(text.slice(end).trim(), limit)];
}

function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
