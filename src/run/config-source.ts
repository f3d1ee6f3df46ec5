/** The text of a config as plain values, and the place of every key in it. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';
import { printable } from './printable.js';
import { yamlExcess } from './yaml-limits.js';

/** Plain values (null for an empty text) with the places their keys came from. */
export interface ConfigSource {
  value: unknown;
  /** What is wrong with the text itself, each with its place. */
  problems: string[];
  /** Where the key at `path`, or the nearest section around it, was given; undefined where it was not. */
  placeOf(path: readonly PropertyKey[]): string | undefined;
}

/**
 * Reads YAML 1.2 (so JSON too) without custom tags, merge keys or code; repeated keys, a key named `__proto__`
 * and a text beyond `yamlExcess` are problems.
 * @param source what to call the text in places, usually the file's path
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
    } catch (error) {
      // An alias without its anchor, or aliases that multiply beyond the parser's limit.
      problems.push(`${printable((error as Error).message, 200)}, at ${source}`);
    }
  }
  return {
    value,
    problems,
    placeOf(path) {
      const offset = offsetOf(document, path);
      return offset === undefined ? undefined : place(offset);
    },
  };
}

/** Whether a value is a section: keys with values, no list. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One `a.b=value` of the command line; the value is YAML, so `1` is a number and `[1, 2]` a list. */
export interface Override {
  path: string[];
  value: unknown;
}

/** Reads an override, or says what is wrong with it. */
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
