/** Validates JSON from files and servers, and what programs give: a known shape, or one error that names the problem. */
import { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { readTextFile } from './files.js';
import { describeValue, nearestName, printable } from './printable.js';

interface JsonPlace {
  /** Name for users, with its article: `a checkpoint index`. */
  what: string;
  place: string;
  hint?: string;
}

/** @throws WorkbenchError `data` with the place and the first position that is not JSON */
export function parseJson(text: string, { what, place, hint }: JsonPlace): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const got = `broken JSON (${printable((cause as Error).message, 120)})`;
    throw new WorkbenchError('data', `expected ${what}, got ${got}, at ${place}`, { hint, cause });
  }
}

/** @throws WorkbenchError with the place and the first part with a wrong shape @param place `code` of the error, default `data` */
export function ofShape<Schema extends z.ZodType>(
  value: unknown,
  schema: Schema,
  { what, place, hint, code = 'data' }: JsonPlace & { code?: 'data' | 'usage' },
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [first, ...more] = result.error.issues;
  const fault = [...(first!.path.length > 0 ? [first!.path.join('.')] : []), first!.message].join(': ');
  const count = more.length > 0 ? ` and ${more.length} more faults` : '';
  throw new WorkbenchError(code, `expected ${what}, got ${printable(fault, 200)}${count}, at ${place}`, { hint });
}

/** A function, in the schema of what a program gives. */
export const anyFunction = z.custom<(...args: never) => unknown>(
  (value) => typeof value === 'function',
  'expected a function',
);

/**
 * Checks what a program gives.
 * @throws WorkbenchError `config` that names every part that does not fit, and for an unknown name the nearest
 */
export function checkGiven(value: unknown, schema: z.ZodType & { shape?: object }, what: string, place: string): void {
  const { error } = schema.safeParse(value);
  if (!error) return;
  const known = Object.keys(schema.shape ?? {});
  const inside = (node: unknown, step: PropertyKey) => (node as Record<PropertyKey, unknown> | undefined)?.[step];
  const promised = typeof inside(value ?? {}, 'then') === 'function';
  const problems = (promised ? [] : error.issues).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') {
      const name = issue.path.length > 0 ? `${issue.path.join('.')}=` : '';
      return `${name}${describeValue(issue.path.reduce(inside, value))} (${issue.message.replace('Invalid input: ', '').split(', received ')[0]!})`;
    }
    return issue.keys.map((key) => {
      const near = nearestName(key, known);
      return `the unknown ${printable(key, 80)}${near === undefined ? '' : `, did you mean ${near}?`}`;
    });
  });
  throw new WorkbenchError(
    'config',
    `expected ${what}, got ${promised ? 'a Promise' : problems.join('; ')}, at ${place}`,
    { hint: `Known are ${known.join(', ') || 'none'}.` },
  );
}

const deepest = 32;

/** A value of unknown shape with limited nesting. */
export const furtherKey = z.unknown().refine((value) => isShallow(value), `expected at most ${deepest} levels`);

/** A validated value that is kept as it is: parsing orders keys by the schema, and it is written with the same bytes. */
export function asWritten<T>(schema: z.ZodType<T>): z.ZodType<T> {
  const checked = z.unknown().superRefine((value, context) => {
    const { error } = schema.safeParse(value);
    for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path, message });
  });
  return checked as unknown as z.ZodType<T>;
}

/** An object that keeps unknown keys of newer versions. */
export const openObject = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).catchall(furtherKey);

/** True if a value has limited nesting: writing, displaying and hashing recurse over it. */
export function isShallow(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

/** Start of a JSON value, for errors. */
export function shownJson(value: unknown): string {
  return isShallow(value) ? printable(JSON.stringify(value) ?? 'nothing', 80) : 'values within values';
}

/** Reads a file with one JSON value. @throws WorkbenchError `data` if it is missing, broken or has another shape */
export function readJsonFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  what: string,
  hint?: string,
): z.output<Schema> {
  const about = { what, place: path, hint };
  return ofShape(parseJson(readTextFile(path, what), about), schema, about);
}
