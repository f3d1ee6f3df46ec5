/** Shared parts of all charts: colours, size, titles, axes, and drawing that chart.js lacks. */
import type { Chart as Drawing, Plugin } from 'chart.js';
import { shorten } from '../../src/run/printable.js';
import { brighter } from './colors.js';
import type { PlotEstimate } from './plot.js';

/** Colours of light or dark mode. */
export interface Theme {
  name: 'light' | 'dark';
  paper: string;
  ink: string;
  quiet: string;
  grid: string;
  /** Maps a palette colour, with or without two digits of opacity, to this mode. */
  shade: (color: string) => string;
}

/** Light mode. */
export const light: Theme = {
  name: 'light',
  paper: '#ffffff',
  ink: '#1f2933',
  quiet: '#66727d',
  grid: '#e9edf0',
  shade: (color) => color,
};

/** Dark mode. */
export const dark: Theme = {
  name: 'dark',
  paper: '#15191c',
  ink: '#e3e8eb',
  quiet: '#9aa6af',
  grid: '#2a3137',
  shade: (color) => (brighter[color.slice(0, 7)] ?? color.slice(0, 7)) + color.slice(7),
};

/** Size of a picture in CSS pixels. */
export interface Size {
  /** CSS pixels; the picture has twice as many in each direction. */
  width: number;
  height: number;
}

/** The reader's choices in an interactive chart. */
export interface View {
  axis: number;
  logX: boolean;
  logY: boolean;
  /** Window of the moving mean in points, odd; 1 is unsmoothed. */
  window: number;
  /** Labels that are switched off. */
  hidden: ReadonlySet<string>;
  /** Zoom ranges in data units. */
  x?: { min: number; max: number } | undefined;
  y?: { min: number; max: number } | undefined;
}

/** CSS pixels: three charts fit side by side on a desktop, and one is legible on a phone. */
export const chartWidth = 380;

/**
 * Font family of charts in pictures: Inter, included in the package, so that pictures look the same on every machine.
 * Letters that Inter lacks come from the machine's fonts, and are boxes if it has none.
 */
export const chartFont = 'kgwalk Inter';

/** The package's font, the reader's in a browser, then the machine's for missing letters. */
export const font = `"${chartFont}", Inter, system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif`;

/** Title in pictures; legend on request only. @param below pixels between title and plot */
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

/** @param label axis title with unit */
export function axis({ grid, quiet }: Theme, label?: string) {
  const title = { display: label !== undefined, text: label, color: quiet, font: { family: font, size: 12 } };
  return { border: { display: false }, grid: { color: grid, drawTicks: false }, title };
}

/** @param percent values are fractions shown as percent */
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

/** chart.js options in a browser: the page handles pointer and keys, not the chart. */
export const driven = { animation: false as const, events: [], responsive: true, maintainAspectRatio: false };

/** A value with its unit for tooltips: `61.8 %`, `0.7321`, `12,400`. */
export function valueWith(unit: string, value: number): string {
  if (unit === '%') return `${(100 * value).toFixed(1)} %`;
  return asNumber(value) + (unit === '' || unit === 'mean' || unit === 'number' ? '' : ` ${unit}`);
}

function asPercent(value: number | string): string {
  return `${Number((Number(value) * 100).toFixed(1))} %`;
}

/** Three significant digits, four beyond a thousand. */
function asNumber(value: number | string): string {
  const number = Number(Number(value).toPrecision(3));
  if (number !== 0 && Math.abs(number) < 1e-3) return number.toExponential().replace('-', '−');
  return number.toLocaleString('en-US', { maximumSignificantDigits: 4 });
}

/** Breaks a long label into lines, at spaces where possible; the last line is cut. @param most lines */
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

/** Labels at the right edge of the plot at the height of their values, moved apart where they would overlap. */
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
 * Moves ascending positions by the least that keeps them `gap` apart within the bounds (one sweep down, one up); labels
 * that do not fit overlap at the top.
 */
export function spreadOut(positions: readonly number[], gap: number, top: number, bottom: number): number[] {
  const moved = [...positions];
  for (let i = 0; i < moved.length; i++) moved[i] = Math.max(moved[i]!, i === 0 ? top : moved[i - 1]! + gap);
  for (let i = moved.length - 1; i >= 0; i--) {
    moved[i] = Math.min(moved[i]!, i === moved.length - 1 ? bottom : moved[i + 1]! - gap);
  }
  return moved;
}

/** The interval as a whisker over each bar, and the value next to it. */
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
