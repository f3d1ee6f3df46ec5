/** What all charts of a report share: their size, titles, axes and how numbers stand at them. */
import type { ChartConfiguration } from 'chart.js';
import type { Size } from './canvas.js';
import type { Theme } from './theme.js';

/** A chart and the size it is drawn at. */
export interface Chart {
  config: (theme: Theme) => ChartConfiguration;
  size: Size;
}

/** CSS pixels. So wide that three stand side by side on a desk, and letters can still be read where one fills a phone. */
export const chartWidth = 380;

/** The first of these that a machine has. */
export const font = 'Inter, "Helvetica Neue", Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif';

/** The title; no tooltip, and a legend only where it is asked for. @param below pixels between title and plot */
export function plugins(title: string, { ink }: Theme, below = 10) {
  return {
    legend: { display: false },
    tooltip: { enabled: false },
    title: {
      display: true,
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
    callback: percent ? asPercent : asNumber,
  };
}

function asPercent(value: number | string): string {
  return `${Number((Number(value) * 100).toFixed(1))} %`;
}

function asNumber(value: number | string): string {
  const number = Number(Number(value).toPrecision(3));
  if (number !== 0 && Math.abs(number) < 1e-3) return number.toExponential().replace('-', '−');
  return number.toLocaleString('en-US', { maximumSignificantDigits: 4 });
}

/** A long label in two lines, parted at a space where there is one. */
export function inLines(text: string, limit: number): string | string[] {
  if (text.length <= limit) return text;
  const space = text.lastIndexOf(' ', limit);
  const end = space > 0 ? space : limit;
  return [text.slice(0, end), shorten(text.slice(end).trim(), limit)];
}

/** Cuts a text to `limit` UTF-16 units, an ellipsis included. */
export function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
