/**
 * A chart as plain JSON, drawn by the same code as PNG in Node and as an interactive chart in a browser:
 * no file or document access here and in the neighbouring files.
 */

/** A number or null: JSON has no NaN. */
export type Value = number | null;

interface Titled {
  title: string;
  /** Unit of the values: `%` for fractions shown as percent, otherwise a suffix or nothing. */
  unit: string;
}

/** One line: its seeds, or one series of values with its interval. */
export interface PlotLine {
  label: string;
  /** Palette colour from `agentColors`. */
  color: string;
  /** Set once colours run out. */
  dashed?: boolean | undefined;
  /** x values on each axis of the plot, ascending; missing or null if the axis is unknown for this line. */
  x: readonly (readonly Value[] | null)[];
  /** One array per seed, as logged: the line is their smoothed mean with its 95 % interval (Student's t) from three seeds on. */
  seeds: readonly (readonly Value[])[];
  /** A measured interval; replaces the interval over seeds. */
  low?: readonly Value[];
  high?: readonly Value[];
}

/** A reference level, such as a baseline's score. */
export type Level = { label: string; value: number };

/** Lines with bands and thin lines of seeds. */
export interface LinePlot extends Titled {
  kind: 'lines';
  /** Titles of the horizontal axes with units; the first is the default, the others can be selected. */
  axes: readonly string[];
  lines: readonly PlotLine[];
  levels?: readonly Level[] | undefined;
  /** Ticks of the axis, which begins before the first. Default: round numbers from 0. */
  marks?: readonly number[] | undefined;
  /** Default window of the centred moving mean in points, odd. Default 1: unsmoothed. */
  window?: number;
  /** True if the reader may smooth. Default: if any line has 10 points or more and no measured interval. */
  smooths?: boolean;
  /** Thin lines in the background show what was logged. Default: smoothed seeds, of several. */
  showsLogged?: boolean;
  /** The value axis begins at 0. Default: at the smallest value. */
  fromZero?: boolean;
  /** Draws steps: a value holds until the next. Default: straight lines. */
  stepped?: boolean;
  /** CSS pixels. Default 250. */
  height?: number;
}

/** An estimate with its interval. */
export type PlotEstimate = { value: number; low: number; high: number };

/** Horizontal bars with intervals. */
export interface BarPlot extends Titled {
  kind: 'bars';
  bars: readonly (PlotEstimate & {
    label: string;
    color: string;
    /** The value as formatted in tables. Default: as on axes. */
    text?: string;
    n?: number;
  })[];
  /** An upper bound for the bars; shown if it is close to them. */
  bound?: Level | undefined;
}

/** Points with intervals in both directions over a logarithmic axis with a separate position for 0 at its left end. */
export interface ScatterPlot extends Titled {
  kind: 'scatter';
  xLabel: string;
  points: readonly {
    label: string;
    color: string;
    /** Non-negative; its interval is drawn if there is one. */
    x: { value: number } & Partial<PlotEstimate>;
    y: PlotEstimate;
  }[];
}

/** See each type. */
export type Plot = LinePlot | BarPlot | ScatterPlot;
