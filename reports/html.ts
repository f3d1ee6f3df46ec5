/** The report as one page of HTML: no request, no script but its own, every name from data escaped. */
import { Eta } from 'eta';
import { printable } from '../src/run/printable.js';
import type { Plot } from './plots/plot.js';
import { axesStyle, plotStyle } from './plots/style.js';
import { walkStyle } from './plots/walks.js';
import { browserModule, chartLibrary, hashSource } from './scripts.js';
import { style } from './style.js';
import { templates } from './template.js';

/** A cell: its text, and quiet lines below it. */
export interface Cell {
  text: string;
  details?: string[];
  /** A text of some length, not a figure. */
  wraps?: boolean;
}

/** Rows of cells; a row marked `own` is set apart. */
export interface Table {
  head: string[];
  /** `own` rows, of trained agents, stand out. */
  rows: { cells: Cell[]; own?: boolean }[];
}

/** A name with a value. */
export interface Fact {
  name: string;
  value: string;
}

/** A chart of the page. */
export interface Picture {
  /** Place of its plot in `plots`. */
  plot: number;
  /** Of the files that hold it. */
  name: string;
  /** The picture for paper and for readers without scripts, a data URI; by night the page inverts it. */
  source?: string;
  width: number;
  height: number;
  alt: string;
}

/** Pictures under one caption. */
export interface FigureGroup {
  heading?: string;
  pictures: Picture[];
  caption: string;
}

/** A figure of the first screen. */
export interface Tile {
  name: string;
  value: string;
  detail: string;
}

/** Something under a heading of its own: what is there is shown in this order. */
export interface PartView {
  heading?: string;
  /** SVG of this program's own, every text in it escaped. */
  drawing?: string;
  figures?: FigureGroup[];
  /** Figures are small multiples. */
  small?: boolean;
  table?: Table;
  caption?: string;
  facts?: Fact[];
  /** Closed until the reader opens it by its heading. */
  folded?: boolean;
  /** Table and figures stand side by side where there is room. */
  paired?: boolean;
}

/** All that was measured on one set of samples. */
export interface ResultView {
  title: string;
  /** Closed until the reader opens it. */
  folded?: boolean;
  parts: PartView[];
}

/** A message, line by line. */
interface MessageView {
  assistant: boolean;
  lines: string[];
}

/** A walk, hop by hop, each marked against the gold. */
export interface WalkView {
  start: string;
  hops: { relation: string; inverse: boolean; entity: string; mark: '' | 'right' | 'wrong' }[];
}

/** One of the answers of an agent, with the walk that led there. */
export interface AnswerView {
  text: string;
  walk?: WalkView;
  /** In words; empty where there is none. */
  score: string;
  /** Of a score in percent. */
  width: number;
  right: boolean;
}

/** What one agent said. */
export interface SaidView {
  agent: string;
  model: string;
  right: boolean;
  verdict: string;
  /** Best first. */
  answers: AnswerView[];
  /** Its walks as SVG; empty where it has none. */
  drawing: string;
  lines: string[];
  /** Closed until the reader opens it. */
  folded: boolean;
}

/** A worked example, ready to be written. */
export interface ExampleView {
  id: string;
  /** Asked before the last few messages. */
  earlier: MessageView[];
  messages: MessageView[];
  facts: Fact[];
  gold: string;
  goldWalk?: WalkView;
  said: SaidView[];
}

/** How a run is repeated, and on what it ran. */
export interface RunView {
  title: string;
  command: string;
  environment: Fact[];
  config: string;
}

/** Everything the page says. Texts are plain: escaping is the page's work. */
export interface PageView {
  title: string;
  /** Of runs that have not come to their end; else empty. */
  status: string;
  /** A row for each subject of the page. */
  tiles: { heading: string; tiles: Tile[] }[];
  /** What was done. */
  done: string;
  /** What came of it, in one sentence. */
  result: string;
  /** What must be known beside the result. */
  reservations: string;
  facts: Fact[];
  results: ResultView[];
  noise: ResultView[];
  curves: FigureGroup[];
  examples: ExampleView[];
  costs: { title: string; table: Table }[];
  /** What all runs have in common, by subject. */
  shared: { title: string; facts: Fact[] }[];
  runs: RunView[];
  diagnostics: FigureGroup[];
  /** Of all charts, in the order of their numbers. */
  plots: readonly Plot[];
}

const eta = new Eta({ escapeFunction: escapeText });
for (const [name, template] of Object.entries(templates)) eta.loadTemplate(`@${name}`, template);

const sectionTitles: [keyof PageView, id: string, title: string][] = [
  ['results', 'results', 'Results'],
  ['noise', 'noise', 'Noise'],
  ['curves', 'curves', 'Learning curves'],
  ['examples', 'examples', 'Worked examples'],
  ['costs', 'cost', 'Cost'],
  ['runs', 'reproduce', 'Environment'],
  ['diagnostics', 'diagnostics', 'Diagnostics'],
];

/** Writes the page. It needs nothing beside itself and works without a network. */
export function renderPage(view: PageView): string {
  const sections = sectionTitles.flatMap(([key, id, title]) => (view[key].length > 0 ? [{ id, title }] : []));
  const scripts = { library: chartLibrary(), module: `${browserModule('browser/page')}openPage();\n` };
  const allowed = Object.values(scripts).map(hashSource).join(' ');
  const plots = jsonForHtml(view.plots);
  return eta.render('@page', {
    ...view,
    sections,
    style: style + plotStyle + walkStyle + axesStyle,
    plots,
    scripts,
    allowed,
  });
}

/**
 * JSON that can stand between the tags of a script: no end of it can be read out of a name. Control characters and marks of
 * text direction become visible escapes, as on the rest of the page.
 */
export function jsonForHtml(value: unknown): string {
  const codes: Record<string, string> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };
  const visible = (_: string, one: unknown) => (typeof one === 'string' ? printable(one) : one);
  return JSON.stringify(value, visible).replace(/[<>&]/g, (character) => codes[character]!);
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text for HTML, inside and outside of attributes; control characters and text direction marks become visible escapes. */
export function escapeText(value: unknown): string {
  const lines = String(value).split('\n');
  return lines.map((line) => printable(line).replace(/[&<>"']/g, (character) => entities[character]!)).join('\n');
}
