/** Converts the JSON of a chart to a chart.js configuration: curves here, labelled in pictures at their ends or, with long names, below. */
import type { Chart as Drawing, ChartConfiguration, ChartDataset, LegendItem, Plugin, ScaleOptions } from 'chart.js';
import { shorten } from '../../src/run/printable.js';
import { barConfig, barHeight } from './bars.js';
import {
  axis,
  chartWidth,
  driven,
  font,
  plugins,
  ticks,
  valueWith,
  type Size,
  type Theme,
  type View,
} from './chart.js';
import type { Level, LinePlot, Plot, PlotLine, Value } from './plot.js';
import { scatterConfig } from './scatter.js';
import { courseOf, type Course } from './series.js';

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

/** Longer names are listed below the plot. */
const longestAtEnd = 14;
const longestBelow = 46;

interface DrawnLine extends Course {
  label: string;
  color: string;
  dashed: boolean;
  /** x values on the chosen axis. */
  at: number[];
  /** Thin lines in the background. */
  faint: readonly (readonly Value[])[];
}

/** A chart.js dataset with its line; undefined for bands, seeds and levels. */
export type LineDataset = ChartDataset<'line', { x: number; y: number }[]> & { line?: string };

/** CSS pixels of the picture. */
function lineHeight({ lines, levels = [], height = 250 }: LinePlot): number {
  const named = [...lines, ...levels];
  return height + (namesOf({ lines, levels }).below ? 17 * rowsOfNames(named) : 0);
}

function namesOf({ lines, levels = [] }: Pick<LinePlot, 'lines' | 'levels'>) {
  const isNamed = lines.length > 1 || levels.length > 0;
  const longest = Math.max(...[...lines, ...levels].map(({ label }) => label.length));
  const atEnds = isNamed && longest <= longestAtEnd;
  return { longest, atEnds, below: isNamed && !atEnds };
}

/** Mean curves over seeds with shaded intervals, and each seed as a faint line. */
function lineConfig(plot: LinePlot, theme: Theme, view?: View): ChartConfiguration {
  const { title, unit, axes, levels = [], marks, fromZero = false, stepped = false } = plot;
  const chosen = view?.axis ?? 0;
  const lines = plot.lines.filter(({ label }) => !view?.hidden.has(label)).map((line) => drawnLine(line, plot, view));
  const shownLevels = levels.filter(({ label }) => !view?.hidden.has(label));
  const { longest, atEnds, below } = namesOf(plot);
  const inside = view === undefined;
  const [first, last] = extent(lines);
  const begin = view?.logX ? first : marks ? first - (last - first) / 20 : Math.min(0, first);
  const percent = unit === '%';
  return {
    type: 'line',
    data: {
      datasets: [
        ...lines.flatMap((line) => lineDatasets(line, stepped, theme)),
        ...shownLevels.map((level, i) => levelDataset(level, i, [begin, last], theme)),
      ],
    },
    options: {
      ...(view && driven),
      layout: { padding: { top: 4, right: inside && atEnds ? 12 + 6.4 * longest : 16, bottom: 2, left: 2 } },
      plugins: {
        ...plugins(title, theme, view),
        legend: legend(inside && below, theme),
        tooltip: { ...plugins(title, theme, view).tooltip, callbacks: tooltipOf(plot, lines, chosen) },
      },
      scales: {
        x: {
          type: view?.logX ? 'logarithmic' : 'linear',
          // With several axes, the axis selector shows the title.
          ...axis(theme, view && axes.length > 1 ? undefined : axes[chosen]),
          ticks: { ...ticks(theme), includeBounds: false },
          ...(marks && {
            afterBuildTicks: (scale: { ticks: { value: number }[] }) => {
              scale.ticks = marks.map((value) => ({ value }));
            },
          }),
          min: view?.x?.min ?? begin,
          max: view?.x?.max ?? last,
        },
        y: {
          type: view?.logY ? 'logarithmic' : 'linear',
          ...axis(theme),
          beginAtZero: fromZero && !view?.logY,
          ...(percent && !view?.x && !view?.logY && shareBounds(lines)),
          ...view?.y,
          ticks: ticks(theme, percent),
        },
      } as unknown as Record<string, ScaleOptions<'linear'>>,
    },
    plugins: inside && atEnds ? [endLabels(namesAtEnds(lines, shownLevels, theme))] : [],
  } as ChartConfiguration;
}

function drawnLine(line: PlotLine, plot: LinePlot, view: View | undefined): DrawnLine {
  const { window = plot.window ?? 1, axis: chosen = 0 } = view ?? {};
  const places = line.x[chosen] ?? line.x[0] ?? [];
  const at = places.map((value) => (value === null || (view?.logX && value <= 0) ? NaN : value));
  const { label, color, dashed = false } = line;
  const course = courseOf(line, window);
  const faint = plot.showsLogged && window > 1 ? line.seeds : line.seeds.length > 1 ? course.seeds : [];
  return { label, color, dashed, ...course, at, faint };
}

