/** Pieces of replies: fields, numbers, names and texts out of JSON values that anything may have written. */
import { snapName } from './snap-name.js';

/** Most entries of a written list that are looked at: a model that never stops must not cost time. */
const longestList = 500;
/** Longest text that is kept of a reply, in UTF-16 units. */
const longestText = 1000;

/** A field of an object; lenient: the first of the other names too, letter case ignored. */
export function field(value: unknown, name: string, lenient: boolean, others: readonly string[] = []): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Object.hasOwn(value, name)) return (value as Record<string, unknown>)[name];
  if (!lenient) return undefined;
  const entries = Object.entries(value);
  for (const wanted of [name, ...others]) {
    const entry = entries.find(([key]) => key.toLowerCase().replace(/[\s_-]/g, '') === wanted.toLowerCase());
    if (entry) return entry[1];
  }
  return undefined;
}

/** A list, of which only the first entries are looked at. */
export function listOf(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value.slice(0, longestList) : undefined;
}

/** A whole number within bounds; lenient: written as text too. */
export function wholeNumber(value: unknown, low: number, high: number, lenient: boolean): number | undefined {
  const number = lenient && typeof value === 'string' && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : value;
  return Number.isInteger(number) && (number as number) >= low && (number as number) <= high
    ? (number as number)
    : undefined;
}

/** A text on one line, without white space around it; undefined for what is no text or empty. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.slice(0, longestText).replace(/\s+/gu, ' ').trim();
  return text === '' ? undefined : text;
}

/** Different texts of a list, letter case ignored, in order. */
export function distinctTexts(values: readonly unknown[], limit: number): string[] {
  const found = new Map<string, string>();
  for (const value of values) {
    const text = textOf(value);
    if (text !== undefined && !found.has(text.toLowerCase())) found.set(text.toLowerCase(), text);
    if (found.size === limit) break;
  }
  return [...found.values()];
}

/**
 * Index of the offered thing that a number (counting from 1) means, -1 for 0; lenient: that a name means, too.
 * Undefined for anything else, such as a number out of range.
 */
export function offeredIndex(value: unknown, offered: readonly string[], lenient: boolean): number | undefined {
  const number = wholeNumber(value, 0, offered.length, lenient);
  if (number !== undefined) return number - 1;
  return lenient && typeof value === 'string' ? writtenIndex(value, offered) : undefined;
}

/**
 * Index of the offered thing that a line means: `3`, `3. name`, `name`, `none`. Where a number and a name stand in one
 * line the name counts: lists are often numbered anew. Digits inside names are never read.
 */
export function writtenIndex(line: string, offered: readonly string[]): number | undefined {
  const exact = offered.indexOf(line);
  if (exact >= 0) return exact;
  const text = unwrapped(line);
  if (/^(?:none|nothing|none of (?:them|these)|no candidate|null|n\/a)\.?$/i.test(text)) return -1;
  const [, number, rest] = /^(\d{1,6})(?:[.):]\s*|\s+[-–]\s+|$)(.*)$/s.exec(text) ?? [];
  if (rest === '') return Number(number) <= offered.length ? Number(number) - 1 : undefined;
  return snapName(text, offered) ?? (rest === undefined ? undefined : snapName(unwrapped(rest), offered));
}

/** Without quotes, brackets, emphasis and a full stop around it. */
export function unwrapped(text: string): string {
  let inner = text.trim();
  for (let turn = 0; turn < 4; turn++) {
    const wrapped = /^(?:"(.*)"|'(.*)'|“(.*)”|`(.*)`|\*\*(.*)\*\*|\[(.*)\]|\{(.*)\}|\((.*)\))[.,]?$/s.exec(inner);
    const next = wrapped
      ?.slice(1)
      .find((group) => group !== undefined)
      ?.trim();
    if (next === undefined) break;
    inner = next;
  }
  return inner.replace(/^(\d+)\.$/, '$1');
}
