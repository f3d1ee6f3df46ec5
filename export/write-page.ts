/** The page of a run as one file: its data, two scripts and a policy that forbids the network. */
import { escapeText } from '../reports/html.js';
import { browserModule, hashSource } from '../reports/scripts.js';
import { style } from '../reports/style.js';
import { pageStyle } from '../serve/page-files.js';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import { type ExportOptions, pageParts } from './contents.js';
import { pack } from './pack.js';

/** Bytes of a page at most: what mail and chat take. */
const mostBytes = 10 * 1000 * 1000;

/** Writes the page. @returns its size in bytes @throws as `pageParts`, and WorkbenchError `data` where it is too large */
export async function writeAgentPage(file: string, options: ExportOptions): Promise<number> {
  const { about, ...parts } = await pageParts(options);
  const packed = Object.entries({ about, ...parts }).flatMap(([name, part]) =>
    part === undefined ? [] : [[name, pack(part)] as const],
  );
  const scripts = {
    agent: browserModule('export/page/main', 'export/browser/stand-ins'),
    page: `${browserModule('export/browser/page')}${opening}`,
  };
  const css = style + pageStyle + own;
  const sources = Object.values(scripts).map(hashSource).join(' ');
  const policy = `default-src 'none'; script-src ${sources} 'wasm-unsafe-eval'; style-src ${hashSource(css)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const facts = Object.entries(about.facts).map(
    ([name, value]) => `<div><dt>${escapeText(name)}</dt><dd>${escapeText(value)}</dd></div>`,
  );
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeText(about.run)}</title>
<link rel="icon" href="data:,">
<style>${css}</style>
</head>
<body>
<h1>${escapeText(about.run)}</h1>
<p class="summary">This file is ${escapeText(about.kind)}. It holds the graph and the weights, answers here and needs no network.</p>
<main><p class="quiet">opening …</p><noscript>This page needs JavaScript.</noscript></main>
<dl class="facts">${facts.join('')}</dl>
${packed.map(([name, text]) => `<script type="text/plain" data-part="${name}">${text}</script>`).join('\n')}
<script type="module">${scripts.agent}</script>
<script type="module">${scripts.page}</script>
</body>
</html>
`;
  const bytes = Buffer.byteLength(page);
  if (bytes > mostBytes) throw tooLarge(bytes, [...packed, ['scripts', scripts.agent + scripts.page + css]]);
  writeFileAtomic(file, page);
  return bytes;
}

const opening = `
try {
  const parts = [...document.querySelectorAll('[data-part]')];
  const agent = await kgwalk.openAgent(Object.fromEntries(parts.map((part) => [part.dataset.part, part.textContent])));
  for (const part of parts) part.remove();
  kgwalk.agent = agent;
  showPage(agent);
} catch (error) {
  document.querySelector('main').textContent = 'This browser cannot open the page: ' + error.message;
}
`;

function tooLarge(bytes: number, parts: readonly (readonly [string, string])[]): WorkbenchError {
  const megabytes = (size: number) => `${(size / 1e6).toFixed(1)} MB`;
  const sizes = parts.map(([name, text]) => `${name} ${megabytes(text.length)}`).join(', ');
  const message = `expected a page of at most ${megabytes(mostBytes)}, got ${megabytes(bytes)}: ${sizes}`;
  return new WorkbenchError('data', message, { hint: 'Train a run over a smaller graph, or a smaller network.' });
}

/** On top of the styles of the report and of the live page. */
const own = `
body { max-width: 68rem; margin: 0 auto; padding: 2rem 1.4rem 3rem; }
main { padding: 0.6rem 0 0; }
.ask { max-width: none; }
.offers { max-width: none; }
.answered { max-width: none; }
.both { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0.6rem 2rem; align-items: start; }
.answer { font: inherit; font-size: 0.9rem; color: var(--ink); background: none; border: 0; border-radius: 6px; width: 100%; text-align: left; padding: 0.3rem 0.5rem; display: grid; grid-template-columns: 1fr auto; gap: 0 0.8rem; cursor: pointer; }
.answer:hover { background: var(--panel); }
.answer[aria-pressed=true] { background: var(--soft); }
.answer b { font-weight: 500; overflow-wrap: anywhere; }
.answer span { color: var(--quiet); font-variant-numeric: tabular-nums; }
.answer i { grid-column: 1 / -1; height: 3px; border-radius: 2px; background: var(--accent); min-width: 1px; }
.ask .wide:first-child:not(:nth-last-child(2)) { flex-grow: 3; }
.answered header .quiet { white-space: nowrap; }
.drawn .walks-drawn { font-size: 11px; max-width: none; }
.offers .more { background: none; color: var(--accent); }
@media (max-width: 700px) {
  body { padding: 1.2rem 1rem 2rem; }
  .both { grid-template-columns: minmax(0, 1fr); }
  .ask .wide { flex: 1 1 100%; }
}
`;
