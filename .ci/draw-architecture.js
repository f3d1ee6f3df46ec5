/**
 * Draws docs/images/architecture.svg from the code: a row a layer, the folders in it, which layers it imports, and which
 * stations of the first journey (docs/architecture.md) lie in it. Nothing in it is counted, so it changes when a folder, a
 * direction of imports or a station does, and not otherwise; test/docs/architecture-picture.test.ts says when to draw it again.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { layerOf, layers } from '../layers.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What each layer is, in a few words. */
const says = {
  'src/run': 'run folders, records, settings, seeds, logs, errors',
  'src/store': 'a database that processes share',
  'src/kg': 'graphs, frontiers, paths, endpoints',
  'src/metrics': 'ranks, hits, intervals',
  'src/embedding': 'scorers of triples',
  'src/nn': 'tape, executors, optimizer',
  'src/llm': 'language models and decisions',
  'src/llama': 'a Llama that is trained',
  'src/encoder': 'texts to vectors, cached',
  datasets: 'releases to samples {task, gold}',
  envs: 'reset, step, action mask, reward',
  checkpoints: 'weights on disk, which to keep',
  agents: 'whatever answers: sees tasks, never golds',
  evaluation: 'ask, score, interval, compare, keep',
  trainers: 'PPO, cloning, embeddings, resume',
  tasks: 'what differs: dialogues, questions, links',
  presets: 'settings as YAML',
  models: 'how the model of the package is made',
  jobs: 'parts of commands, on any machine',
  plans: 'which runs to train: seeds, forks, sweeps',
  export: 'an agent as one page',
  serve: 'runs in a browser, live',
  cli: 'one file a command',
  reports: 'the page, from records alone',
};

const imports = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;

/** Files of a folder and below, by path from the root, in order. */
function sourcesIn(folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? sourcesIn(path) : entry.name.endsWith('.ts') ? [path] : [];
    });
}

/** Numbers of the stations in the list of docs/architecture.md, by layer. */
function stations() {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const found = {};
  for (const [, number, file] of page.matchAll(/^(\d+)\. \*\*[^*]+\*\*: \[`([^`]+)`\]/gm))
    (found[layerOf(file)] ??= []).push(number);
  return found;
}

/** The rows of the picture, top to bottom: each layer with the folders right inside it and the layers it imports. */
export function structure() {
  const showing = ['cli', 'export', 'serve'];
  const names = [...showing, 'reports', ...layers.toReversed().filter((name) => !showing.includes(name))];
  const passed = stations();
  return names.map((name) => {
    const files = sourcesIn(name);
    const below = files.map((file) => file.slice(name.length + 1).split('/')).filter((parts) => parts.length > 1);
    const found = files.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(imports)].map(([, specifier]) =>
        layerOf(posix.join(posix.dirname(file), specifier)),
      ),
    );
    return {
      name,
      says: says[name],
      folders: [...new Set(below.map(([folder]) => folder))],
      stations: passed[name] ?? [],
      imports: names.filter((other) => other !== name && found.includes(other)),
    };
  });
}

const row = 34;
const cell = 22;
const left = 16;
const top = 132;
const saysColumn = 128;
const stationColumn = 402;
const folderColumn = 490;
const grid = 850;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Names side by side in at most two lines. */
function inTwoLines(words, room) {
  const lines = [''];
  for (const word of words) {
    const longer = lines.at(-1) === '' ? word : `${lines.at(-1)} · ${word}`;
    if (longer.length <= room || lines.length === 2) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The picture as SVG. */
export function draw() {
  const rows = structure();
  const bottom = top + rows.length * row;
  const width = grid + rows.length * cell + left;
  const x = (i) => grid + i * cell + cell / 2;
  const y = (i) => top + i * row + row / 2;
  const label = (text, attributes) => `  <text ${attributes}>${escaped(text)}</text>`;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 44}" role="img">`,
    '  <title>The layers of kgwalk, the folders in them, and which layer imports which</title>',
    '  <style>',
    '    text { font: 13px system-ui, sans-serif; fill: #1f2328 }',
    '    .name { font-weight: 600 } .small { font-size: 11.5px; fill: #59636e }',
    '    .station { fill: none; stroke: #bc4c00; stroke-width: 1.5 }',
    '    .number { font-size: 11.5px; font-weight: 600; text-anchor: middle; fill: #bc4c00 }',
    '    .band { fill: #f6f8fa } .line { stroke: #d1d9e0 } .dot { fill: #0969da } .self { fill: #afb8c1 }',
    '    @media (prefers-color-scheme: dark) {',
    '      text { fill: #f0f6fc } .small { fill: #9198a1 } .band { fill: #151b23 }',
    '      .station { stroke: #f0883e } .number { fill: #f0883e }',
    '      .line { stroke: #3d444d } .dot { fill: #4493f8 } .self { fill: #59636e }',
    '    }',
    '  </style>',
    label('layer', `class="small" x="${left}" y="${top - 12}"`),
    label('a sample’s way', `class="small" x="${stationColumn - 8}" y="${top - 12}"`),
    label('folders in it', `class="small" x="${folderColumn}" y="${top - 12}"`),
  ];
  rows.forEach(({ name }, i) => {
    lines.push(label(name, `class="small" transform="translate(${x(i) + 4} ${top - 10}) rotate(-60)"`));
  });
  rows.forEach(({ name, says: words, folders, stations: numbers, imports: below }, i) => {
    if (i % 2 === 0) {
      lines.push(`  <rect class="band" x="0" y="${top + i * row}" width="${width}" height="${row}"/>`);
    }
    lines.push(
      label(name, `class="name" x="${left}" y="${y(i) + 4.5}"`),
      label(words, `class="small" x="${saysColumn}" y="${y(i) + 4}"`),
    );
    numbers.forEach((number, at) => {
      const centre = stationColumn + at * 24;
      lines.push(
        `  <circle class="station" cx="${centre}" cy="${y(i)}" r="10"/>`,
        label(number, `class="number" x="${centre}" y="${y(i) + 4}"`),
      );
    });
    const shown = inTwoLines(folders, 62);
    shown.forEach((text, at) => {
      const lift = shown.length === 1 ? 4 : at === 0 ? -3 : 11;
      if (text) lines.push(label(text, `class="small" x="${folderColumn}" y="${y(i) + lift}"`));
    });
    lines.push(`  <rect class="self" x="${x(i) - 3.5}" y="${y(i) - 3.5}" width="7" height="7" rx="1.5"/>`);
    rows.forEach((other, at) => {
      if (below.includes(other.name)) lines.push(`  <circle class="dot" cx="${x(at)}" cy="${y(i)}" r="4.5"/>`);
    });
  });
  lines.push(
    `  <line class="line" x1="${x(0)}" y1="${y(0)}" x2="${x(rows.length - 1)}" y2="${y(rows.length - 1)}"/>`,
    label(
      'A dot: the layer of the row imports that of the column. None lies left of the squares: imports go down, never up.',
      `class="small" x="${left}" y="${bottom + 26}"`,
    ),
    '</svg>',
    '',
  );
  return lines.join('\n');
}

/** Where the picture is kept. */
export const picture = 'docs/images/architecture.svg';

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) writeFileSync(join(root, picture), draw());
