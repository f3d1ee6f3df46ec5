/** From the JSON of a chart to what chart.js draws. */
import type { ChartConfiguration } from 'chart.js';
import { barConfig, barHeight } from './bars.js';
import { chartWidth, type Size, type Theme, type View } from './chart.js';
import { lineConfig, lineHeight } from './lines.js';
import type { Plot } from './plot.js';
import { scatterConfig } from './scatter.js';

/**
 * What chart.js draws.
 * @param view what a reader chose; absent for a picture, which has title and names inside
 */
export function configOf(plot: Plot, theme: Theme, view?: View): ChartConfiguration {
  if (plot.kind === 'lines') return lineConfig(plot, theme, view);
  return plot.kind === 'bars' ? barConfig(plot, theme, view) : scatterConfig(plot, theme, view);
}

/** Of the picture; an interactive chart takes the width it is given. */
export function sizeOf(plot: Plot): Size {
  const height = plot.kind === 'lines' ? lineHeight(plot) : plot.kind === 'bars' ? barHeight(plot) : 300;
  return { width: chartWidth, height };
}
