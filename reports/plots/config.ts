/** Converts the JSON of a chart to a chart.js configuration. */
import type { ChartConfiguration } from 'chart.js';
import { barConfig, barHeight } from './bars.js';
import { chartWidth, type Size, type Theme, type View } from './chart.js';
import { lineConfig, lineHeight } from './lines.js';
import type { Plot } from './plot.js';
import { scatterConfig } from './scatter.js';

/** Configuration for chart.js. @param view the reader's choices; absent for a picture, which contains title and names */
export function configOf(plot: Plot, theme: Theme, view?: View): ChartConfiguration {
  if (plot.kind === 'lines') return lineConfig(plot, theme, view);
  return plot.kind === 'bars' ? barConfig(plot, theme, view) : scatterConfig(plot, theme, view);
}

/** Size of the picture; an interactive chart fills its container. */
export function sizeOf(plot: Plot): Size {
  const height = plot.kind === 'lines' ? lineHeight(plot) : plot.kind === 'bars' ? barHeight(plot) : 300;
  return { width: chartWidth, height };
}
