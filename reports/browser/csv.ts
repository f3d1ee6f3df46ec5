/** The values of a chart as CSV (RFC 4180). */
import { csvCell } from '../../src/run/printable.js';
import type { Plot, PlotLine, Value } from '../plots/plot.js';
import { courseOf } from '../plots/smoothing.js';

/** One row per point or bar, with its interval; lines as logged, not smoothed. */
export function csvOf(plot: Plot): string {
  const rows =
    plot.kind === 'lines'
      ? linesRows(plot.lines, plot.axes)
      : plot.kind === 'bars'
        ? [
            ['name', 'value', 'low', 'high', 'n'],
            ...plot.bars.map(({ label, value, low, high, n }) => [label, value, low, high, n]),
          ]
        : [
            ['name', plot.xLabel, 'low', 'high', plot.title, 'low', 'high'],
            ...plot.points.map(({ label, x, y }) => [label, x.value, x.low, x.high, y.value, y.low, y.high]),
          ];
  return `${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

function linesRows(lines: readonly PlotLine[], axes: readonly string[]) {
  const most = Math.max(0, ...lines.map(({ seeds }) => seeds.length));
  const seedNames = most > 1 ? Array.from({ length: most }, (_, i) => `seed ${i + 1}`) : [];
  return [
    ['name', ...axes, 'value', 'low', 'high', ...seedNames],
    ...lines.flatMap((line) => {
      const { mean, low, high } = courseOf(line, 1);
      return mean.map((value, i) => [
        line.label,
        ...axes.map((_, a) => line.x[a]?.[i]),
        ...[value, low?.[i], high?.[i]],
        ...seedNames.map((_, s) => line.seeds[s]?.[i]),
      ]);
    }),
  ];
}

const cell = (value: string | Value | undefined) =>
  value === undefined || value === null || Number.isNaN(value) ? '' : csvCell(value);
