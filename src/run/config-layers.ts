/** A config file and the one that it extends: what it leaves out comes from there. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { display } from './config-keys.js';
import { isPlain, parseConfigText } from './config-source.js';
import type { ConfigSource } from './config-source.js';
import { readTextFile } from './files.js';
import { resolvePreset } from './locations.js';
import { printable } from './printable.js';
import { longestConfig } from './yaml-limits.js';

/** The key at the top of a file that names the one below it. */
const key = 'extends';

/**
 * Reads a config file. With `extends: NAME` at its top it lies over that file: sections are merged key by key, everything
 * else replaces what is below it. NAME is a YAML file beside this one or a preset, as `resolvePreset` takes it.
 * @returns the values of all files without `extends`; a place is in the uppermost file that gives the key
 * @throws WorkbenchError `usage` for a file that is not there
 */
export function readConfigFile(file: string, above: readonly string[] = []): ConfigSource {
  const source = parseConfigText(readTextFile(file, 'a config file', longestConfig), file);
  if (!isPlain(source.value) || !Object.hasOwn(source.value, key)) return source;
  const { [key]: name, ...own } = source.value;
  const at = `at ${source.placeOf([key])}`;
  const refused = (problem: string): ConfigSource => ({ ...source, value: own, problems: [problem] });
  if (typeof name !== 'string') return refused(`${key}: expected the name of a preset or a YAML file, ${at}`);
  const seen = [...above, resolve(file)];
  const base = besideOrPreset(file, name);
  if (base === undefined) return refused(`${key}: expected a preset or a YAML file, got ${printable(name, 80)}, ${at}`);
  if (seen.includes(base)) return refused(`${key}: expected a file that does not extend this one, got ${base}, ${at}`);
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

function besideOrPreset(file: string, name: string): string | undefined {
  const beside = resolve(dirname(file), /\.ya?ml$/.test(name) ? name : `${name}.yaml`);
  if (existsSync(beside)) return beside;
  try {
    return resolvePreset(name);
  } catch {
    return undefined;
  }
}

/** A section that is empty above, such as one whose keys are all commented out, changes nothing. */
function laidOver(above: Record<string, unknown>, below: Record<string, unknown>): Record<string, unknown> {
  const merged = Object.entries(above).map(([name, value]): [string, unknown] => {
    const other = Object.hasOwn(below, name) ? below[name] : undefined;
    if (!isPlain(other)) return [name, value];
    return [name, value === null ? other : isPlain(value) ? laidOver(value, other) : value];
  });
  return { ...below, ...Object.fromEntries(merged) };
}

function hasKey(value: unknown, path: readonly PropertyKey[]): boolean {
  if (path.length === 0) return true;
  const [first, ...rest] = path;
  return typeof value === 'object' && value !== null && Object.hasOwn(value, first!)
    ? hasKey((value as Record<PropertyKey, unknown>)[first!], rest)
    : false;
}
