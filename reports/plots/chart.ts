/** Shared parts of all charts: colours, size, titles, axes, numbers. */
import { shorten } from '../../src/run/printable.js';
import { brighter } from './colors.js';

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
export const plugins = (title: string, { ink, paper, quiet }: Theme, view: View | undefined, below = 10) => ({
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
});

/** @param label axis title with unit */
export function axis({ grid, quiet }: Theme, label?: string) {
  const title = { display: label !== undefined, text: label, color: quiet, font: { family: font, size: 12 } };
  return { border: { display: false }, grid: { color: grid, drawTicks: false }, title };
}

/** @param percent values are fractions shown as percent */
export const ticks = ({ quiet }: Theme, percent = false) => ({
  color: quiet,
  font: { family: font, size: 12 },
  maxTicksLimit: 6,
  maxRotation: 0,
  autoSkipPadding: 10,
  callback: percent ? asPercent : asNumber,
});

/** chart.js options in a browser: the page handles pointer and keys, not the chart. */
export const driven = { animation: false as const, events: [], responsive: true, maintainAspectRatio: false };

/** A value with its unit for tooltips: `61.8 %`, `0.7321`, `12,400`. */
export function valueWith(unit: string, value: number): string {
  if (unit === '%') return `${(100 * value).toFixed(1)} %`;
  return asNumber(value) + (unit === '' || unit === 'mean' || unit === 'number' ? '' : ` ${unit}`);
}

const asPercent = (value: number | string): string => `${Number((Number(value) * 100).toFixed(1))} %`;

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
