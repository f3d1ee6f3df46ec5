/** Pieces of replies: fields, numbers, names and texts out of JSON values that anything may have written. */

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

/** Index of the offered thing that a number (counting from 1) means, -1 for 0; lenient: a name too. Undefined for anything else. */
export function offeredIndex(value: unknown, offered: OfferedNames, lenient: boolean): number | undefined {
  const number = wholeNumber(value, 0, offered.names.length, lenient);
  if (number !== undefined) return number - 1;
  return lenient && typeof value === 'string' ? writtenIndex(value, offered) : undefined;
}

/**
 * Index of the offered thing that a line means: `3`, `3. name`, `name`, `none`. The name counts before the number:
 * lists are often renumbered.
 */
export function writtenIndex(line: string, offered: OfferedNames): number | undefined {
  const exact = offered.exact(line);
  if (exact !== undefined) return exact;
  const text = unwrapped(line);
  if (/^(?:none|nothing|none of (?:them|these)|no candidate|null|n\/a)\.?$/i.test(text)) return -1;
  const [, number, rest] = /^(\d{1,6})(?:[.):]\s*|\s+[-–]\s+|$)(.*)$/s.exec(text) ?? [];
  if (rest === '') return Number(number) <= offered.names.length ? Number(number) - 1 : undefined;
  return offered.snap(text) ?? (rest === undefined ? undefined : offered.snap(unwrapped(rest)));
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

const longestLine = 500;
const mostLines = 500;

const tags = 'think|thinking|thought|reasoning';
const thoughtsEnd = new RegExp(String.raw`^[^]*(?:</(?:${tags})>|\[/THINK\]|<\|channel\|>final<\|message\|>)`, 'i');
const thoughtsBegin = new RegExp(String.raw`<(?:${tags})>|\[THINK\]|<\|channel\|>analysis`, 'i');

/** The reply behind its thoughts; undefined where these do not end. */
export function withoutThoughts(text: string): string | undefined {
  const reply = text.replace(thoughtsEnd, '');
  return thoughtsBegin.test(reply) ? undefined : reply;
}

/** The reply without what chat models wrap it in: code fences, chat terminators, `Output:`. */
export function bareReply(text: string): string {
  return text
    .replace(/<\|[^|<>\n]{1,40}\|>|<\/?s>|<end_of_turn>|\[\/?INST\]/g, '')
    .replace(/^\s*```\w*\s*$|```(?:json|python)?/gm, '')
    .trim()
    .replace(/^(?:output|reply|response|json|a)\s*:\s*/i, '');
}

/** Lines with something on them, without bullets; numbers of numbered lists stay. */
export function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split(/[\r\n]+/, mostLines)) {
    const bare = line
      .slice(0, longestLine)
      .trim()
      .replace(/^[-*•]\s+/, '');
    if (bare !== '') lines.push(bare);
  }
  return lines;
}

/** Values of the lines `key: value` whose key, letter case and emphasis ignored, is one of `keys`. */
export function labelledValues(lines: readonly string[], keys: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [, key, value] =
      /^[*"']{0,2}([A-Za-z][A-Za-z_ ]{0,30}?)(?:\s\d{1,2})?["'*]{0,2}\s*[:=][*]{0,2}\s*(.+)$/s.exec(line) ?? [];
    return key !== undefined && keys.includes(key.toLowerCase()) ? [value!.trim()] : [];
  });
}

/** Items of a numbered list; undefined when any line but the first has no number. */
export function numberedItems(lines: readonly string[]): string[] | undefined {
  const items = lines.map((line) => /^\(?\d{1,3}[.)]\s*(.+)$/s.exec(line)?.[1]);
  if (items.length > 1 && items[0] === undefined) items.shift();
  return items.length > 0 && items.every((item) => item !== undefined) ? items : undefined;
}

