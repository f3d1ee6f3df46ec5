/**
 * Which folder may import which: the one statement of it, read by the lint rule and by test/architecture.test.ts.
 * A layer may import itself and the layers before it.
 */
import { posix } from 'node:path';

export const layers = [
  'src/run',
  'src/store',
  'src/nn',
  'src/kg',
  'src/metrics',
  'src/embedding',
  'src/llm',
  'src/llama',
  'src/encoder',
  'datasets',
  'envs',
  'checkpoints',
  'trainers',
  'agents',
  'evaluation',
  'tasks',
  'presets',
  'models',
  'jobs',
  'plans',
  'serve',
  'export',
  'cli',
];

/** Folders outside the row: what each may import beside itself; `undefined` is anything. */
const apart = { reports: ['src/run', 'src/metrics'], bench: undefined, test: undefined };

/** What shows runs to people may draw on `reports` as well. */
const showing = ['serve', 'export', 'cli'];

const folders = [...layers, ...Object.keys(apart)];

/**
 * The layer of a source file, or undefined for a file outside every layer.
 * @param {string} file path from the repository root, with forward slashes
 */
export function layerOf(file) {
  return folders.find((folder) => file.startsWith(`${folder}/`));
}

/**
 * Why `file` may not import `specifier`, or undefined when it may.
 * @param {string} file path from the repository root
 * @param {string} specifier as written in the import; packages are always allowed
 */
export function importProblem(file, specifier) {
  if (!specifier.startsWith('.')) return undefined;
  const from = layerOf(file);
  const target = posix.normalize(posix.join(posix.dirname(file), specifier));
  const to = layerOf(target);
  if (from === undefined || to === undefined || from === to) return undefined;
  const allowed = from in apart ? apart[from] : layers.slice(0, layers.indexOf(from));
  if (allowed === undefined || allowed.includes(to) || (showing.includes(from) && to === 'reports')) return undefined;
  return `${from} may not import ${to}`;
}
