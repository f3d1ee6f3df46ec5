/** Charts of agents on the same samples: scores as bars, and scores against cost. */
import type { Section } from '../src/run/evaluation.js';
import { intervalText, numberText, type Figure } from '../src/run/figures.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import { boundOf, choicesOf, headOf, mainRow, markOf, saidOf, type ResultRow, type ResultSet } from './results.js';
import { intervalsOver } from './statistics.js';
import { palette } from './plots/colors.js';
import type { BarPlot, PlotLine, ScatterPlot, Value } from './plots/plot.js';
import { largest, meanOf } from './plots/series.js';
import { listed, milliseconds, percent, plain, signed } from './format.js';

/** Findings as bars; undefined if there are none. @param title title of the chart */
export function sectionBars({ bars }: Pick<Section, 'bars'>, title: string): BarPlot | undefined {
  if (!bars?.length) return undefined;
  return { kind: 'bars', title, unit: '%', bars: bars.map((bar) => ({ ...bar, color: palette[0]! })) };
}

/** Bars of the findings of one evaluation under a heading. @param name file name prefix */
export function foundBars({ label, records }: ResultRow, title: string, name: string): ChartGroup[] {
  const section = records[0]!.sections.find((one) => one.title === title);
  const plot = section && sectionBars(section, `${title}, %: ${label}`);
  if (!plot) return [];
  const said = section.bars!.map((bar) => `${bar.label} ${intervalText(bar)!}`).join(', ');
  const alt = `${title}, in percent with 95 % intervals: ${said}`;
  const caption = 'Whiskers: 95\u00a0% bootstrap intervals.';
  return [{ caption, charts: [{ name: `${name}-${title.toLowerCase()}`, alt, plot }] }];
}

/** Bars with intervals for figures that at least one row has. @param name prefix of every file name */
export function barFigures(set: ResultSet, name: string, figures: readonly Figure[]): ChartGroup[] {
  const { rows, about } = set;
  const charts = figures.flatMap((figure): NamedChart[] => {
    const { key, unit } = figure;
    const bars = rows.flatMap(({ label, color, metrics }): BarPlot['bars'][number][] => {
      if (!metrics[key]) return [];
      const { value, low, high, n } = metrics[key];
      return [{ label, color, value, low, high, n, text: numberText(value, unit) }];
    });
    if (bars.length === 0 || (unit === 'calls' && bars.every(({ high }) => high === 0))) return [];
    const bound = boundOf(set, key);
    const level = bound === undefined ? undefined : { label: `walks reach ${numberText(bound, unit)}`, value: bound };
    const title = `${headOf(figure)} · n = ${plain(about.n)}${markOf(set)}`;
    const said = bars.map((bar) => `${bar.label} ${saidOf(bar, figure)}`);
    const alt = `${headOf(figure)}${markOf(set)}, of ${plain(about.n)} samples, with 95 % intervals: ${said.join(', ')}`;
    return [{ name: `${name}-${key}`, alt, plot: { kind: 'bars', title, unit, bars, bound: level } }];
  });
  const models = [...new Set(rows.flatMap(({ model }) => model ?? []))];
  const asked = models.length === 0 ? '' : ` Model: ${models.join(', ')}${set.simulated ? ', simulated' : ''}.`;
  const caption = `Of ${plain(about.n)} samples, failures included. Whiskers: 95\u00a0% bootstrap interval ${intervalsOver(set)}. In colour: agents that a run trained or that ask a model, each the same everywhere; grey: baselines.${asked}`;
  return charts.length > 0 ? [{ charts, caption }] : [];
}

/** Differences of the main figure from the set's subject, with their intervals: small ones show where bars from 0 hide them. */
export function differenceFigures(set: ResultSet, name: string): ChartGroup[] {
  const { rows, main, about } = set;
  const bars = rows.flatMap(({ label, color, difference }) =>
    difference ? [{ ...difference, label, color, text: signed(difference.value, main) }] : [],
  );
  if (bars.length < 2) return [];
  const title = `${headOf(main)} against ${mainRow(set).label} · n = ${plain(about.n)}${markOf(set)}`;
  const said = bars.map((bar) => `${bar.label} ${bar.text} (${signed(bar.low, main)} to ${signed(bar.high, main)})`);
  const plot: BarPlot = { kind: 'bars', title, unit: main.unit, bars };
  const caption = 'Paired differences on the same samples. Whiskers that cross 0: may be chance.';
  return [{ charts: [{ name: `${name}-differences`, alt: `${title}: ${said.join(', ')}`, plot }], caption }];
}

