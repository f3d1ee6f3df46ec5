/** Parses the text of a config into plain values with the position of every key, and resolves `extends`. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { WorkbenchError } from './errors.js';
import { type Document, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, type Node, parseDocument } from 'yaml';
import { display } from './config-keys.js';
import { isPlain } from './config-values.js';
import { readTextFile } from './files.js';
import { jobFolder, packageRoot, resolvePreset } from './locations.js';
import { isPluginLabel } from './plugins.js';
import { printable } from './printable.js';

/** Plain values (null for an empty text) with the positions of their keys. */
export interface ConfigSource {
  value: unknown;
  /** Problems of the text itself, each with its position. */
  problems: string[];
  /** Position of the key at `path`, or of the nearest enclosing section; undefined if it was not given. */
  placeOf(path: readonly PropertyKey[]): string | undefined;
}

/**
 * Parses YAML 1.2 (and so JSON) without custom tags, merge keys or code; repeated keys, `__proto__` and texts beyond
 * `yamlExcess` are problems.
 * @param source name of the text in positions, usually the file’s path
 */
export function parseConfigText(text: string, source: string): ConfigSource {
  const excess = yamlExcess(text);
  if (excess !== undefined) return { value: null, problems: [`${excess}, at ${source}`], placeOf: () => undefined };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true, version: '1.2' });
  const place = (offset: number) => `${source}:${lines.linePos(offset).line}`;
  const complaints = [...document.errors, ...document.warnings];
  const problems = complaints.map((problem) => `${printable(problem.message, 200)}, at ${place(problem.pos[0])}`);
  for (const offset of protoKeys(document.contents)) problems.push(`refused key __proto__, at ${place(offset)}`);
  let value: unknown = null;
  if (problems.length === 0) {
    try {
      value = document.toJS();
      if (holdsItself(value))
        throw new TypeError('expected values that end, got an alias inside of what it stands for');
    } catch (error) {
      value = null;
      // An alias without its anchor, or aliases that multiply beyond the parser's limit.
      problems.push(`${printable((error as Error).message, 200)}, at ${source}`);
    }
  }
  const placeOf = (path: readonly PropertyKey[]) => {
    const offset = offsetOf(document, path);
    return offset === undefined ? undefined : place(offset);
  };
  return { value, problems, placeOf };
}

function holdsItself(value: unknown, around: ReadonlySet<unknown> = new Set()): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return around.has(value) || Object.values(value).some((part) => holdsItself(part, new Set(around).add(value)));
}

/** One `a.b=value` of the command line; the value is YAML: `1` is a number, `[1, 2]` a list. */
export type Override = { path: string[]; value: unknown };

/** Parses an override; returns the problem if it is invalid. */
export function parseOverride(text: string): Override | { problem: string } {
  const equals = text.indexOf('=');
  const shown = printable(text, 80);
  const path = text.slice(0, equals).trim().split('.');
  if (equals < 1 || path.includes('')) return { problem: `expected KEY=VALUE, got ${shown}, at --set` };
  if (path.includes('__proto__')) return { problem: `refused key __proto__, at --set ${shown}` };
  const source = parseConfigText(text.slice(equals + 1), `--set ${shown}`);
  return source.problems.length > 0
    ? { problem: source.problems[0]!.replace(/:\d+$/, '') }
    : { path, value: source.value };
}

function* protoKeys(node: unknown): Generator<number> {
  if (isSeq(node)) for (const item of node.items) yield* protoKeys(item);
  if (!isMap(node)) return;
  for (const { key, value } of node.items) {
    if (isScalar(key) && key.value === '__proto__') yield key.range?.[0] ?? 0;
    yield* protoKeys(value);
  }
}

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (!pair) break;
      offset = (pair.key as Node).range?.[0];
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else break;
  }
  return offset;
}

/** Maximum bytes of settings: the parser compares every key of a section with all others. */
export const longestConfig = 64 * 2 ** 10;
const deepest = 64;

/** Problem with the size or nesting of a text; undefined if it may be parsed. */
function yamlExcess(text: string): string | undefined {
  if (text.length > longestConfig) return `expected at most ${longestConfig} characters, got ${text.length}`;
  let brackets = 0;
  let indent = 0;
  let leading = true;
  for (const token of new Lexer().lex(text)) {
    if (token === '\n' || token === '\r\n') {
      indent = 0;
      leading = true;
    } else if (leading && /^[ \t?-]+$/.test(token)) indent += token.length;
    else if (!/^[\x02\x18\x1f\ufeff]/.test(token)) leading = false;
    if (token === '[' || token === '{') brackets++;
    else if (token === ']' || token === '}') brackets--;
    // A level takes at least one bracket, or one column of indentation or list marks.
    if (brackets > deepest || (leading && indent > 2 * deepest)) return `expected at most ${deepest} levels, got more`;
  }
  return undefined;
}