const tooltipOf = ({ axes, unit }: LinePlot, lines: readonly DrawnLine[], chosen: number) => ({
  title: (items: { parsed: { x: number | null } }[]) =>
    items[0] ? `${axes[chosen] ?? ''}: ${valueWith('', items[0].parsed.x ?? NaN)}` : '',
  label: ({ dataset, dataIndex }: { dataset: object; dataIndex: number }) => {
    const { line } = dataset as LineDataset;
    const one = lines.find(({ label }) => label === line);
    return one ? `${one.label}: ${pointText(one, dataIndex, unit)}` : '';
  },
});

/** `61.8 % (59.9 to 63.7)`. */
function pointText({ mean, low, high }: Course, i: number, unit: string): string {
  const band =
    low && high && Number.isFinite(low[i]) ? ` (${valueWith(unit, low[i]!)} to ${valueWith(unit, high[i]!)})` : '';
  return valueWith(unit, mean[i]!) + band;
}

/** Rows of names below the plot, each next to a stroke of its line. */
function rowsOfNames(named: readonly { label: string }[]): number {
  let [rows, used] = [1, 0];
  for (const { label } of named) {
    const width = 34 + 6.4 * Math.min(label.length, longestBelow);
    if (used > 0 && used + width > chartWidth - 20) [rows, used] = [rows + 1, 0];
    used += width;
  }
  return rows;
}

const namesAtEnds = (lines: readonly DrawnLine[], levels: readonly Level[], { quiet, shade }: Theme) => [
  ...lines.map(({ label, color, mean }) => ({ label, color: shade(color), value: mean.at(-1) ?? NaN })),
  ...levels.map((level) => ({ ...level, color: quiet })),
];

function legend(display: boolean, { ink }: Theme) {
  return {
    display,
    position: 'bottom' as const,
    align: 'start' as const,
    // Only labelled datasets: neither bands nor single seeds.
    labels: {
      color: ink,
      font: { family: font, size: 12 },
      boxWidth: 22,
      boxHeight: 0,
      padding: 5,
      filter: ({ text }: LegendItem) => Boolean(text),
    },
  };
}

function lineDatasets(line: DrawnLine, stepped: boolean, { shade }: Theme): LineDataset[] {
  const { label, color, dashed, at, mean, low, high } = line;
  const points = (values: readonly Value[]) => at.map((x, i) => ({ x, y: values[i] ?? NaN }));
  const thin = { pointRadius: 0, borderWidth: 0, label: '' };
  const band: LineDataset[] =
    low && high
      ? [
          { data: points(low), ...thin },
          { data: points(high), ...thin, fill: '-1', backgroundColor: shade(`${color}26`) },
        ]
      : [];
  const faint = line.faint.map((one) => ({
    data: points(one),
    ...thin,
    borderWidth: 1,
    borderColor: shade(`${color}40`),
  }));
  return [
    ...band,
    ...faint,
    {
      line: label,
      label: shorten(label, longestBelow),
      data: points(mean),
      borderColor: shade(color),
      borderWidth: 2.2,
      ...(dashed && { borderDash: [6, 4] }),
      stepped,
      pointRadius: at.length <= 20 && !stepped ? 2.5 : 0,
      pointHoverRadius: 4.5,
      pointBackgroundColor: shade(color),
      pointBorderWidth: 0,
      clip: 4,
    },
  ];
}

const levelDataset = ({ label, value }: Level, i: number, ends: readonly number[], { quiet }: Theme): LineDataset => ({
  label: shorten(label, longestBelow),
  data: ends.map((x) => ({ x, y: value })),
  borderColor: quiet,
  borderWidth: 1.4,
  borderDash: i === 0 ? [5, 4] : [1.5, 3],
  pointRadius: 0,
});

/** Axes of shares stay within 0 % and 100 %, even if an interval does not. */
function shareBounds(lines: readonly Course[]): { min?: number; max?: number } {
  const values = lines.flatMap(({ mean, low = [], high = [] }) => [...mean, ...low, ...high]);
  return {
    ...(values.some((value) => value < 0) && { min: 0 }),
    ...(values.some((value) => value > 0.85) && { max: 1 }),
  };
}

function extent(lines: readonly DrawnLine[]): [first: number, last: number] {
  let [first, last] = [Infinity, Number.MIN_VALUE];
  for (const { at } of lines) {
    for (const x of at) {
      if (x < first) first = x;
      if (x > last) last = x;
    }
  }
  return [Number.isFinite(first) ? first : 0, last];
}

/** A name at the end of a line. */
interface EndLabel {
  label: string;
  color: string;
  /** In data units; NaN is not drawn. */
  value: number;
}

const labelHeight = 14;

/** Labels at the right edge of the plot at the height of their values, moved apart where they would overlap. */
const endLabels = (labels: readonly EndLabel[]): Plugin => ({
  id: 'endLabels',
  afterDatasetsDraw({ ctx, chartArea, scales }: Drawing) {
    const wanted = labels
      .filter(({ value }) => Number.isFinite(value))
      .map((label) => ({ ...label, y: scales.y!.getPixelForValue(label.value) }))
      .sort((a, b) => a.y - b.y);
    const heights = spreadOut(
      wanted.map(({ y }) => y),
      labelHeight,
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
});

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
