/**
 * A chart as plain JSON. One description is drawn as PNG by Node and as an interactive chart by the browser, by the same code:
 * nothing here, nor in its neighbours, knows of files or of a document.
 */

/** A number; null where there is none: JSON knows no NaN. */
export type Value = number | null;

interface Titled {
  title: string;
  /** Of the values; `%` are fractions that read as percent, all else is a number with that word behind it or none. */
  unit: string;
}

/** One line: its seeds, or one course of values with the interval that came with them. */
export interface PlotLine {
  label: string;
  /** Of the palette: `agentColors` gives everybody one. */
  color: string;
  /** Set where colours were used up. */
  dashed?: boolean;
  /** Places on each axis of the plot, ascending; an axis that is not known for this line is missing or null. */
  x: readonly (readonly Value[] | null)[];
  /** One array a seed, as logged: the line is their smoothed mean, with its 95 % interval (Student's t) from three seeds on. */
  seeds: readonly (readonly Value[])[];
  /** One array a seed, as logged, where `seeds` are smoothed already: thin lines behind. */
  raw?: readonly (readonly Value[])[];
  /** An interval that was measured; that over seeds is not drawn then. */
  low?: readonly Value[];
  high?: readonly Value[];
}

/** A level to compare with, such as a baseline's score. */
export interface Level {
  label: string;
  value: number;
}

/** Lines with bands and thin lines of seeds. */
export interface LinePlot extends Titled {
  kind: 'lines';
  /** What each horizontal axis counts, with its unit; the first is shown first, the others at a choice. */
  axes: readonly string[];
  lines: readonly PlotLine[];
  levels?: readonly Level[];
  /** Places that are marked on the axis, which begins before the first. Default: round numbers from 0. */
  marks?: readonly number[];
  /** Points of the centred moving mean that is shown first, odd. Default 1, which smooths nothing. */
  window?: number;
  /** Whether the reader may smooth. Default: where any line has 10 points or more and no interval of its own. */
  smooths?: boolean;
  /** The value axis begins at 0. Default: where the values do. */
  fromZero?: boolean;
  /** A value holds until the next. Default: straight lines between them. */
  stepped?: boolean;
  /** CSS pixels. Default 250. */
  height?: number;
}

/** An estimate with its interval. */
export interface PlotEstimate {
  value: number;
  low: number;
  high: number;
}

/** Horizontal bars with intervals. */
export interface BarPlot extends Titled {
  kind: 'bars';
  bars: readonly (PlotEstimate & {
    label: string;
    color: string;
    /** The value as tables write it. Default: as axes do. */
    text?: string;
    /** Samples behind it. */
    n?: number;
  })[];
  /** A level that no bar can exceed; shown where it is not far from them. */
  bound?: Level;
}

/** Points with intervals both ways over a logarithmic axis at whose left end 0 has a place of its own. */
export interface ScatterPlot extends Titled {
  kind: 'scatter';
  xLabel: string;
  points: readonly {
    label: string;
    color: string;
    /** Not below 0; its interval is drawn where it has one. */
    x: { value: number } & Partial<PlotEstimate>;
    y: PlotEstimate;
  }[];
}

/** See each. */
export type Plot = LinePlot | BarPlot | ScatterPlot;
