/** The values of a chart as CSV (RFC 4180). */
import type { Plot, PlotLine, Value } from '../plots/plot.js';
import { courseOf } from '../plots/smoothing.js';

/** One row a point of a line, a bar or a point, with its interval; of lines what was logged, not smoothed. */
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

function cell(value: string | Value | undefined): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  if (value === undefined || value === null) return '';
  // A name that a spreadsheet would take for a formula is made text.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
