/** Figures as functions of one number: a switch, a budget, a beam width, the error rate of a simulated model. */
import { agentTitle } from '../src/run/evaluation.js';
import { numberText, type Figure } from '../src/run/figures.js';
import type { Table } from './html.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import { agentColors } from './plots/colors.js';
import type { Level, LinePlot, PlotLine } from './plots/plot.js';
import { facetsOf, headOf, mainFigures, markOf, oracleRates, toldApart } from './results.js';
import type { ResultRow, ResultSet } from './results.js';
import { figureCell } from './tables.js';
import { labelOf, plain, wordsOf } from './format.js';

interface Setting {
  /** Name in files, such as `keep`. */
  name: string;
  /** Axis title with unit. */
  axis: string;
  /** Column title such as `keep 3`. */
  head: (value: number) => string;
  /** `3`, within a sentence. */
  text: (value: number) => string;
  /** Position on the axis. */
  place: (value: number) => number;
}

/** One agent over the values of a setting. */
interface SweptRow {
  label: string;
  color: string;
  /** Set once colours run out. */
  dashed?: boolean | undefined;
  /** Ascending by value. */
  points: { value: number; result: ResultRow }[];
}

/** Evaluations of agents that differ in one number only. */
export interface Swept {
  /** One of the sets, for the shared properties. */
  set: ResultSet;
  setting: Setting;
  /** Ascending. */
  values: number[];
  rows: SweptRow[];
  /** The other agents, including trained ones, drawn as levels. */
  levelRows: ResultRow[];
}

/** Maximum levels that can be distinguished in one chart. */
const mostLevels = 3;

/** Every number with at least two values in which evaluations of one set differ while all else is equal. */
export function sweptIn(set: ResultSet): Swept[] {
  const described = set.rows.map((result) => ({ result, properties: describe(result) }));
  const keys = [...new Set(described.flatMap(({ properties }) => [...properties.keys()]))];
  return keys.flatMap((key): Swept[] => {
    const lines = linesOver(described, key);
    if (lines.length === 0) return [];
    const drawn = new Set(lines.flatMap((line) => line.map(({ result }) => result)));
    const agents = new Set([...drawn].map(({ records }) => records[0]!.agent));
    const others = set.rows.filter((row) => !drawn.has(row));
    const levelRows = [
      ...others.filter(({ records }) => agents.has(records[0]!.agent)),
      ...others.filter(({ own }) => own),
    ];
    const words = wordsOf(key);
    const setting: Setting = {
      ...{ name: key, axis: words, text: plain, place: (value) => value },
      head: (value) => `${words} ${plain(value)}`,
    };
    return [{ ...sweptRows(lines, key), set, setting, levelRows: [...new Set(levelRows)].slice(0, mostLevels) }];
  });
}

/** Samples evaluated by simulated models with at least two error rates, and equally confused by lists. */
export function collectNoise(sets: readonly ResultSet[]): Swept[] {
  const simulated = sets.filter(({ simulated }) => oracleRates(simulated) !== undefined);
  const alike = Map.groupBy(simulated, ({ samples, simulated: model }) => `${samples} ${oracleRates(model)!.confuse}`);
  return [...alike.values()].flatMap((levels): Swept[] => {
    if (levels.length < 2) return [];
    const described = levels.flatMap(({ rows }) =>
      rows.flatMap((result) => (result.simulated ? [{ result, properties: describe(result) }] : [])),
    );
    const share = (error: number) => `${plain(100 * error)} %`;
    const setting: Setting = {
      ...{ name: 'noise', axis: 'decisions in which the oracle errs, %', text: share },
      ...{ head: (error) => `error ${share(error)}`, place: (error) => 100 * error },
    };
    return [{ ...sweptRows(linesOver(described, errorKey, 1), errorKey), set: levels[0]!, setting, levelRows: [] }];
  });
}

const errorKey = 'oracle error';

type Properties = ReadonlyMap<string, unknown>;
type Described = { result: ResultRow; properties: Properties };

/** Distinguishing properties of an evaluation among those of its samples, by name; switches keep their names. */
function describe({ records, settings, own }: ResultRow): Properties {
  const { agent, note, hashes, model } = records[0]!;
  const error = oracleRates(model)?.error;
  const weights = own ? records.map((record) => record.hashes.checkpoint ?? record.run).sort() : [];
  return new Map<string, unknown>([
    ['who', [agent, note, weights, hashes.encoder]],
    ...toldApart(records[0]!).filter(([key]) => key !== 'model' || error === undefined),
    ...(error === undefined ? [] : ([[errorKey, error]] as const)),
    ...Object.entries(settings),
  ]);
}

/** Evaluations that agree in all but one numeric key: one line each, ascending, one evaluation per value. */
function linesOver(all: readonly Described[], key: string, least = 2): Described[][] {
  const having = all.filter(({ properties }) => Number.isFinite(properties.get(key)));
  const alike = Map.groupBy(having, ({ properties }) =>
    JSON.stringify([...properties].filter(([name]) => name !== key).sort(byName)),
  );
  return [...alike.values()].flatMap((same) => {
    const points = [...new Map(same.map((one) => [valueOf(one, key), one])).values()];
    return points.length < least ? [] : [points.sort((a, b) => valueOf(a, key) - valueOf(b, key))];
  });
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);
const valueOf = ({ properties }: Described, key: string) => properties.get(key) as number;

