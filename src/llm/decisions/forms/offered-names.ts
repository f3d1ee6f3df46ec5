/**
 * What is offered, by name: how it is called in prompt and schema, and which of it a written name means. Names that read alike
 * stand once and mean all that bear them.
 */
import type { Decision } from '../../decision.js';
import { offeredTexts } from '../prompt-text.js';
import { labelledValues, OfferedNames, splitList, unwrapped } from '../reply-values.js';

/** What stands for choosing nothing, unless something offered is called so. */
export const noneName = 'none of these';
/** What an empty name is called. */
const unnamed = '(without a name)';
/** Most names that an order of candidates holds. */
export const longestOrder = 10;
/** Written names that are looked at for each that is wanted: a model that never stops must not cost time. */
export const effort = 4;
/** Names as they stand in prompt and schema, in the order in which they were offered; homonyms once. */
export function namesOffered(decision: Decision): string[] {
  const names = offeredNames(decision);
  return distinct(names.length > 0 && mayRefuse(decision) ? [...names, noneOf(names)] : names);
}

export const distinct = (names: readonly string[]): string[] => [...new Set(names)];

/** One name each. */
export function offeredNames(decision: Decision): string[] {
  return offeredTexts(decision).map((text) => (text.trim() === '' ? unnamed : text));
}

function mayRefuse(decision: Decision): boolean {
  return (
    decision.kind === 'judge' || decision.kind === 'answer' || (decision.kind === 'choose-one' && decision.allowNone)
  );
}

export function noneOf(names: readonly string[]): string {
  let name = noneName;
  while (names.includes(name)) name += '.';
  return name;
}

/** Reads names of one list: all that a written text may mean, as indices; -1 for none, where that may be; undefined for anything else. */
export function nameReader(
  names: readonly string[],
  refusable: boolean,
): (value: unknown, lenient: boolean) => readonly number[] | undefined {
  const byName = new Map<string, number[]>();
  for (const [index, name] of names.entries()) {
    const alike = byName.get(name);
    if (alike) alike.push(index);
    else byName.set(name, [index]);
  }
  if (refusable) byName.set(noneOf(names), [-1]);
  const all = new OfferedNames([...byName.keys()]);
  const snapped = (text: string) => byName.get(all.names[all.snap(text) ?? -1] ?? '');
  return (value, lenient) => {
    if (typeof value !== 'string') return undefined;
    const exact = byName.get(value);
    if (exact || !lenient) return exact;
    const text = unwrapped(value);
    if (refusable && /^(?:none|nothing|none of (?:them|these)|no candidate|null|n\/a)\.?$/i.test(text)) return [-1];
    // Lists are often numbered; a number by itself is a name or nothing.
    const bare = unwrapped(text.replace(/^\(?\d{1,6}(?:[.):]\s*|\s+[-–]\s+)/, ''));
    return snapped(text) ?? (bare === '' || bare === text ? undefined : snapped(bare));
  };
}

export const readerOf = (decision: Decision) => nameReader(offeredNames(decision), mayRefuse(decision));

/** Indices that a list of names means, in its order and without repeats; undefined where names were written but none can be meant. */
export function readMany(
  decision: Decision,
  list: readonly unknown[],
  lenient: boolean,
  most: number,
): number[] | undefined {
  const read = readerOf(decision);
  const meant = list.slice(0, effort * Math.max(most, 5)).map((entry) => read(entry, lenient));
  const known = meant.filter((indices) => indices !== undefined).flat();
  return list.length > 0 && known.length === 0 ? undefined : [...new Set(known)].filter((index) => index >= 0);
}

/** The one thing that some of the texts mean, -1 for none; undefined where they mean several or nothing. */
export function readOne(decision: Decision, texts: readonly string[]): number | undefined {
  const read = readerOf(decision);
  const meant = new Set(texts.slice(0, effort * longestOrder).flatMap((text) => read(text, true)?.slice(0, 1) ?? []));
  return meant.size === 1 ? [...meant][0] : undefined;
}

/** Names in lines of text: each a line, or several on one between semicolons. */
export function writtenNames(lines: readonly string[], keys: readonly string[]): string[] {
  const labelled = labelledValues(lines, keys);
  return (labelled.length > 0 ? labelled : lines).flatMap((line) => splitList(line, false));
}
