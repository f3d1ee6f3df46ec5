/** Bars of what agents on dialogues reach. */
import { barChart } from './bar-chart.js';
import { interval, percent, plain } from './numbers.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import type { ResultRow, ResultSet } from './results.js';
import { shownKs } from './results.js';
import { palette } from './theme.js';

/** Bars of path@k and target@k, for the smallest, a middle and the largest k; `first` those of one answer, else the others. */
export function resultFigures({ rows, n }: ResultSet, setName: string, first: boolean): ChartGroup[] {
  const bound = Math.max(0, ...rows.map(({ record }) => record.coverage?.reachable ?? 0));
  const charts = ['path', 'target'].flatMap((name) =>
    shownKs(rows, name).flatMap((k): NamedChart[] => {
      if ((k === 1) !== first) return [];
      const key = `${name}@${k}`;
      const bars = rows.flatMap((row) => {
        const figure = row.metrics[key];
        return figure ? [{ label: row.label, figure, ...colorOf(row) }] : [];
      });
      const level =
        name === 'path' && bound > 0 && bound < 0.9995
          ? { label: `at most ${percent(bound)}`, value: bound }
          : undefined;
      const said = bars.map(({ label, figure }) => `${label} ${percent(figure.value)} (${interval(figure)[0]!})`);
      const title = `${key}, % of ${plain(n)} samples`;
      return [
        {
          name: `${setName}-${key}`,
          alt: `${title}, with 95 % intervals: ${said.join(', ')}`,
          chart: barChart(bars, { title, percent: true, bound: level }),
        },
      ];
    }),
  );
  const caption =
    'Share of samples whose gold is among the first k. Whiskers: 95\u00a0% bootstrap interval over dialogues. Colour: trained agents; grey: baselines.';
  return charts.length > 0 ? [{ charts, caption }] : [];
}

/** The colour of a group's curves, paler for all but its best checkpoint; baselines have none. */
function colorOf({ own, group, record }: ResultRow): { color?: string } {
  const color = palette[group % palette.length]!;
  return own ? { color: record.checkpoint === 'best' ? color : `${color}99` } : {};
}
