/** Files of the page: a fixed list; no file is looked up by a name from a request. */
import { browserModule, chartLibrary } from '../reports/scripts.js';
import { style } from '../reports/style.js';

/** The page: a frame filled by scripts. It contains no text from data. */
const pageHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>kgwalk</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
<script src="/chart.js" defer></script>
<script src="/main.js" type="module"></script>
</head>
<body>
<a class="skip" href="#view">Skip to the content</a>
<header class="bar">
<p class="brand">kgwalk</p>
<nav id="tabs" aria-label="views"></nav>
<p id="connection" role="status"></p>
</header>
<div class="columns">
<aside id="runs" aria-label="runs"></aside>
<main id="view" tabindex="-1"><noscript>This page needs JavaScript; \`kgwalk report RUN\` writes one that can be read without.</noscript></main>
</div>
</body>
</html>
`;

type PageFile = { type: string; body: string };

const script = 'text/javascript; charset=utf-8';

/** Files by URL path. @throws WorkbenchError `failure` if the program was not built */
export function openPageFiles(): ReadonlyMap<string, PageFile> {
  return new Map<string, PageFile>([
    ['/', { type: 'text/html; charset=utf-8', body: pageHtml }],
    ['/style.css', { type: 'text/css; charset=utf-8', body: style + pageStyle }],
    ['/chart.js', { type: script, body: chartLibrary() }],
    ['/main.js', { type: script, body: browserModule('serve/browser/main') }],
  ]);
}

