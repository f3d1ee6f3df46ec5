/** The report as one HTML page: no requests, only its own script, every name from data escaped. */
import { Eta } from 'eta';
import { printable } from '../src/run/printable.js';
import type { Plot } from './plots/plot.js';
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

/** Rows of cells; rows marked `own` are highlighted. */
export interface Table {
  head: string[];
  rows: { cells: Cell[]; own?: boolean }[];
}

export interface Fact {
  name: string;
  value: string;
}

/** Facts that are known, in order. */
export function factsIn(values: Readonly<Record<string, string | number | undefined>>): Fact[] {
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  return known.map(([name, value]) => ({ name, value: String(value) }));
}

/** A chart of the page. */
export interface Picture {
  plot: number;
  /** Name of the PNG and CSV files, without extension. */
  name: string;
  /** Picture for print and for readers without scripts, a data URI; inverted in dark mode. */
  source?: string | undefined;
  width: number;
  height: number;
  alt: string;
}

/** Pictures under one caption. */
export interface FigureGroup {
  heading?: string | undefined;
  pictures: Picture[];
  caption: string;
}

export interface Tile {
  name: string;
  value: string;
  detail: string;
}

/** A section with a heading; its parts are shown in this order. */
export interface PartView {
  heading?: string;
  /** SVG made by this program, with all text escaped. */
  drawing?: string;
  figures?: FigureGroup[];
  table?: Table;
  caption?: string;
  facts?: Fact[];
  folded?: boolean;
  /** Shows table and figures side by side if there is space. */
  paired?: boolean;
}

/** All results on one set of samples. */
export interface ResultView {
  title: string;
  folded?: boolean;
  parts: PartView[];
}

/** A walk with a mark (right or wrong) for each hop. */
export interface WalkView {
  start: string;
  hops: { relation: string; inverse: boolean; entity: string; mark: '' | 'right' | 'wrong' }[];
}

/** One answer of an agent with the walk that led to it. */
export interface AnswerView {
  text: string;
  walk?: WalkView | undefined;
  score: string;
  width: number;
  right: boolean;
}

export interface SaidView {
  agent: string;
  model: string;
  right: boolean;
  verdict: string;
  /** Best first. */
  answers: AnswerView[];
  /** Its walks as SVG; empty if there are none. */
  drawing: string;
  lines: string[];
  folded: boolean;
}

/** A worked example, ready to render. */
export interface ExampleView {
  id: string;
  /** Earlier messages, folded. */
  earlier: ExampleView['messages'];
  messages: { assistant: boolean; lines: string[] }[];
  facts: Fact[];
  gold: string;
  goldWalk?: WalkView | undefined;
  said: SaidView[];
}

/** Command that repeats a run, and its environment. */
export interface RunView {
  title: string;
  command: string;
  environment: Fact[];
  config: string;
}

/** Content of the page. Texts are plain; escaping happens in the template. */
export interface PageView {
  title: string;
  /** Runs that have not finished; empty if all have. */
  status: string;
  /** One row per subject of the page. */
  tiles: { heading: string; tiles: Tile[] }[];
  done: string;
  result: string;
  reservations: string;
  facts: Fact[];
  results: ResultView[];
  noise: ResultView[];
  curves: FigureGroup[];
  examples: ExampleView[];
  costs: { title: string; table: Table }[];
  /** Facts shared by all runs, by subject. */
  shared: { title: string; facts: Fact[] }[];
  runs: RunView[];
  diagnostics: FigureGroup[];
  /** Plots of all charts, by index. */
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

/** Renders the page. It is self-contained and works offline. */
export function renderPage(view: PageView): string {
  const sections = sectionTitles.flatMap(([key, id, title]) => (view[key].length > 0 ? [{ id, title }] : []));
  const scripts = { library: chartLibrary(), module: `${browserModule('reports/browser/page')}openPage();\n` };
  const allowed = Object.values(scripts).map(hashSource).join(' ');
  const plots = jsonForHtml(view.plots);
  return eta.render('@page', { ...view, sections, style, plots, scripts, allowed });
}

/**
 * JSON for use inside a script tag: no name can end the tag. Control characters and text direction marks become visible
 * escapes, as on the rest of the page.
 */
function jsonForHtml(value: unknown): string {
  const codes: Record<string, string> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };
  const visible = (_: string, one: unknown) => (typeof one === 'string' ? printable(one) : one);
  return JSON.stringify(value, visible).replace(/[<>&]/g, (character) => codes[character]!);
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML content and attributes; control characters and text direction marks become visible escapes. */
export function escapeText(value: unknown): string {
  const lines = String(value).split('\n');
  return lines.map((line) => printable(line).replace(/[&<>"']/g, (character) => entities[character]!)).join('\n');
}
