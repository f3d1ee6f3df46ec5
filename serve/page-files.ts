/** Files of the page: a fixed list; no file is looked up by a name from a request. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { chartLibrary } from '../reports/scripts.js';
import { WorkbenchError } from '../src/run/errors.js';
import { packageRoot } from '../src/run/locations.js';
import { pageStyle } from './page-style.js';

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
<script src="/scripts/serve/browser/main.js" type="module"></script>
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

interface PageFile {
  type: string;
  body: string;
}

const script = 'text/javascript; charset=utf-8';

/** Files by URL path. @throws WorkbenchError `failure` if the program was not built */
export function openPageFiles(): ReadonlyMap<string, PageFile> {
  return new Map<string, PageFile>([
    ['/', { type: 'text/html; charset=utf-8', body: pageHtml }],
    ['/style.css', { type: 'text/css; charset=utf-8', body: pageStyle }],
    ['/chart.js', { type: script, body: chartLibrary() }],
    ...modules('serve/browser/main.js'),
  ]);
}

const imports = /^(?:import|export) [^;]*?from '(\.[^']+)';/gm;

/** A compiled module and its imports, each at `/scripts/` and its path. */
function modules(entry: string): [string, PageFile][] {
  const compiled = join(packageRoot(), 'dist');
  const found = new Map<string, PageFile>();
  const add = (file: string) => {
    const address = `/scripts/${relative(compiled, file).split(sep).join('/')}`;
    if (found.has(address)) return;
    if (!existsSync(file)) {
      throw new WorkbenchError('failure', `expected the page's scripts, got none, at ${file}`, {
        hint: 'They come with the package; in a clone `npm run build` makes them.',
      });
    }
    const body = readFileSync(file, 'utf8');
    found.set(address, { type: script, body });
    for (const [, from] of body.matchAll(imports)) add(join(dirname(file), from!));
  };
  add(join(compiled, entry));
  return [...found];
}
