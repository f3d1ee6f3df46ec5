/** How agents bear a simulated model that errs: figures and calls against its error rate. */
import { numberText, type Figure } from '../src/run/figures.js';
import type { Table } from './html.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import type { PlotLine } from './plots/plot.js';
import { headOf, mainFigures, oracleError, type ResultRow, type ResultSet } from './results.js';
import { figureCell } from './tables.js';
import { plain } from './words.js';

/** One agent over error rates. */
interface NoiseRow {
  label: string;
  color: string;
  /** By error rate, ascending. */
  levels: { error: number; result: ResultRow }[];
}

/** The same samples under several error rates. */
export interface NoiseSet {
  /** One of the sets, for what they share. */
  set: ResultSet;
  /** Error rates, ascending, fractions. */
  errors: number[];
  rows: NoiseRow[];
}

/** Samples that were asked of oracles of at least two error rates. */
export function collectNoise(sets: readonly ResultSet[]): NoiseSet[] {
  const simulated = sets.flatMap((set) => {
    const error = oracleError(set.simulated);
    return error === undefined ? [] : [{ error, set }];
  });
  return [...new Set(simulated.map(({ set }) => set.samples))].flatMap((samples): NoiseSet[] => {
    const levels = simulated.filter(({ set }) => set.samples === samples).sort((a, b) => a.error - b.error);
    if (levels.length < 2) return [];
    const asked = levels.flatMap(({ set, error }) =>
      set.rows.flatMap((result) => (result.simulated ? [{ error, result }] : [])),
    );
    const rows = [...new Set(asked.map(({ result }) => result.label))].map((label): NoiseRow => {
      const own = asked.filter(({ result }) => result.label === label);
      return { label, color: own[0]!.result.color, levels: own };
    });
    return [{ set: levels[0]!.set, errors: levels.map(({ error }) => error), rows }];
  });
}

/** Figures of every table and calls, one line an agent. @param name begins every file name */
export function noiseFigures({ set, rows }: NoiseSet, name: string): ChartGroup {
  const charts = shownFigures(set).flatMap((figure): NamedChart[] => {
    const { key, unit } = figure;
    const lines = rows.flatMap((row) => noiseLine(row, key));
    if (lines.length === 0) return [];
    const title = `${headOf(figure)} (simulated)`;
    const xLabel = 'decisions in which the oracle errs, %';
    const write = (value: number) => `${numberText(value, unit)}${unit === '%' ? ' %' : ''}`;
    const said = lines.map(({ label, x: [steps], seeds: [values] }) => {
      const [first, last] = [steps[0]!, steps.at(-1)!].map((step) => `${plain(step)} %`);
      return `${label} from ${write(values[0]!)} at ${first} to ${write(values.at(-1)!)} at ${last}`;
    });
    const plot = { kind: 'lines', title, unit, axes: [xLabel], lines, fromZero: true } as const;
    return [{ name: `${name}-noise-${key}`, alt: `${title} against ${xLabel}: ${said.join(', ')}`, plot }];
  });
  const { n, clusters } = set.about;
  return {
    charts,
    caption: `Simulated: the oracle knows the gold and errs once a decision at the given rate, so these lines compare algorithms, not models. ${plain(n)} ${clusters} a point; shaded: 95\u00a0% bootstrap interval over ${clusters}.`,
  };
}

function shownFigures(set: ResultSet): Figure[] {
  return [...mainFigures(set), ...set.figures.filter(({ unit, place }) => unit === 'calls' && place !== 'main')];
}

/** Every agent at every error rate. */
export function noiseTable({ set, errors, rows }: NoiseSet): Table {
  const { main } = set;
  const others = shownFigures(set).filter(({ key }) => key !== main.key);
  return {
    head: ['agent (simulated)', ...errors.map((error) => `error ${plain(100 * error)} %`)],
    rows: rows.map(({ label, levels }) => ({
      cells: [
        { text: label, details: [headOf(main)] },
        ...errors.map((error) => {
          const metrics = levels.find((level) => level.error === error)?.result.metrics;
          const { text, details = [] } = figureCell(metrics?.[main.key], main);
          const beside = others.flatMap(({ key, title, unit }) => {
            const mean = metrics?.[key];
            return mean ? [`${title} ${numberText(mean.value, unit)}`] : [];
          });
          return { text, details: [...details, ...beside] };
        }),
      ],
    })),
  };
}

interface NoiseLine extends PlotLine {
  x: [number[]];
  seeds: [number[]];
}

function noiseLine({ label, color, levels }: NoiseRow, key: string): NoiseLine[] {
  const points = levels.flatMap(({ error, result }) => {
    const figure = result.metrics[key];
    return figure ? [{ error, figure }] : [];
  });
  if (points.length < 2) return [];
  const of = (part: 'value' | 'low' | 'high') => points.map(({ figure }) => figure[part]);
  const x: [number[]] = [points.map(({ error }) => 100 * error)];
  return [{ label, color, x, seeds: [of('value')], low: of('low'), high: of('high') }];
}
