/** Result sections, one per set: tables, charts and findings. */
import type { Section } from '../src/run/evaluation.js';
import type { Trained } from './curves.js';
import { barFigures, costFigures, differenceFigures, foundBars, foundCurves } from './figures.js';
import type { FigureGroup, PartView, ResultView, Table } from './html.js';
import type { Draw } from './pictures.js';
import { headOf, mainFigures, mainRow, type ResultRow, type ResultSet } from './results.js';
import { intervalsOver } from './statistics.js';
import { compareSettings, differingTables, settingFigures, settingTable } from './settings.js';
import { collectNoise, sweptFigures, sweptIn, sweptTable, type Swept } from './varied-number.js';
import {
  askedFacts,
  linesTable,
  missTable,
  resultTable,
  rowsTable,
  slicesTable,
  sliceTable,
  wholeTable,
} from './tables.js';
import { plain } from './format.js';
import { sectionTitles } from './titles.js';

/** Bar charts shown at first; the others are folded. */
const firstBars = 4;

/** Values of a slice in the main slice table; slices with more values get a folded table. */
const mostValues = 8;

/** Rows of findings shown per agent; the evaluation holds all. */
const mostRows = 40;

/**
 * Sections of every set (folded except the first of each data set, the first simulation, and agents alone where others
 * have several), then a comparison of run settings per data set.
 */
export async function resultViews(
  sets: readonly ResultSet[],
  subjects: readonly Trained[],
  draw: Draw,
): Promise<ResultView[]> {
  const views: ResultView[] = [];
  for (const [i, set] of sets.entries()) {
    const firstOf = (isMeant: (one: ResultSet) => boolean) => sets.findIndex(isMeant) === i;
    const isFirst = firstOf(({ about: { task, dataset } }) => task === set.about.task && dataset === set.about.dataset);
    const isLesser = set.rows.length === 1 && sets[0]!.rows.length > 1 && !set.rows[0]!.own;
    const compares = set.simulated === undefined ? isFirst : firstOf((one) => isSimulation(one, set));
    const parts = await partsOf(set, fileNameOf(set, i), draw);
    const folded = i > 0 && (!compares || isLesser);
    views.push({ title: titleOf(set), folded, parts: parts.map(marked(set)) });
  }
  for (const subject of subjects) {
    const compared = compareSettings(subject);
    const parts: PartView[] = [
      ...(compared
        ? [{ table: settingTable(compared) }, { figures: await draw(settingFigures(compared, subject.dataset)) }]
        : []),
      ...differingTables(subject.groups).map((table) => ({ heading: sectionTitles.differing, table })),
    ];
    if (parts.length > 0) views.push({ title: `Settings compared on ${subject.dataset}`, parts });
  }
  return views;
}

/** Title of the section of a set. */
export const titleOf = ({ title, about }: ResultSet): string => `${title} · n = ${plain(about.n)}`;

/** Charts over one varied number, with every figure at every value. */
async function sweptParts(swept: Swept, name: string, draw: Draw): Promise<PartView[]> {
  const caption = `Below each figure: 95\u00a0% bootstrap interval over ${swept.set.about.clusters}, then further figures and mean calls.`;
  return [{ figures: await draw([sweptFigures(swept, name)]) }, { table: sweptTable(swept), caption }];
}

/** Main figures and calls against the error rate of a simulated model, for samples evaluated at several rates. */
export async function noiseViews(sets: readonly ResultSet[], draw: Draw): Promise<ResultView[]> {
  const views: ResultView[] = [];
  for (const [i, noise] of collectNoise(sets).entries()) {
    views.push({ title: noise.set.title, parts: await sweptParts(noise, fileNameOf(noise.set, i), draw) });
  }
  return views;
}

/** True if a set is a simulation on the same samples. */
export function isSimulation(one: ResultSet, { samples }: ResultSet): boolean {
  return one.simulated !== undefined && one.samples === samples;
}

const marked =
  ({ simulated }: ResultSet) =>
  (part: PartView): PartView =>
    simulated !== undefined && part.heading ? { ...part, heading: `${part.heading} (simulated)` } : part;

async function partsOf(set: ResultSet, name: string, draw: Draw): Promise<PartView[]> {
  const { rows, figures, main } = set;
  const mains = mainFigures(set);
  const others = figures.filter(({ key, place }) => place && !mains.slice(0, firstBars).some((one) => one.key === key));
  const slices = slicesOf(rows);
  const short = [...slices.values()].filter((values) => values.length <= mostValues).flat();
  const what = rows.length > 1 ? `${headOf(main)}` : 'Figures';
  const long = [...slices].filter(([, values]) => values.length > mostValues);
  const parts: PartView[] = [
    ...besides(resultTable(set), captionOf(set), await draw(barFigures(set, name, mains.slice(0, firstBars)))),
    { heading: 'Differences', figures: await draw(differenceFigures(set, name)) },
    { heading: 'Quality against cost', figures: await draw(costFigures(set, name)) },
    ...(await overParts(set, name, draw)),
    { heading: `${what}, by slice`, table: slicesTable(set, short) },
    ...(await foundParts(set, name, draw)),
    {
      heading: 'All figures',
      figures: await draw(barFigures(set, name, others)),
      table: wholeTable(set),
      folded: true,
    },
    ...long.map(([of, values]) => ({ heading: `${what}, by ${of}`, table: slicesTable(set, values), folded: true })),
    ...(rows.length > 1 ? [...slices].filter(([, values]) => values.length <= mostValues) : []).map(([of, values]) => ({
      heading: `Every agent by ${of}`,
      table: sliceTable(set, values),
      folded: true,
    })),
    { heading: 'Misses, % of samples by the first reason that applies', table: missTable(set), folded: true },
    { heading: 'What was asked', facts: askedFacts(set), folded: true },
  ];
  return parts.filter(({ table, figures: drawn }) => table?.rows.length !== 0 && (table || drawn?.length !== 0));
}

