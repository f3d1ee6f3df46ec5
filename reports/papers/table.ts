/** Tables that papers print, with the figures of a page's evaluations below them. */
import { canonicalJson } from '../../src/run/config-values.js';
import type { Figure } from '../../src/run/figures.js';
import { plain } from '../format.js';
import type { PartView, ResultView, Table } from '../html.js';
import { facetsOf, modelName, type ResultRow, type ResultSet } from '../results.js';
import type { Figures } from '../run-data.js';
import { titleOf } from '../sections.js';
import { figureCell } from '../tables.js';

/** A printed column, and which of our figures belongs there. */
export interface PrintedFigure {
  head: string;
  /** Key of our figure. */
  key: string;
  /** Default `%`. */
  unit?: Figure['unit'];
  /** Name of the data set, or its beginning before a hyphen. */
  dataset: string;
  /** Subset of its questions (default: all). */
  subset?: string;
}

/** A system of a table. */
export interface PaperRow {
  /** Figures in the order of the columns by the name of their line, `-` where there is none; one line for each model of the paper. */
  printed: Readonly<Record<string, string>>;
  /** Evaluations of the same system; absent where none are kept. */
  fills?: (row: ResultRow) => boolean;
}

/** Another rule by which the same figures are counted. */
interface Counting {
  title: string;
  /** Key of the figure by this rule; undefined where it has none. */
  keyOf(key: string): string | undefined;
}

/** A printed table. */
export interface PaperTable {
  number: number;
  title: string;
  figures: readonly PrintedFigure[];
  rows: readonly PaperRow[];
  /** Differences between the paper's figures and ours. */
  note: string | ((ours: readonly ResultRow[]) => string);
  /** Default: the figures as they are. */
  countings?: readonly Counting[];
}

/** A paper with its tables. */
export interface Paper {
  name: string;
  tables: readonly PaperTable[];
  /** Settings shown with the name of one of ours. */
  details?(row: ResultRow): string[];
}

/**
 * Evaluations of an agent with these switches, others at their defaults, or at those of the reference; the source of the number of
 * hops may be any.
 */
export function agentWith(agent: string, switches = {}, reference = {}): PaperRow['fills'] {
  const accepted = [switches, { ...reference, ...switches }].map(canonicalJson);
  return ({ own, records: [record] }) => {
    const { hops: _, ...set } = record!.switches ?? {};
    return !own && record!.agent === agent && accepted.includes(canonicalJson(set));
  };
}

/** Tables of a paper in which at least one evaluation has a place; no view without any. */
export function paperViews(paper: Paper, sets: readonly ResultSet[]): ResultView[] {
  const parts = paper.tables.flatMap((table) => partOf(table, paper, sets));
  return parts.length === 0 ? [] : [{ title: `${paper.name}: tables of the paper, and ours`, parts }];
}

function partOf(table: PaperTable, { name, details }: Paper, sets: readonly ResultSet[]): PartView[] {
  const { number, title, figures, rows, note } = table;
  const filled = rows.map((row) => ({ row, ours: oursIn(row, table, sets) }));
  const ours = filled.flatMap((one) => one.ours.flat());
  if (ours.length === 0) return [];
  const titles = [...new Set(ours.map(({ set }) => titleOf(set)))];
  const said = typeof note === 'string' ? note : note(ours.map(({ row }) => row));
  return [
    {
      heading: `${name}, table ${number}: ${title}`,
      table: {
        head: ['system', 'by', ...figures.map(({ head }) => head)],
        rows: filled.flatMap((one) => [
          ...Object.entries(one.row.printed).map(([system, texts]) => printedLine(system, texts)),
          ...one.ours.flatMap((evaluated) => ourLines(evaluated, table, details)),
        ]),
      },
      caption: `${said} Evaluated here: ${titles.join('; ')}.`,
    },
  ];
}

/** An agent's row among the results on some samples. */
type Evaluated = { row: ResultRow; set: ResultSet };

/** Evaluations of a system, together where they are of one agent on several of the table's data. */
function oursIn({ fills }: PaperRow, { figures }: PaperTable, sets: readonly ResultSet[]): Evaluated[][] {
  const found = sets.flatMap((set) => set.rows.flatMap((row) => (isShown(row) && fills?.(row) ? [{ row, set }] : [])));
  const lines: Evaluated[][] = [];
  for (const one of found) {
    const places = figures.filter((figure) => figuresOf(figure, one));
    const { label, model, folders } = one.row;
    // Agents without a model stand in the sets of every model.
    if (places.length === 0 || lines.flat().some(({ row }) => String(row.folders) === String(folders))) continue;
    const isFree = (other: Evaluated) =>
      other.row.label === label && other.row.model === model && !places.some((figure) => figuresOf(figure, other));
    const line = lines.find((others) => others.every(isFree));
    if (line) line.push(one);
    else lines.push([one]);
  }
  return lines;
}

/** True for untrained agents and best checkpoints. */
const isShown = ({ own, checkpoint }: ResultRow) => !own || checkpoint === 'best';

/** Figures on the data of a column; undefined if others were asked. */
function figuresOf({ dataset, subset }: PrintedFigure, { row, set: { about } }: Evaluated): Figures | undefined {
  if (about.dataset !== dataset && !about.dataset.startsWith(`${dataset}-`)) return undefined;
  const { subsets } = about as { subsets?: string[] };
  return subset === undefined || String(subsets) === subset ? row.metrics : row.slices[`subset=${subset}`];
}

type Line = Table['rows'][number];

function printedLine(system: string, texts: string): Line {
  const cells = texts.split(' ').map((text) => ({ text: text === '-' ? '' : text }));
  return { cells: [{ text: system }, { text: 'paper' }, ...cells] };
}

const asTheyAre: Counting = { title: 'ours', keyOf: (key) => key };

/** The model, what was given, and what else distinguishes an agent. */
function settingsOf(evaluated: readonly Evaluated[]): string[] {
  const given = ({ records }: ResultRow) =>
    facetsOf(records[0]!).filter((word) => /^(hops |budget (\d|none)|by )/.test(word));
  return evaluated.flatMap(({ row }) => [modelName(row), ...row.aside, ...given(row)]).filter((word) => word !== '');
}

/** A line for each rule by which something was counted. */
function ourLines(
  evaluated: readonly Evaluated[],
  { figures, countings = [asTheyAre] }: PaperTable,
  details: Paper['details'],
): Line[] {
  const { row } = evaluated[0]!;
  return countings.flatMap(({ title, keyOf }) => {
    const means = figures.map((figure) => {
      const key = keyOf(figure.key);
      return key === undefined ? undefined : evaluated.flatMap((one) => figuresOf(figure, one)?.[key] ?? [])[0];
    });
    const sizes = new Set(means.flatMap((mean) => mean?.n ?? []));
    if (sizes.size === 0) return [];
    const system = { text: row.label, details: [...new Set([...settingsOf(evaluated), ...(details?.(row) ?? [])])] };
    const by = { text: title, details: [`n = ${[...sizes].map(plain).join(', ')}`] };
    return [
      { own: true, cells: [system, by, ...means.map((mean, i) => figureCell(mean, { unit: '%', ...figures[i] }))] },
    ];
  });
}