/** The main figure against calls and against time, if some agent calls a model. */
export function costFigures(set: ResultSet, name: string): ChartGroup[] {
  const { rows, main, figures } = set;
  if (rows.every(({ model }) => model === undefined)) return [];
  const calls = figures.find(({ unit }) => unit === 'calls');
  const axes = [
    {
      key: 'calls',
      write: (value: number) => `${plain(Number(value.toPrecision(2)))} calls`,
      xOf: ({ metrics, cost }: ResultRow) =>
        (calls && metrics[calls.key]) ?? (cost.calls && { value: cost.calls.mean }),
    },
    {
      key: 'seconds',
      write: (value: number) => milliseconds(1000 * value),
      xOf: ({ speed }: ResultRow) => speed && { value: speed.msPerSample / 1000 },
    },
  ];
  const charts = axes.flatMap(({ key, xOf, write }): NamedChart[] => {
    const points = rows.flatMap((row): ScatterPlot['points'][number][] => {
      const [x, y] = [xOf(row), row.metrics[main.key]];
      return x && y ? [{ label: row.label, color: row.color, x, y }] : [];
    });
    if (points.length < 2) return [];
    const xLabel = `${key} a sample`;
    const title = `${headOf(main)} against ${xLabel} · n = ${plain(set.about.n)}${markOf(set)}`;
    const said = points.map(({ label, x, y }) => `${label} ${saidOf(y, main)} at ${write(x.value)}`);
    const alt = `${title}, logarithmic, with 95 % intervals: ${said.join(', ')}`;
    const plot: ScatterPlot = { kind: 'scatter', title, unit: main.unit, xLabel: `${xLabel}, log scale`, points };
    return [{ name: `${name}-cost-${key}`, alt, plot }];
  });
  const caption = `Up and to the left is better. Whiskers: 95\u00a0% bootstrap intervals ${intervalsOver(set)}. Agents that ask no model stand at 0 calls, left of the logarithmic axis; time is wall time, preparing included.${rows.length > 10 ? ' Names that have no room are said where a mark is pointed at.' : ''}`;
  return charts.length > 0 ? [{ charts, caption }] : [];
}

/** Above this number of lines, one chart per way of choosing. */
const mostLines = 9;

const meanOfLines = (seeds: readonly (readonly Value[])[]) =>
  seeds[0]!.map((_, i) => meanOf(seeds.map((values) => values[i]!)));

/** Lines with one title: means over seeds, with the band of three or more. */
export function foundCurves(set: ResultSet, title: string, name: string): ChartGroup[] {
  const found = set.rows.flatMap((row) => {
    const curves = row.records.flatMap(({ sections }) => sections.find((one) => one.title === title)?.curve ?? []);
    return curves.length > 0 ? [{ row, curves }] : [];
  });
  const xs = found.flatMap(({ curves }) => curves.flatMap(({ points }) => points.map(([x]) => x)));
  const most = largest(xs);
  if (!(most > 0)) return [];
  const { x: xLabel, y, smooth = false, caption } = found[0]!.curves[0]!;
  // One step more than any run took, so that the last rise is visible; no more points than can be distinguished.
  const stride = Math.max(1, Math.ceil(most / 400));
  const steps = smooth
    ? [...new Set(xs)].sort((a, b) => a - b)
    : Array.from({ length: Math.ceil(most / stride) + 2 }, (_, i) => i * stride);
  const isMany = found.length > mostLines;
  const ways = Map.groupBy(found, ({ row }) => (isMany ? (choicesOf(row.records[0]!) ?? 'no model') : ''));
  const charts = [...ways].map(([way, some]): NamedChart => {
    const used = new Set<string>();
    const lines = some.map(({ row: { label, color }, curves }): PlotLine => {
      const seeds = curves.map(({ points }) => steps.map((x) => points.findLast(([begin]) => begin <= x)?.[1] ?? 0));
      const dashed = used.has(color) || undefined;
      used.add(color);
      // Fewer have no band.
      return { label, color, dashed, x: [steps], seeds: seeds.length > 2 ? seeds : [meanOfLines(seeds)] };
    });
    const head = `${title}${way && `, ${way}`}: ${y}, % · n = ${plain(set.about.n)}${markOf(set)}`;
    const ends = lines.map(({ label, seeds }) => `${label} ${percent(meanOfLines(seeds).at(-1)!)}`).join(', ');
    return {
      name: [name, title.toLowerCase(), ...(way ? [way] : [])].join('-'),
      alt: `${head}, by ${xLabel}, ${plain(steps[0]!)} to ${plain(most)}; at ${plain(most)}: ${ends}`,
      plot: {
        ...{ kind: 'lines', title: head, unit: '%', axes: [xLabel], lines },
        ...{ fromZero: true, stepped: !smooth, smooths: false, height: 300 },
      },
    };
  });
  const without = set.rows.filter((row) => found.every((one) => one.row !== row)).map(({ label }) => label);
  const said = caption ?? 'Of all samples, means over seeds; a sample counts from where it ended.';
  return [{ charts, caption: without.length > 0 ? `${said} Nothing to draw of ${listed(without)}.` : said }];
}
