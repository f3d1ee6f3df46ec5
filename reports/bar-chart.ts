/** Horizontal bars with their intervals. */
import type { ScaleOptions } from 'chart.js';
import { numberText, type Figure } from '../src/run/figures.js';
import { axis, chartWidth, font, inLines, plugins, ticks, verticalMark, whiskers, type Chart } from './chart.js';
import type { Level } from './line-chart.js';
import type { Mean } from './series.js';

/** One bar with its whiskers. */
export interface Bar {
  label: string;
  figure: Mean;
  /** Of the palette, with or without opacity. Default grey, the colour of baselines. */
  color?: string;
}

/** Title, unit, and a level that no bar can exceed. */
export interface BarChartOptions {
  title: string;
  /** Of the values; `%` are fractions that read as percent. */
  unit: Figure['unit'];
  /** A level that no bar can exceed; shown where it is not far from them. */
  bound?: Level | undefined;
}

/** Bars with the interval as whisker and the value beside it. */
export function barChart(bars: readonly Bar[], { title, unit, bound }: BarChartOptions): Chart {
  const reach = Math.max(...bars.map(({ figure }) => Math.max(figure.high, figure.value)));
  const labels = bars.map(({ label }) => inLines(label, 20));
  const shown = bound && bound.value <= Math.max(2 * reach, 0.5) ? bound : undefined;
  const most = Math.max(reach, shown?.value ?? 0);
  const isCount = unit === 'calls';
  return {
    size: {
      width: chartWidth,
      height: 62 + (shown ? 10 : 0) + (labels.some(Array.isArray) ? 34 : 27) * bars.length,
    },
    config: (theme) => ({
      type: 'bar',
      data: {
        labels,
        datasets: [
          {
            data: bars.map(({ figure }) => figure.value),
            backgroundColor: bars.map(({ color }) => (color === undefined ? theme.baseline : theme.shade(color))),
            borderRadius: 2,
            barPercentage: 0.92,
            categoryPercentage: 0.78,
          },
        ],
      },
      options: {
        indexAxis: 'y',
        layout: { padding: { top: 4, right: 46, bottom: 2, left: 2 } },
        plugins: plugins(title, theme, shown ? 20 : 10),
        scales: {
          x: {
            min: 0,
            suggestedMax: isCount ? most : Math.min(1, most),
            ...axis(theme),
            ticks: ticks(theme, unit === '%'),
          },
          y: {
            border: { display: false },
            grid: { display: false },
            ticks: { autoSkip: false, color: theme.ink, font: { family: font, size: 12 } },
          },
        } as Record<string, ScaleOptions<'linear'>>,
      },
      plugins: [
        ...(shown ? [verticalMark(shown.value, shown.label, theme)] : []),
        whiskers(
          bars.map(({ figure }) => figure),
          (value) => numberText(value, unit),
          theme,
        ),
      ],
    }),
  };
}