/** One heading per varied number. */
async function overParts(set: ResultSet, name: string, draw: Draw): Promise<PartView[]> {
  const parts: PartView[] = [];
  for (const swept of sweptIn(set)) {
    const [first, ...others] = await sweptParts(swept, name, draw);
    parts.push({ heading: `Over ${swept.setting.axis}`, ...first }, ...others);
  }
  return parts;
}

/** Maximum columns of a table shown next to its charts. */
const widestPaired = 6;

function besides(table: Table, caption: string, figures: FigureGroup[]): PartView[] {
  const isPair = table.head.length <= widestPaired && figures.length > 0;
  return isPair ? [{ table, caption, figures, paired: true }] : [{ table, caption }, { figures }];
}

/** Slices of at least one row, by name. */
function slicesOf(rows: readonly ResultRow[]): Map<string, string[]> {
  const all = [...new Set(rows.flatMap(({ slices }) => Object.keys(slices)))];
  const names = [...new Set(all.map((slice) => slice.slice(0, slice.indexOf('='))))];
  return new Map(names.map((name) => [name, all.filter((slice) => slice.startsWith(`${name}=`))]));
}

/** Findings of evaluations by title: curves as charts, lines once if they are all equal, rows per agent. */
async function foundParts(set: ResultSet, name: string, draw: Draw): Promise<PartView[]> {
  const found = set.rows.flatMap((row) => row.records[0]!.sections.map((section) => ({ row, section })));
  const titles = [...new Set(found.map(({ section }) => section.title))];
  const parts: PartView[] = [];
  for (const heading of titles) {
    const same = found.filter(({ section }) => section.title === heading);
    if (same.some(({ section }) => section.curve)) {
      parts.push({ heading, figures: await draw(foundCurves(set, heading, name)) });
      parts.push(...rowParts(`${heading}, in numbers`, same, mainRow(set)));
      continue;
    }
    if (same.some(({ section }) => section.bars)) {
      parts.push({ heading, figures: await draw(foundBars(mainRow(set), heading, name)) });
    }
    const worded = same.filter(({ section }) => section.lines?.length);
    const texts = new Set(worded.map(({ section }) => section.lines!.join('\n')));
    if (texts.size === 1) parts.push({ heading, caption: [...texts][0]!, folded: true });
    else if (texts.size > 1) parts.push({ heading, table: linesTable(worded), folded: true });
    parts.push(...rowParts(heading, same, mainRow(set)));
  }
  return parts;
}

/** Agents with a separate table each where lists are long. */
const mostTables = 4;

/** Short lists, and lists of many agents, share one table; with a few agents and a long list each gets a table, the subject's unfolded. */
function rowParts(heading: string, found: { row: ResultRow; section: Section }[], main: ResultRow): PartView[] {
  const listed = found.flatMap(({ row, section: { rows = [] } }) =>
    rows.length > 0 ? [{ label: row.label, own: row.own, seeds: row.seeds, rows }] : [],
  );
  if (listed.length === 0) return [];
  if (listed.length > mostTables || listed.every(({ rows }) => rows.length <= mostValues)) {
    return [
      { heading, table: rowsTable(listed.map((one) => ({ ...one, rows: one.rows.slice(0, mostRows) }))), folded: true },
    ];
  }
  return listed.map(({ label, seeds, rows }) => ({
    heading: `${heading}: ${label}`,
    table: rowsTable([{ rows: rows.slice(0, mostRows) }]),
    caption: [
      ...(rows.length > mostRows ? [`The first ${mostRows} of ${plain(rows.length)}; the evaluation holds them.`] : []),
      ...(seeds > 1 ? ['Of one seed.'] : []),
    ].join(' '),
    folded: label !== main.label,
  }));
}

/** Caption of the table of a set. */
export function captionOf(set: ResultSet): string {
  const { simulated, rows } = set;
  return [
    `Of all samples, failures included. Below each figure: 95\u00a0% bootstrap interval ${intervalsOver(set)}, then ± the standard deviation over seeds.`,
    rows.some(({ model }) => model !== undefined) &&
      'Calls and tokens are means a sample; cached: share of the prompt tokens. Time is wall time, preparing included.',
    simulated !== undefined &&
      'Simulated: the model knows the gold. These figures compare algorithms and say nothing of any language model.',
  ]
    .filter(Boolean)
    .join(' ');
}

function fileNameOf({ about: { task, dataset, split }, simulated }: ResultSet, i: number): string {
  return [task, String(i + 1), dataset, split, ...(simulated === undefined ? [] : [simulated])].join('-');
}
