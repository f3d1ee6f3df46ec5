/** The report as one page of HTML: no script, no request, every name from data escaped. */
import { Eta } from 'eta';
import { printable } from '../src/run/printable.js';
import { style } from './style.js';
import { templates } from './template.js';

/** A cell: its text, and quiet lines below it. */
export interface Cell {
  text: string;
  details?: string[];
}

export interface Table {
  head: string[];
  /** `own` rows, of trained agents, stand out. */
  rows: { cells: Cell[]; own?: boolean }[];
}

export interface Fact {
  name: string;
  value: string;
}

export interface Picture {
  /** A data URI, or a path beside the page. */
  source: string;
  width: number;
  height: number;
  alt: string;
}

export interface FigureGroup {
  heading?: string;
  pictures: Picture[];
  caption: string;
}

export interface ResultView {
  title: string;
  figures: FigureGroup[];
  agents: Table;
  caption: string;
  slicesTitle: string;
  slices: Table;
  coverage: Fact[];
}

export interface MessageView {
  assistant: boolean;
  lines: string[];
}

export interface WalkView {
  start: string;
  hops: { relation: string; inverse: boolean; entity: string; mark: '' | 'right' | 'wrong' }[];
}

export interface ExampleView {
  id: string;
  right: boolean;
  verdict: string;
  /** Said before the last few messages. */
  earlier: MessageView[];
  messages: MessageView[];
  gold: WalkView;
  /** Best first; `width` is a percentage. */
  beam: (WalkView & { share: string; width: number })[];
}

export interface RunView {
  title: string;
  command: string;
  environment: Fact[];
  config: string;
}

/** Everything the page says. Texts are plain: escaping is the page's work. */
export interface PageView {
  title: string;
  summary: string;
  facts: Fact[];
  results: ResultView[];
  curves: FigureGroup[];
  diagnostics: FigureGroup[];
  costs: { title: string; table: Table }[];
  examples: ExampleView[];
  examplesCaption: string;
  runs: RunView[];
}

const eta = new Eta({ escapeFunction: escapeText });
for (const [name, template] of Object.entries(templates)) eta.loadTemplate(`@${name}`, template);

const sectionTitles: [keyof PageView, id: string, title: string][] = [
  ['results', 'results', 'Results'],
  ['curves', 'curves', 'Learning curves'],
  ['diagnostics', 'diagnostics', 'Diagnostics'],
  ['costs', 'cost', 'Cost'],
  ['examples', 'examples', 'Example walks'],
  ['runs', 'reproduce', 'Reproduce'],
];

/** Writes the page. It needs nothing beside itself and works without a network. */
export function renderPage(view: PageView): string {
  const sections = sectionTitles.flatMap(([key, id, title]) => (view[key].length > 0 ? [{ id, title }] : []));
  return eta.render('@page', { ...view, sections, style });
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text for HTML, inside and outside of attributes; control characters and text direction marks become visible escapes. */
export function escapeText(value: unknown): string {
  const lines = String(value).split('\n');
  return lines.map((line) => printable(line).replace(/[&<>"']/g, (character) => entities[character]!)).join('\n');
}
