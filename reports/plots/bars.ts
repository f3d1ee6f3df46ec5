/** Horizontal bars with their intervals. */
import type { Chart as Drawing, ChartConfiguration, Plugin, Scale, ScaleOptions } from 'chart.js';
import { axis, driven, font, inLines, plugins, ticks, valueWith } from './chart.js';
import type { Theme, View } from './chart.js';
import type { BarPlot, PlotEstimate } from './plot.js';

/** CSS pixels of a bar by the lines of its name: one, two or three. */
const rowHeights = [27, 34, 46] as const;

/** CSS pixels of the picture. */
export function barHeight(plot: BarPlot): number {
  const { labels, shown } = laidOut(plot);
  const lines = Math.max(1, ...labels.map((label) => (Array.isArray(label) ? label.length : 1)));
  return 62 + (shown ? 10 : 0) + rowHeights[lines - 1]! * plot.bars.length;
}

function laidOut({ bars, bound }: BarPlot) {
  const reach = Math.max(...bars.map(({ value, high }) => Math.max(high, value)));
  const shown = bound && bound.value <= Math.max(2 * reach, 0.5) ? bound : undefined;
  const least = Math.min(0, ...bars.map(({ value, low }) => Math.min(low, value)));
  return {
    labels: bars.map(({ label }) => inLines(label, /^.{41}|\S{21}/.test(label) ? 24 : 20, 3)),
    shown,
    least,
    most: Math.max(reach, shown?.value ?? 0),
  };
}

/** Bars with the interval as whisker and the value next to it. */
export function barConfig(plot: BarPlot, theme: Theme, view?: View): ChartConfiguration {
  const { title, unit } = plot;
  const bars = plot.bars.filter(({ label }) => !view?.hidden.has(label));
  const { labels, shown, least, most } = laidOut({ ...plot, bars });
  const isShare = unit === '%' || unit === 'mean';
  const above = plugins(title, theme, view, shown ? 20 : 10);
  return {
    type: 'bar',
    data: {
      labels,
      datasets: [
        {
          data: bars.map(({ value }) => value),
          backgroundColor: bars.map(({ color }) => theme.shade(color)),
          borderRadius: 2,
          barPercentage: 0.92,
          categoryPercentage: 0.78,
        },
      ],
    },
    options: {
      ...(view && driven),
      indexAxis: 'y',
      layout: { padding: { top: view && shown ? 16 : 4, right: 46, bottom: 2, left: 2 } },
      plugins: {
        ...above,
        tooltip: {
          ...above.tooltip,
          callbacks: {
            title: (items: { dataIndex: number }[]) => bars[items[0]?.dataIndex ?? 0]?.label ?? '',
            label: ({ dataIndex }: { dataIndex: number }) => saidOf(bars[dataIndex]!, unit),
          },
        },
      },
      scales: {
        x: {
          ...(least === 0 ? { min: 0 } : { suggestedMin: least }),
          suggestedMax: isShare ? Math.min(1, most) : most,
          ...axis(theme),
          ticks: ticks(theme, unit === '%'),
        },
        y: {
          border: { display: false },
          grid: { display: false },
          ticks: { autoSkip: false, color: theme.ink, font: { family: font, size: 12 } },
          afterFit: wholeNames,
        },
      } as unknown as Record<string, ScaleOptions<'linear'>>,
    },
    plugins: [
      ...(shown ? [verticalMark(shown.value, shown.label, theme)] : []),
      whiskers(
        bars,
        bars.map(({ text, value }) => text ?? valueWith(unit, value)),
        theme,
      ),
    ],
  } as ChartConfiguration;
}

/** Pixels of a tick, and of the space on both sides of its name: chart.js's own. */
const besideName = 8 + 2 * 3;

/** chart.js gives an axis half of a chart at most, which cuts names in narrow charts: compute the width that the names need. */
function wholeNames(axis: Scale): void {
  axis.ctx.font = `12px ${font}`;
  const words = axis.getLabels().flat();
  axis.width = Math.max(axis.width, ...words.map((word) => axis.ctx.measureText(word).width + besideName));
}

function saidOf({ value, low, high, n }: BarPlot['bars'][number], unit: string): string {
  const of = n === undefined ? '' : `, n = ${n.toLocaleString('en-US')}`;
  return `${valueWith(unit, value)} (95 %: ${valueWith(unit, low)} to ${valueWith(unit, high)})${of}`;
}

/** The interval as a whisker over each bar, and the value next to it. */
const whiskers = (figures: readonly PlotEstimate[], texts: readonly string[], { ink, paper }: Theme): Plugin => ({
  id: 'whiskers',
  afterDatasetsDraw(chart: Drawing) {
    const { ctx, scales } = chart;
    ctx.save();
    ctx.lineJoin = 'round';
    ctx.textBaseline = 'middle';
    ctx.font = `12px ${font}`;
    chart.getDatasetMeta(0).data.forEach((bar, i) => {
      const { low, high } = figures[i]!;
      const [left, right, y] = [scales.x!.getPixelForValue(low), scales.x!.getPixelForValue(high), bar.y];
      ctx.strokeStyle = ink;
      ctx.lineWidth = 1.2;
      ctx.beginPath();
      ctx.moveTo(left, y);
      ctx.lineTo(right, y);
      for (const x of [left, right]) {
        ctx.moveTo(x, y - 3.5);
        ctx.lineTo(x, y + 3.5);
      }
      ctx.stroke();
      ctx.fillStyle = ink;
      const [text, x] = [texts[i]!, Math.max(right, bar.x) + 7];
      ctx.strokeStyle = paper;
      ctx.lineWidth = 3;
      ctx.strokeText(text, x, y);
      ctx.fillText(text, x, y);
    });
    ctx.restore();
  },
});

/** A dashed line across all bars with its name above the plot. */
const verticalMark = (value: number, label: string, { quiet }: Theme): Plugin => ({
  id: 'verticalMark',
  afterDatasetsDraw({ ctx, chartArea, scales }: Drawing) {
    const x = scales.x!.getPixelForValue(value);
    ctx.save();
    ctx.strokeStyle = quiet;
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    ctx.moveTo(x, chartArea.top);
    ctx.lineTo(x, chartArea.bottom);
    ctx.stroke();
    ctx.fillStyle = quiet;
    ctx.font = `11px ${font}`;
    ctx.textAlign = 'right';
    ctx.fillText(label, Math.min(x + ctx.measureText(label).width / 2, chartArea.right + 40), chartArea.top - 6);
    ctx.restore();
  },
});
