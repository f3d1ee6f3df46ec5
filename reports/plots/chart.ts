/** What all charts of a report share: colours, size, titles, axes, and what chart.js does not draw itself. */
import type { Chart as Drawing, Plugin } from 'chart.js';
import { shorten } from '../../src/run/printable.js';
import { brighter } from './colors.js';
import type { PlotEstimate } from './plot.js';

/** Colours of one time of day. */
export interface Theme {
  name: 'light' | 'dark';
  paper: string;
  ink: string;
  quiet: string;
  grid: string;
  /** What a colour of the palette, with or without two digits of opacity, becomes. */
  shade: (color: string) => string;
}

/** By day. */
export const light: Theme = {
  name: 'light',
  paper: '#ffffff',
  ink: '#1f2933',
  quiet: '#66727d',
  grid: '#e9edf0',
  shade: (color) => color,
};

/** By night. */
export const dark: Theme = {
  name: 'dark',
  paper: '#15191c',
  ink: '#e3e8eb',
  quiet: '#9aa6af',
  grid: '#2a3137',
  shade: (color) => (brighter[color.slice(0, 7)] ?? color.slice(0, 7)) + color.slice(7),
};

/** Of a picture, in CSS pixels. */
export interface Size {
  /** CSS pixels; the picture has twice as many each way. */
  width: number;
  height: number;
}

/** What a reader chose of an interactive chart. */
export interface View {
  /** Place among the axes of a plot of lines. */
  axis: number;
  logX: boolean;
  logY: boolean;
  /** Points of the moving mean, odd; 1 smooths nothing. */
  window: number;
  /** Labels of what is switched off. */
  hidden: ReadonlySet<string>;
  /** What the reader zoomed to, in data units. */
  x?: { min: number; max: number };
  y?: { min: number; max: number };
}

/** CSS pixels. So wide that three stand side by side on a desk, and letters can still be read where one fills a phone. */
export const chartWidth = 380;

/**
 * The family of charts in pictures: Inter, which comes with the package, so that they look the same on every machine and need
 * none of its fonts. A letter that Inter lacks is taken from the machine, and is a box where that has none.
 */
export const chartFont = 'kgwalk Inter';

/** The font of the package, in a browser the reader's, and what the machine has for letters beyond it. */
export const font = `"${chartFont}", Inter, system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif`;

/** In a picture the title; no legend but where it is asked for. @param below pixels between title and plot */
export function plugins(title: string, { ink, paper, quiet }: Theme, view: View | undefined, below = 10) {
  return {
    legend: { display: false },
    tooltip: {
      enabled: view !== undefined,
      backgroundColor: ink,
      titleColor: paper,
      bodyColor: paper,
      borderColor: quiet,
      titleFont: { family: font, size: 12 },
      bodyFont: { family: font, size: 12 },
      padding: 8,
      boxPadding: 4,
      usePointStyle: true,
    },
    title: {
      display: view === undefined,
      text: inLines(title, 50),
      align: 'start' as const,
      color: ink,
      font: { family: font, size: 13, weight: 'bold' as const },
      padding: { top: 2, bottom: below },
    },
  };
}

/** @param label what it counts, with its unit */
export function axis({ grid, quiet }: Theme, label?: string) {
  const title = { display: label !== undefined, text: label, color: quiet, font: { family: font, size: 12 } };
  return { border: { display: false }, grid: { color: grid, drawTicks: false }, title };
}

/** @param percent values are fractions that read as percent */
export function ticks({ quiet }: Theme, percent = false) {
  return {
    color: quiet,
    font: { family: font, size: 12 },
    maxTicksLimit: 6,
    maxRotation: 0,
    autoSkipPadding: 10,
    callback: percent ? asPercent : asNumber,
  };
}

/** What chart.js is told where the browser drives it: the page, not the chart, follows the pointer and the keys. */
export const driven = { animation: false as const, events: [], responsive: true, maintainAspectRatio: false };

/** `61.8 %`, `0.7321`, `12,400`: a value with its unit as tooltips say it. */
export function valueWith(unit: string, value: number): string {
  if (unit === '%') return `${(100 * value).toFixed(1)} %`;
  return asNumber(value) + (unit === '' || unit === 'mean' || unit === 'number' ? '' : ` ${unit}`);
}

function asPercent(value: number | string): string {
  return `${Number((Number(value) * 100).toFixed(1))} %`;
}

/** Three significant digits, four beyond a thousand. */
export function asNumber(value: number | string): string {
  const number = Number(Number(value).toPrecision(3));
  if (number !== 0 && Math.abs(number) < 1e-3) return number.toExponential().replace('-', '−');
  return number.toLocaleString('en-US', { maximumSignificantDigits: 4 });
}

/** A long label in lines, parted at spaces where there are some; the last is cut. @param most lines */
export function inLines(text: string, limit: number, most = 2): string | string[] {
  if (text.length <= limit) return text;
  if (most === 1) return shorten(text, limit);
  const space = text.lastIndexOf(' ', limit);
  const end = space > 0 ? space : limit;
  return [text.slice(0, end), inLines(text.slice(end).trim(), limit, most - 1)].flat();
}

/** A name at the end of a line. */
interface EndLabel {
  label: string;
  color: string;
  /** In data units; NaN is not drawn. */
  value: number;
}

const lineHeight = 14;

/** Names at the right of the plot, each at the height of its value, moved apart where they would overlap. */
export function endLabels(labels: readonly EndLabel[]): Plugin {
  return {
    id: 'endLabels',
    afterDatasetsDraw({ ctx, chartArea, scales }: Drawing) {
      const wanted = labels
        .filter(({ value }) => Number.isFinite(value))
        .map((label) => ({ ...label, y: scales.y!.getPixelForValue(label.value) }))
        .sort((a, b) => a.y - b.y);
      const heights = spreadOut(
        wanted.map(({ y }) => y),
        lineHeight,
        chartArea.top,
        chartArea.bottom,
      );
      ctx.save();
      ctx.textBaseline = 'middle';
      ctx.font = `12px ${font}`;
      wanted.forEach(({ label, color }, i) => {
        ctx.fillStyle = color;
        ctx.fillText(label, chartArea.right + 8, heights[i]!);
      });
      ctx.restore();
    },
  };
}

/**
 * Moves ascending positions as little as a sweep down and a sweep up need to keep them `gap` apart inside the bounds;
 * more labels than fit overlap at the top.
 */
export function spreadOut(positions: readonly number[], gap: number, top: number, bottom: number): number[] {
  const moved = [...positions];
  for (let i = 0; i < moved.length; i++) moved[i] = Math.max(moved[i]!, i === 0 ? top : moved[i - 1]! + gap);
  for (let i = moved.length - 1; i >= 0; i--) {
    moved[i] = Math.min(moved[i]!, i === moved.length - 1 ? bottom : moved[i + 1]! - gap);
  }
  return moved;
}

/** The interval as a line with ends over each bar, and the value beside it. */
export function whiskers(figures: readonly PlotEstimate[], texts: readonly string[], { ink, paper }: Theme): Plugin {
  return {
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
  };
}

/** A dashed line across all bars with its name above the plot. */
export function verticalMark(value: number, label: string, { quiet }: Theme): Plugin {
  return {
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
  };
}