/** On top of the style of the report: tabs over a list of runs, forms and cards. */
export const pageStyle = `
body { max-width: none; margin: 0; padding: 0; }
.skip { position: absolute; left: 0.5rem; top: -3rem; background: var(--paper); padding: 0.4rem 0.8rem; z-index: 3; }
.skip:focus { top: 0.5rem; }
main:focus { outline: none; }
.bar { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; gap: 0.4rem 1.6rem; flex-wrap: wrap; padding: 0.55rem 1.4rem; background: var(--paper); border-bottom: 1px solid var(--line); }
.brand { margin: 0; font-weight: 700; letter-spacing: -0.01em; }
.bar nav { margin: 0; gap: 0.2rem; font-size: 0.92rem; }
.bar nav a { color: var(--quiet); padding: 0.25rem 0.7rem; border-radius: 6px; }
.bar nav a:hover { text-decoration: none; background: var(--panel); }
.bar nav a[aria-current] { color: var(--ink); background: var(--soft); font-weight: 600; }
#connection { margin: 0 0 0 auto; color: var(--bad); font-size: 0.86rem; }
#connection:empty { display: none; }
.columns { display: grid; grid-template-columns: minmax(15rem, 19rem) minmax(0, 1fr); align-items: start; }
aside { position: sticky; top: 3.1rem; height: calc(100vh - 3.1rem); overflow-y: auto; padding: 1rem 0.6rem 2rem 1.4rem; border-right: 1px solid var(--line); font-size: 0.86rem; }
main { padding: 1.2rem 1.6rem 4rem; min-width: 0; }
main h1 { font-size: 1.35rem; margin: 0 0 0.6rem; }
main h2 { border: 0; padding: 0; margin: 0; font-size: 1.08rem; }
aside ul { list-style: none; margin: 0.2rem 0; padding: 0; }
aside summary { cursor: pointer; padding: 0.15rem 0; }
aside details { margin: 0; }
aside details.sweep { margin-top: 0.5rem; border-top: 1px solid var(--line); padding-top: 0.3rem; }
.choose { display: flex; gap: 0.3rem; margin: 0.3rem 0; }
.choose button, .controls button, .act { font: inherit; font-size: 0.8rem; color: var(--ink); background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 0.15rem 0.6rem; cursor: pointer; }
.choose button:hover, .controls button:hover, .act:hover { border-color: var(--quiet); }
aside label { display: grid; grid-template-columns: 1rem minmax(0, 1fr) auto; gap: 0 0.5rem; padding: 0.28rem 0.4rem; border-radius: 6px; cursor: pointer; align-items: baseline; }
aside label:hover { background: var(--panel); }
aside input { margin: 0; accent-color: var(--accent); align-self: center; }
aside .name { overflow-wrap: anywhere; font-weight: 500; line-height: 1.3; }
aside .stroke { display: inline-block; width: 0.75rem; height: 3px; border-radius: 2px; margin-right: 0.4rem; vertical-align: middle; }
aside .about, aside .reason { grid-column: 2 / -1; color: var(--quiet); font-size: 0.78rem; line-height: 1.35; overflow-wrap: anywhere; }
aside .reason { color: var(--bad); }
.state { font-size: 0.72rem; padding: 0.02rem 0.45rem; border-radius: 99px; background: var(--panel); color: var(--quiet); white-space: nowrap; }
.state.running { background: var(--soft); color: var(--accent); font-weight: 600; }
.state.finished { background: var(--good-soft); color: var(--good); }
.state:is(.failed, .broken, .stale) { background: var(--bad-soft); color: var(--bad); }
.controls { display: flex; flex-wrap: wrap; gap: 0.5rem 1.3rem; align-items: center; margin: 0 0 0.6rem; font-size: 0.84rem; }
.field { display: inline-flex; align-items: center; gap: 0.45rem; }
.field > span { color: var(--quiet); }
.field :is(select, input[type=search], input[type=text], input[type=number], textarea) { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: 0.2rem 0.45rem; min-width: 0; }
.field input[type=range] { width: 8rem; accent-color: var(--accent); }
.field output { font-variant-numeric: tabular-nums; min-width: 2.2em; }
details.phase { margin: 0 0 1.2rem; }
details.phase > summary { display: flex; align-items: baseline; gap: 0.7rem; padding: 0.3rem 0; border-bottom: 1px solid var(--line); margin-bottom: 0.8rem; }
details.phase > summary .quiet { white-space: nowrap; }
details.phase h2::first-letter { text-transform: uppercase; }
details.phase > summary::before { content: "▸"; color: var(--quiet); }
details.phase[open] > summary::before { content: "▾"; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); gap: 1.2rem 1.6rem; }
.card { min-width: 0; min-height: 16rem; }
.trouble { background: var(--bad-soft); border-left: 4px solid var(--bad); border-radius: 0 8px 8px 0; padding: 0.5rem 0.9rem; margin: 0.8rem 0; overflow-wrap: anywhere; }
.trouble p { margin: 0.1rem 0; }
td code { white-space: nowrap; }
section.set { margin: 0 0 2.4rem; }
section.set .scroll { margin: 0.5rem 0; }
.better { color: var(--good); } .worse { color: var(--bad); }
.better small, .worse small { color: inherit; }
.ask { display: flex; flex-wrap: wrap; gap: 0.6rem 1.2rem; align-items: center; margin: 0 0 1rem; font-size: 0.9rem; max-width: 60rem; }
.ask .wide { flex: 1 1 20rem; }
.ask .wide:has([name=question]) { flex-basis: 100%; }
.ask .wide input { flex: 1; padding: 0.4rem 0.6rem; }
.completed { position: relative; display: flex; flex: 1; min-width: 0; }
.names { position: absolute; z-index: 1; top: 100%; left: 0; right: 0; max-height: 15rem; overflow-y: auto; margin: 0.2rem 0 0; padding: 0.2rem; list-style: none; color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 6px; box-shadow: 0 4px 14px rgb(0 0 0 / 0.18); }
.names li { padding: 0.3rem 0.5rem; border-radius: 4px; cursor: pointer; overflow-wrap: anywhere; }
.names li:is(:hover, [aria-selected=true]) { background: var(--soft); }
.offers { display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; margin: 0 0 1rem; max-width: 60rem; color: var(--quiet); font-size: 0.86rem; }
.offers button { font: inherit; color: var(--ink); text-align: left; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 0.25rem 0.6rem; cursor: pointer; overflow-wrap: anywhere; min-width: 0; }
.offers button:hover { border-color: var(--quiet); }
.act { font-size: 0.86rem; padding: 0.35rem 1rem; font-weight: 600; }
.answered { margin: 0 0 1rem; max-width: 60rem; }
.answered header { font-size: 0.95rem; overflow-wrap: anywhere; }
.answered header .quiet { white-space: nowrap; overflow-wrap: normal; }
.answered th:not(.words):not(:first-child) { text-align: right; }
.answered :is(th, td):first-child:not(.words) { min-width: 0; width: 4rem; }
.example ol { margin: 0.3rem 0; padding-left: 1.8rem; font-size: 0.88rem; }
.field select { max-width: min(34rem, 60vw); }
@media (max-width: 900px) {
  .columns { grid-template-columns: minmax(0, 1fr); }
  aside { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 0.6rem 1rem; }
  main { padding: 1rem; }
  .bar { padding: 0.5rem 1rem; gap: 0.2rem 1rem; }
  .brand { width: 100%; }
  .bar nav { margin-left: -0.45rem; gap: 0; }
  .bar nav a { padding: 0.4rem 0.45rem; }
  aside label { padding: 0.5rem 0.4rem; }
}
`;