/** Parts of a list on one line, at semicolons or, where there are none and commas are asked for, at those. */
export function splitList(text: string, commas: boolean): string[] {
  const parts = text.includes(';') || !commas ? text.split(';') : text.split(',');
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Longest name that is compared by edits, in UTF-16 units; longer ones must agree but for case and spaces. */
const longestCompared = 100;

/** Remaining budget of a parse, in steps of edit-distance comparison. */
export type Effort = { left: number };

/** Some hundredths of a second, as parsing cannot be interrupted. Beyond it names must agree except for case and spaces. */
export const fullEffort = (): Effort => ({ left: 3_000_000 });

/** Names that were offered, for finding those that a reply means. */
export class OfferedNames {
  readonly #indices = new Map<string, number>();
  #keys: string[] | undefined;
  readonly #byKey = new Map<string, number>();

  /** @param effort shared where several lists are offered at once */
  constructor(
    readonly names: readonly string[],
    readonly effort: Effort = fullEffort(),
  ) {
    for (const [index, name] of names.entries()) if (!this.#indices.has(name)) this.#indices.set(name, index);
  }

  exact(written: string): number | undefined {
    return this.#indices.get(written);
  }

  /**
   * Index of the name that was meant: the same one; else the only one that agrees but for case and white space; else the nearest by edits,
   * at most a fifth of its length away and two edits nearer than any other. Never by containment: `place` is not `place_of_birth`.
   */
  snap(written: string): number | undefined {
    const same = this.exact(written);
    if (same !== undefined) return same;
    const key = nameKey(written);
    if (key === '') return undefined;
    const keys = this.#allKeys();
    const alike = this.#byKey.get(key);
    if (alike !== undefined) return alike >= 0 ? alike : undefined;
    return nearest(key, keys, this.effort);
  }

  #allKeys(): readonly string[] {
    if (this.#keys) return this.#keys;
    this.#keys = this.names.map(nameKey);
    for (const [index, key] of this.#keys.entries()) this.#byKey.set(key, this.#byKey.has(key) ? -1 : index);
    return this.#keys;
  }
}

function nearest(key: string, keys: readonly string[], effort: Effort): number | undefined {
  if (key.length > longestCompared) return undefined;
  const limit = Math.floor(key.length / 5);
  if (limit === 0 || effort.left < 0) return undefined;
  let best: number | undefined;
  let [smallest, second] = [Infinity, Infinity];
  for (const [i, other] of keys.entries()) {
    const distance = boundedDistance(key, other, limit + 1, effort);
    if (effort.left < 0) return undefined;
    if (distance < smallest) [best, smallest, second] = [i, distance, smallest];
    else second = Math.min(second, distance);
  }
  return smallest <= limit && second - smallest >= 2 ? best : undefined;
}

const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase().replace(/\s+/gu, '');

/** Edits between two texts, or Infinity beyond `bound`; only what so many edits reach is looked at. */
function boundedDistance(a: string, b: string, bound: number, effort: Effort): number {
  effort.left--;
  if (Math.abs(a.length - b.length) > bound) return Infinity;
  let previous = Int32Array.from({ length: b.length + 1 }, (_, j) => j);
  let row = new Int32Array(b.length + 1);
  for (let i = 1; i <= a.length; i++) {
    const [from, to] = [Math.max(1, i - bound), Math.min(b.length, i + bound)];
    effort.left -= to - from + 1;
    // Beyond the band everything is further than the bound.
    row[from - 1] = from === 1 ? i : bound + 1;
    let least = row[from - 1]!;
    for (let j = from; j <= to; j++) {
      const substituted = previous[j - 1]! + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      row[j] = Math.min(substituted, previous[j]! + 1, row[j - 1]! + 1);
      least = Math.min(least, row[j]!);
    }
    if (to < b.length) row[to + 1] = bound + 1;
    if (least > bound) return Infinity;
    [previous, row] = [row, previous];
  }
  return previous[b.length]! > bound ? Infinity : previous[b.length]!;
}
