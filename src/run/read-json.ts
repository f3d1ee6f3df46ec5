/** JSON from files and servers, checked before it is believed: its shape is known, or one error says what is wrong. */
import { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { readTextFile } from './files.js';
import { printable } from './printable.js';

interface JsonPlace {
  /** To the user, with its article: `a checkpoint index`. */
  what: string;
  /** File, and line where there are several. */
  place: string;
  hint?: string;
}

/** @throws WorkbenchError `data` with the place and the first thing that is no JSON */
export function parseJson(text: string, { what, place, hint }: JsonPlace): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const got = `broken JSON (${printable((cause as Error).message, 120)})`;
    throw new WorkbenchError('data', `expected ${what}, got ${got}, at ${place}`, { hint, cause });
  }
}

/** @throws WorkbenchError `data` with the place and the first part that is not of the shape */
export function ofShape<Schema extends z.ZodType>(
  value: unknown,
  schema: Schema,
  { what, place, hint }: JsonPlace,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [first, ...more] = result.error.issues;
  const fault = [...(first!.path.length > 0 ? [first!.path.join('.')] : []), first!.message].join(': ');
  const count = more.length > 0 ? ` and ${more.length} more faults` : '';
  throw new WorkbenchError('data', `expected ${what}, got ${printable(fault, 200)}${count}, at ${place}`, { hint });
}

const deepest = 32;

/** A value nobody knows yet, of few levels. */
export const furtherKey = z.unknown().refine((value) => isShallow(value), `expected at most ${deepest} levels`);

/** A value that is checked and left as it is, so that written again it has the same bytes: parsing orders keys by the schema. */
export function asWritten<T>(schema: z.ZodType<T>): z.ZodType<T> {
  const checked = z.unknown().superRefine((value, context) => {
    const { error } = schema.safeParse(value);
    for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path, message });
  });
  return checked as unknown as z.ZodType<T>;
}

/** An object whose further keys are kept, as newer programs may have written them. */
export function openObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape).catchall(furtherKey);
}

/** Whether a value has few levels: what is written again, shown or hashed is gone through by recursion, which JSON can exhaust. */
export function isShallow(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

/** The beginning of a JSON value, for errors. */
export function shownJson(value: unknown): string {
  return isShallow(value) ? printable(JSON.stringify(value) ?? 'nothing', 80) : 'values within values';
}

/** Reads a file of one JSON value. @throws WorkbenchError `data` for one that is missing, broken or of another shape */
export function readJsonFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  what: string,
  hint?: string,
): z.output<Schema> {
  const about = { what, place: path, ...(hint !== undefined && { hint }) };
  return ofShape(parseJson(readTextFile(path, what), about), schema, about);
}
