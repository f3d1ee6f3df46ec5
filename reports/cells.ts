/** Figures as cells of a table. */
import type { Cell } from './html.js';
import { interval, percent } from './numbers.js';
import type { Figure } from './results.js';

/** A share in percent over its interval. */
export function shareCell(figure: Figure | undefined): Cell {
  return figure ? { text: percent(figure.value), details: interval(figure) } : { text: '' };
}

/** A count over its interval. */
export function countCell(figure: Figure | undefined): Cell {
  return figure
    ? { text: figure.value.toFixed(1), details: [`${figure.low.toFixed(1)}–${figure.high.toFixed(1)}`] }
    : { text: '' };
}
