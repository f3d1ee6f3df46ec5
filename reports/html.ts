/** The report as one HTML page: no requests, only its own script, every name from data escaped. */
import { Eta } from 'eta';
import { meaningOf } from '../src/run/figure-meanings.js';
import { printable } from '../src/run/printable.js';
import type { Plot } from './plots/plot.js';
import { browserModule, chartLibrary, hashSource } from './scripts.js';
import { style } from './style.js';
import { examplesCaption, sectionTitles } from './titles.js';

/** A cell: its text, and quiet lines below it. */
export interface Cell {
  text: string;
  details?: string[];
  /** A text of some length, not a figure. */
  wraps?: boolean;
}

/** Rows of cells; rows marked `own` are highlighted. */
export type Table = { head: string[]; rows: { cells: Cell[]; own?: boolean }[] };

export type Fact = { name: string; value: string };

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
export type FigureGroup = { heading?: string | undefined; pictures: Picture[]; caption: string };

export type Tile = { name: string; value: string; detail: string };

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
export type ResultView = { title: string; folded?: boolean; parts: PartView[] };

/** A walk with a mark (right or wrong) for each hop. */
export interface WalkView {
  start: string;
  hops: { relation: string; inverse: boolean; entity: string; mark: '' | 'right' | 'wrong' }[];
}

/** One answer of an agent with the walk that led to it. */
export type AnswerView = { text: string; walk?: WalkView | undefined; score: string; width: number; right: boolean };

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
export type RunView = { title: string; command: string; environment: Fact[]; config: string };