/**
 * Reads a config file. With `extends: NAME` it lies over that file: sections are merged, everything else replaces what
 * is below. NAME is a YAML file next to this one or a preset, as `resolvePreset` takes it.
 * @returns the values of all files; a place is in the uppermost file that gives the key
 * @throws WorkbenchError `usage` for a missing file, and in a job for a file that neither it nor the package has
 */
export function readConfigFile(file: string, above: readonly string[] = []): ConfigSource {
  refuseOutsideJob(file);
  const source = withPlugins(parseConfigText(readTextFile(file, 'a config file', longestConfig), file), file);
  if (!isPlain(source.value) || !Object.hasOwn(source.value, 'extends')) return source;
  const { extends: name, ...own } = source.value;
  const at = `at ${source.placeOf(['extends'])}`;
  const refused = (problem: string): ConfigSource => ({ ...source, value: own, problems: [problem] });
  if (typeof name !== 'string') return refused(`extends: expected the name of a preset or a YAML file, ${at}`);
  const seen = [...above, resolve(file)];
  const base = besideOrPreset(file, name);
  if (base === undefined)
    return refused(`extends: expected a preset or a YAML file, got ${printable(name, 80)}, ${at}`);
  if (seen.includes(base)) return refused(`extends: expected a file that does not extend this one, got ${base}, ${at}`);
  const below = readConfigFile(base, seen);
  if (below.problems.length > 0) return below;
  const given = below.value ?? {};
  if (!isPlain(given)) return refused(`expected keys and values, got ${display(given)}, at ${base}`);
  return {
    value: laidOver(own, given),
    problems: [],
    placeOf: (path) => (hasKey(own, path) || !hasKey(given, path) ? source : below).placeOf(path),
  };
}

function refuseOutsideJob(file: string): void {
  const job = jobFolder();
  if (job === undefined) return;
  const real = realpathSync(file);
  if ([job, join(packageRoot(), 'presets')].some((folder) => real.startsWith(realpathSync(folder) + sep))) return;
  throw new WorkbenchError('usage', `expected settings of the job or of the package, got ${file}`, {
    hint: 'A job reads no settings of the machine that runs it: write the plan again with them.',
  });
}

/** Plugin paths are relative to the settings file. Settings of run folders load no plugin: these may come from others. */
function withPlugins(source: ConfigSource, file: string): ConfigSource {
  const { value } = source;
  if (!isPlain(value) || !Array.isArray(value['plugins'])) return source;
  const isFile = (entry: unknown): entry is string => typeof entry === 'string' && !isPluginLabel(entry);
  const entries = value['plugins'] as unknown[];
  if (existsSync(join(dirname(file), 'environment.json')) && entries.some(isFile)) {
    const problem = `plugins: expected no file from the settings of a run, got ${display(entries.find(isFile))}, at ${source.placeOf(['plugins'])}; name it yourself by --plugin`;
    return { ...source, problems: [...source.problems, problem] };
  }
  const plugins = entries.map((entry) => (isFile(entry) ? resolve(dirname(file), entry) : entry));
  return { ...source, value: { ...value, plugins } };
}

function besideOrPreset(file: string, name: string): string | undefined {
  const sibling = resolve(dirname(file), /\.ya?ml$/.test(name) ? name : `${name}.yaml`);
  if (existsSync(sibling)) return sibling;
  try {
    return resolvePreset(name);
  } catch {
    return undefined;
  }
}

/** An empty section, such as one with all keys commented out, changes nothing. */
function laidOver(above: Record<string, unknown>, below: Record<string, unknown>): Record<string, unknown> {
  const merged = Object.entries(above).map(([name, value]): [string, unknown] => {
    const other = Object.hasOwn(below, name) ? below[name] : undefined;
    if (!isPlain(other)) return [name, value];
    return [name, value === null ? other : isPlain(value) ? laidOver(value, other) : value];
  });
  return { ...below, ...Object.fromEntries(merged) };
}

function hasKey(value: unknown, [first, ...rest]: readonly PropertyKey[]): boolean {
  if (first === undefined) return true;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, first)) return false;
  return hasKey((value as Record<PropertyKey, unknown>)[first], rest);
}
