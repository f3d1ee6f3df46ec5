/** Reads settings from a file and the command line and validates them; reports all problems at once. */
import type { z } from 'zod';
import {
  display,
  expectation,
  isSection,
  type KeySchema,
  keySchemaAt,
  keySchemaOf,
  nearestKey,
} from './config-keys.js';
import { isPlain } from './config-values.js';
import { type ConfigSource, type Override, parseConfigText, parseOverride, readConfigFile } from './config-source.js';
import { WorkbenchError } from './errors.js';
import { printable } from './printable.js';

interface ConfigInput {
  /** A YAML file, which may extend another (`readConfigFile`). */
  file?: string;
  /** YAML, instead of a file. */
  text?: string;
  /** Values that were parsed already, instead of a file. */
  value?: unknown;
  /** `a.b=value`, later ones win; values are YAML. */
  overrides?: readonly string[];
  /** Place of overrides in messages. Default `--set`. */
  place?: string;
  /** Name of `text` or `value` in messages. Default `config`. */
  source?: string;
}

/**
 * Resolves settings: the file's values, then the overrides, then the schema's defaults.
 * @returns every key with its value
 * @throws WorkbenchError `config` that lists all problems, each with key, place, what was expected and what was got
 */
export function loadConfig<S extends z.ZodType>(schema: S, input: ConfigInput): z.output<S> {
  const name = input.file ?? input.source ?? 'config';
  const source = sourceOf(input, name);
  const read = (input.overrides ?? []).map(parseOverride);
  const problems = [...source.problems, ...read.flatMap((one) => ('problem' in one ? [one.problem] : []))];
  const overrides = read.flatMap((one) => ('problem' in one ? [] : [one]));
  const given = source.value ?? {};
  if (!isPlain(given)) problems.push(`expected keys and values, got ${display(given)}, at ${name}`);
  if (problems.length > 0) throw configError(problems);

  const keys = keySchemaOf(schema);
  const value = dropEmptySections(applyOverrides(given, overrides), keys);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { place = '--set' } = input;
  const placeOf = (path: readonly PropertyKey[]) => placeOfKey(path, source, overrides, place);
  // Two rules broken by one value, such as integer and minimum, become one message with the range.
  throw configError([...new Set(result.error.issues.flatMap((issue) => describeIssue(issue, value, keys, placeOf)))]);
}

function sourceOf({ file, text = '', value }: ConfigInput, name: string): ConfigSource {
  if (value !== undefined) return { value, problems: [], placeOf: () => name };
  return file === undefined ? parseConfigText(text, name) : readConfigFile(file);
}

/** A copy of `value` with these keys set; only own keys are followed, never a prototype. */
export function applyOverrides(value: unknown, overrides: readonly Override[]): Record<string, unknown> {
  const root = structuredClone(value) as Record<string, unknown>;
  for (const { path, value: leaf } of overrides) {
    let node = root;
    for (const step of path.slice(0, -1)) {
      const child = Object.hasOwn(node, step) ? node[step] : undefined;
      node = (isPlain(child) ? child : (node[step] = {})) as Record<string, unknown>;
    }
    node[path.at(-1)!] = leaf;
  }
  return root;
}

/** A section with all keys commented out reads as null and means its defaults. */
function dropEmptySections(value: unknown, schema: KeySchema): unknown {
  if (!isPlain(value)) return value;
  const kept = Object.entries(value).flatMap(([name, child]) => {
    const known = keySchemaAt(schema, [name]);
    if (child === null && known && isSection(known)) return [];
    return [[name, known ? dropEmptySections(child, known) : child]];
  });
  return Object.fromEntries(kept) as unknown;
}

function describeIssue(
  issue: z.core.$ZodIssue,
  value: unknown,
  keys: KeySchema,
  placeOf: (path: readonly PropertyKey[]) => string,
): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => {
      const key = [...issue.path, name].join('.');
      const near = nearestKey(keys, key);
      return `unknown key ${printable(key, longestKey)}${near ? `; did you mean ${near}?` : ''}${placeOf([...issue.path, name])}`;
    });
  }
  const key = issue.path.join('.');
  const found = keySchemaAt(keys, issue.path);
  // Custom rules have their own message; all other messages are built from the schema with its range.
  const expected = issue.code === 'custom' || !found ? '' : expectation(found);
  const inside = (node: unknown, step: PropertyKey) => (node as Record<PropertyKey, unknown> | undefined)?.[step];
  const got = issue.path.reduce<unknown>(inside, value);
  const message = expected ? `expected ${expected}, got ${display(got)}` : issue.message;
  return [`${key ? `${printable(key, longestKey)}: ` : ''}${message}${placeOf(issue.path)}`];
}

function placeOfKey(
  path: readonly PropertyKey[],
  source: ConfigSource,
  overrides: readonly Override[],
  by: string,
): string {
  const touches = ({ path: set }: Override) => set.every((step, i) => i >= path.length || step === String(path[i]));
  const override = path.length > 0 ? overrides.findLast(touches) : undefined;
  const place = override ? `${by} ${printable(override.path.join('.'), longestKey)}` : source.placeOf(path);
  return place ? `, at ${place}` : '';
}

/** Maximum characters of a key in messages; valid keys are shorter. */
const longestKey = 80;
/** Maximum problems shown; a file of another kind may have thousands. */
const shown = 20;

function configError(problems: readonly string[]): WorkbenchError {
  const listed = problems.slice(0, shown);
  const more = problems.length > shown ? [`… and ${problems.length - shown} more`] : [];
  const list = `${problems.length} problems:\n${[...listed, ...more].map((one) => `  ${one}`).join('\n')}`;
  return new WorkbenchError('config', problems.length === 1 ? problems[0]! : list, {
    hint: 'Every key is described by `kgwalk config explain KEY`.',
  });
}