/** Content of the page. Texts are plain; escaping happens in the template. */
export interface PageView {
  title: string;
  /** Runs that have not finished; empty if all have. */
  status: string;
  /** One row per subject of the page. */
  tiles: { heading: string; tiles: Tile[] }[];
  /** A walk that found the right answer, as SVG with all text escaped, and the question. */
  walk: { agent: string; asked: string; drawing: string } | undefined;
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

/** Title attribute that says what a figure means; empty for other words. */
const meaning = `<% const said = this.meaningOf(it.name); %><% if (said) { %> title="<%= said %>"<% } %>`;

const table = `
<div class="scroll" role="region" tabindex="0" aria-label="<%= it.head[0] %>: <%= it.head.slice(1).join(', ') %>"><table>
<thead><tr><% for (const head of it.head) { %><th scope="col"<%~ include('@meaning', { name: head }) %>><%= head %></th><% } %></tr></thead>
<tbody><% for (const row of it.rows) { %>
<tr<% if (row.own) { %> class="own"<% } %>><% for (const cell of row.cells) { %><td<% if (cell.wraps) { %> class="words"<% } %>><%= cell.text %><% for (const line of cell.details ?? []) { %><small><%= line %></small><% } %></td><% } %></tr><% } %>
</tbody></table></div>`;

const facts = `
<dl class="facts"><% for (const fact of it.facts) { %><div><dt><%= fact.name %></dt><dd><%= fact.value %></dd></div><% } %></dl>`;

const figures = `
<% for (const group of it.groups) { %>
<% if (group.heading) { %><h3><%= group.heading %></h3><% } %>
<div class="figures"><% for (const picture of group.pictures) { %>
<figure data-plot="<%= picture.plot %>" data-name="<%= picture.name %>"<% if (picture.source) { %>><img class="day" src="<%= picture.source %>" width="<%= picture.width %>" height="<%= picture.height %>" alt="<%= picture.alt %>"><% } else { %> data-alt="<%= picture.alt %>"><p class="caption alt"><%= picture.alt %></p><% } %></figure><% } %>
</div>
<p class="caption"><%= group.caption %></p>
<% } %>`;

const part = `
<% const { heading, drawing, figures, table, caption, facts, folded, paired } = it.part; %>
<% if (folded) { %><details class="part"><summary><%= heading %></summary><% } else if (heading) { %><h4><%= heading %></h4><% } %>
<% if (drawing) { %><div class="scroll" role="region" tabindex="0" aria-label="<%= heading %>"><%~ drawing %></div><% } %>
<% if (paired) { %><div class="pair"><div><% } %>
<% if (figures && !paired) { %><%~ include('@figures', { groups: figures }) %><% } %>
<% if (table) { %><%~ include('@table', table) %><% } %>
<% if (caption) { %><p class="caption"><%= caption %></p><% } %>
<% if (paired) { %></div><div><%~ include('@figures', { groups: figures }) %></div></div><% } %>
<% if (facts) { %><%~ include('@facts', { facts }) %><% } %>
<% if (folded) { %></details><% } %>`;

const results = `
<% for (const set of it.sets) { %>
<% if (set.folded) { %><details class="set"><summary><%= set.title %></summary><% } else if (set.title) { %><h3><%= set.title %></h3><% } %>
<% for (const one of set.parts) { %><%~ include('@part', { part: one }) %><% } %>
<% if (set.folded) { %></details><% } %>
<% } %>`;

const message = `
<div class="message<% if (it.assistant) { %> assistant<% } %>"><% it.lines.forEach((line, i) => { %><% if (i > 0) { %><br><% } %><%= line %><% }) %></div>`;

const walk = `
<bdi><b><%= it.start %></b></bdi><% if (it.hops.length === 0) { %> <span class="quiet">stays</span><% } %><% for (const hop of it.hops) { %> <span class="hop <%= hop.mark %>"><span class="relation"><%= hop.inverse ? '←' : '—' %><bdi><%= hop.relation %></bdi><%= hop.inverse ? '—' : '→' %></span> <bdi><b><%= hop.entity %></b></bdi></span><% } %>`;

const answers = `
<% if (it.answers.length === 0) { %><p>no answer</p><% } else if (it.answers.some((one) => one.walk)) { %>
<% if (it.drawing) { %><%~ it.drawing %><details><summary>as a list</summary><% } %>
<div class="walks"><% for (const one of it.answers) { %>
<div class="walk"><span class="share"><%= one.score %><i style="width:<%= one.width %>%"></i></span><span><% if (one.walk) { %><%~ include('@walk', one.walk) %><% } else { %><bdi><%= one.text %></bdi><% } %></span></div><% } %>
</div><% if (it.drawing) { %></details><% } %><% } else { %><p><% it.answers.forEach((one, i) => { %><% if (i > 0) { %>; <% } %><bdi<% if (one.right) { %> class="hit"<% } %>><%= one.text %></bdi><% }) %></p><% } %>
<% if (it.lines.length > 0) { %><details><summary>how it came to it</summary><ol><% for (const line of it.lines) { %><li><%= line %></li><% } %></ol></details><% } %>`;

const example = `
<article class="example">
<p class="quiet"><%= it.id %></p>
<% if (it.earlier.length > 0) { %><details class="earlier"><summary><%= it.earlier.length %> earlier <%= it.earlier.length === 1 ? 'message' : 'messages' %></summary><% for (const one of it.earlier) { %><%~ include('@message', one) %><% } %></details><% } %>
<% for (const one of it.messages) { %><%~ include('@message', one) %><% } %>
<dl class="gold"><% for (const fact of it.facts) { %><dt><%= fact.name %></dt><dd><bdi><%= fact.value %></bdi></dd><% } %><dt>right</dt><dd><% if (it.goldWalk) { %><%~ include('@walk', it.goldWalk) %><% } else { %><bdi><%= it.gold %></bdi><% } %></dd></dl>
<% for (const one of it.said) { %>
<section class="said">
<header><span><b><%= one.agent %></b> <span class="quiet"><%= one.model %></span></span><span class="verdict <%= one.right ? 'right' : 'wrong' %>"><%= one.verdict %></span></header>
<% if (one.folded) { %><details><summary>what it said</summary><%~ include('@answers', one) %></details><% } else { %><%~ include('@answers', one) %><% } %>
</section><% } %>
</article>`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src <%~ it.allowed %>">
<title><%= it.title %></title>
<style><%~ it.style %></style>
</head>
<body>
<h1><%= it.title %></h1>
<% if (it.status) { %><p class="status"><%= it.status %></p><% } %>
<% for (const row of it.tiles) { %><% if (row.heading) { %><p class="tiles-of"><%= row.heading %></p><% } %>
<dl class="tiles"><% for (const tile of row.tiles) { %><div<%~ include('@meaning', tile) %>><dt><%= tile.name %></dt><dd><b><%= tile.value %></b><span><%= tile.detail %></span></dd></div><% } %></dl><% } %>
<% if (it.walk) { %><div class="example first"><p><%= it.walk.asked %></p><div class="scroll" role="region" tabindex="0" aria-label="a walk of <%= it.walk.agent %>"><%~ it.walk.drawing %></div><p class="caption">A walk of <%= it.walk.agent %>: from the entity on the left it takes an edge, or two, to the answer; strokes are as wide as their probability, green is right.</p></div><% } %>
<p class="summary"><%= it.result %></p>
<% if (it.reservations) { %><p class="quiet note"><%= it.reservations %></p><% } %>
<nav><% for (const section of it.sections) { %><a href="#<%= section.id %>"><%= section.title %></a><% } %></nav>
<main>
<details class="part about"><summary>What was done, and on what</summary><% if (it.done) { %><p class="done"><%= it.done %></p><% } %>
<%~ include('@facts', { facts: it.facts }) %></details>
<% if (it.results.length > 0) { %>
<h2 id="results">${sectionTitles.results}</h2>
<%~ include('@results', { sets: it.results }) %>
<% } %>
<% if (it.noise.length > 0) { %>
<h2 id="noise">Noise</h2>
<%~ include('@results', { sets: it.noise }) %>
<% } %>
<% if (it.curves.length > 0) { %>
<h2 id="curves">${sectionTitles.curves}</h2>
<%~ include('@figures', { groups: it.curves }) %>
<% } %>
<% if (it.examples.length > 0) { %>
<h2 id="examples">${sectionTitles.examples}</h2>
<p class="caption">${examplesCaption}</p>
<div class="examples"><% for (const one of it.examples) { %><%~ include('@example', one) %><% } %></div>
<% } %>
<% if (it.costs.length > 0) { %>
<h2 id="cost">Cost</h2>
<% for (const cost of it.costs) { %><h3><%= cost.title %></h3><%~ include('@table', cost.table) %><% } %>
<% } %>
<h2 id="reproduce">Environment and how to repeat it</h2>
<% for (const subject of it.shared) { %><h4><%= subject.title %></h4><%~ include('@facts', subject) %><% } %>
<% for (const run of it.runs) { %>
<h3><%= run.title %></h3>
<pre tabindex="0"><%= run.command %></pre>
<%~ include('@facts', { facts: run.environment }) %>
<details class="part"><summary>Settings</summary><pre tabindex="0"><%= run.config %></pre></details>
<% } %>
<% if (it.diagnostics.length > 0) { %>
<h2 id="diagnostics">Losses and diagnostics</h2>
<details class="part"><summary>Everything else that training logged</summary>
<%~ include('@figures', { groups: it.diagnostics }) %>
</details>
<% } %>
</main>
<script type="application/json" id="plots"><%~ it.plots %></script>
<script><%~ it.scripts.library %></script>
<script type="module"><%~ it.scripts.module %></script>
</body>
</html>
`;

/** Templates by the name used to include them: everything between `<%=` and `%>` is escaped; browser code comes last. */
const templates = {
  meaning,
  table,
  facts,
  figures,
  part,
  results,
  message,
  walk,
  answers,
  example,
  page,
} as const;

/** Templates call `this.meaningOf`. */
class Templates extends Eta {
  meaningOf = meaningOf;
}

const eta = new Templates({ escapeFunction: escapeText });
for (const [name, template] of Object.entries(templates)) eta.loadTemplate(`@${name}`, template);

const contents: [Exclude<keyof PageView, 'walk'>, id: string, title: string][] = [
  ['results', 'results', sectionTitles.results],
  ['noise', 'noise', 'Noise'],
  ['curves', 'curves', sectionTitles.curves],
  ['examples', 'examples', sectionTitles.examples],
  ['costs', 'cost', 'Cost'],
  ['runs', 'reproduce', 'Environment'],
  ['diagnostics', 'diagnostics', 'Diagnostics'],
];

/** Renders the page. It is self-contained and works offline. */
export function renderPage(view: PageView): string {
  const sections = contents.flatMap(([key, id, title]) => (view[key].length > 0 ? [{ id, title }] : []));
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