function sweptRows(lines: readonly Described[][], key: string): Pick<Swept, 'rows' | 'values'> {
  const firsts = lines.map(([first]) => first!);
  const names = firsts.map((one) => nameOf(one, key));
  const labels = firsts.map((one, i) => {
    const alike = firsts.filter((_, other) => names[other] === names[i]).map(({ result }) => waysOf(result, key));
    const words = waysOf(one.result, key).filter((word) => alike.some((other) => !other.includes(word)));
    return [names[i]!, ...words].join(', ');
  });
  const own = firsts.map(({ result }) => result.color);
  const isApart = new Set(own).size === own.length;
  const colors = agentColors(labels.map((name) => ({ name, vivid: true })));
  const used = new Set<string>();
  const rows = lines.map((line, i): SweptRow => {
    const color = isApart ? own[i]! : colors.get(labels[i]!)!;
    const dashed = used.has(color) || undefined;
    used.add(color);
    const points = line.map((one) => ({ value: valueOf(one, key), result: one.result }));
    return { label: labels[i]!, color, dashed, points };
  });
  const values = [...new Set(rows.flatMap(({ points }) => points.map(({ value }) => value)))];
  return { rows, values: values.sort((a, b) => a - b) };
}

/** Name of an agent without the varied number. */
function nameOf({ result }: Described, key: string): string {
  const { records, own, method } = result;
  const { agent, checkpoint, switches = {} } = records[0]!;
  const switched = Object.entries(switches).flatMap(([name, value]) =>
    name === key ? [] : [`${name}=${String(value)}`],
  );
  const trained = own && checkpoint !== undefined ? [checkpoint] : [];
  return labelOf(own ? (method ?? agent) : agentTitle(agent), [...trained, ...switched]);
}

/** Evaluation settings without the varied number. */
const waysOf = ({ records }: ResultRow, key: string): string[] =>
  facetsOf(records[0]!).filter((word) => !word.startsWith(`${wordsOf(key)} `));

/** Main figures and calls, one line per agent. @param name prefix of every file name */
export function sweptFigures({ set, setting, values, rows, levelRows }: Swept, name: string): ChartGroup {
  const { n, clusters } = set.about;
  const isNoise = set.simulated !== undefined && setting.name === 'noise';
  const mark = isNoise ? ' (simulated)' : ` · n = ${plain(n)}${markOf(set)}`;
  const charts = shownFigures(set).flatMap((figure): NamedChart[] => {
    const { key, unit } = figure;
    const lines = rows.flatMap((row) => sweptLine(row, key, setting));
    if (lines.length === 0) return [];
    const title = headOf(figure) + mark;
    const write = (value: number) => `${numberText(value, unit)}${unit === '%' ? ' %' : ''}`;
    const said = lines.map(({ label, seeds: [values], of }) => {
      const [first, last] = [of[0]!, of.at(-1)!].map(setting.text);
      return `${label} from ${write(values[0]!)} at ${first} to ${write(values.at(-1)!)} at ${last}`;
    });
    const levels = levelRows.flatMap(({ label, metrics }): Level[] => {
      const mean = metrics[key];
      return mean ? [{ label, value: mean.value }] : [];
    });
    const level = levels.map(({ label, value }) => `; for comparison ${label} ${write(value)}`).join('');
    const plot: LinePlot = {
      ...{ kind: 'lines', title, unit, axes: [setting.axis], fromZero: true },
      lines: lines.map(({ of: _, ...line }) => line),
      ...{ levels: levels.length > 0 ? levels : undefined, marks: isNoise ? undefined : values },
    };
    const alt = `${title} against ${setting.axis}: ${said.join(', ')}${level}`;
    return [{ name: `${name}-${setting.name}-${key}`, alt, plot }];
  });
  const points = `${plain(n)} ${clusters} a point; shaded: 95\u00a0% bootstrap interval over ${clusters}.`;
  const caption = isNoise
    ? `Simulated: the oracle knows the gold and errs once a decision at the given rate, so these lines compare algorithms, not models. ${points}`
    : `Agents that differ only in ${setting.axis}. ${points}${levelRows.length > 0 ? ' Dashed levels: the other agents, including trained ones.' : ''}`;
  return { charts, caption };
}

function shownFigures(set: ResultSet): Figure[] {
  return [...mainFigures(set), ...set.figures.filter(({ unit, place }) => unit === 'calls' && place !== 'main')];
}

export function sweptTable({ set, setting, values, rows }: Swept): Table {
  const { main } = set;
  const others = shownFigures(set).filter(({ key }) => key !== main.key);
  return {
    head: [set.simulated === undefined ? 'agent' : 'agent (simulated)', ...values.map(setting.head)],
    rows: rows.map(({ label, points }) => ({
      cells: [
        { text: label, details: [headOf(main)] },
        ...values.map((value) => {
          const metrics = points.find((point) => point.value === value)?.result.metrics;
          const { text, details = [] } = figureCell(metrics?.[main.key], main);
          const extra = others.flatMap(({ key, title, unit }) => {
            const mean = metrics?.[key];
            return mean ? [`${title} ${numberText(mean.value, unit)}`] : [];
          });
          return { text, details: [...details, ...extra] };
        }),
      ],
    })),
  };
}

interface SweptLine extends PlotLine {
  x: [number[]];
  seeds: [number[]];
  /** Values of the setting. */
  of: number[];
}

function sweptLine({ label, color, dashed, points }: SweptRow, key: string, { place }: Setting): SweptLine[] {
  const measured = points.flatMap(({ value, result }) => {
    const figure = result.metrics[key];
    return figure ? [{ value, figure }] : [];
  });
  if (measured.length < 2) return [];
  const part = (which: 'value' | 'low' | 'high') => measured.map(({ figure }) => figure[which]);
  const of = measured.map(({ value }) => value);
  const x: [number[]] = [of.map(place)];
  const band = { low: part('low'), high: part('high') };
  return [{ label, color, dashed, x, seeds: [part('value')], ...band, of }];
}
