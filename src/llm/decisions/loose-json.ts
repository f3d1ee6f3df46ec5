/** Values in nearly-JSON: Python literals, single quotes, missing quotes, trailing commas, replies that were cut off. */
import { jsonrepair } from 'jsonrepair';

const mostValues = 16;

/**
 * Every bracketed value in a text, the last first. What is cut off ends where the text ends, without a last string that is not complete.
 */
export function looseValues(text: string): unknown[] {
  const values: unknown[] = [];
  let at = text.search(/[[{]/);
  for (let tried = 0; at >= 0 && tried < mostValues; tried++) {
    const end = blockEnd(text, at);
    const value = repaired(end < 0 ? withoutCutString(text.slice(at)) : text.slice(at, end));
    if (value !== undefined) values.push(value);
    const from = value === undefined ? at + 1 : end < 0 ? text.length : end;
    const next = text.slice(from).search(/[[{]/);
    at = next < 0 ? next : from + next;
  }
  return values.reverse();
}

function repaired(text: string): unknown {
  const lists = text
    // Tuples and sets.
    .replace(/(?<=^|[[{(,:]\s{0,40})[({]([^(){}:]*)[)}]/g, (_, items: string) => `[${items.replaceAll(';', ',')}]`)
    // What was not written: a list of it is not an empty list.
    .replace(/(?<=[[,]\s{0,40})(?:\.{3}|…)(?=\s{0,40}[\],])/g, 'null')
    .replace(/(?<=\p{L})'(?=\p{L})/gu, String.raw`\u0027`);
  try {
    return JSON.parse(jsonrepair(lists)) as unknown;
  } catch {
    return undefined;
  }
}

/** A text that ends inside a string ends before it. */
function withoutCutString(text: string): string {
  const quotes = text.match(/(?<!\\)"/g) ?? [];
  return quotes.length % 2 === 0 ? text : text.slice(0, text.lastIndexOf('"'));
}

/** Characters looked at in all: a text of nothing but brackets must not cost time. */
const effort = 400_000;
const mostBlocks = 16;

/** The outermost balanced `{…}` and `[…]` of a text, the last first; brackets inside strings do not count. */
export function balancedBlocks(text: string): string[] {
  const blocks: { begin: number; end: number }[] = [];
  let left = effort;
  for (let begin = text.length - 1; begin >= 0 && left > 0; begin--) {
    if (text[begin] !== '{' && text[begin] !== '[') continue;
    const end = blockEnd(text, begin);
    left -= Math.abs(end) - begin;
    if (end < 0) continue;
    while (blocks.length > 0 && blocks.at(-1)!.begin < end) blocks.pop();
    blocks.push({ begin, end });
    if (blocks.length > mostBlocks) break;
  }
  return blocks.map(({ begin, end }) => text.slice(begin, end));
}

/** Behind the bracket that closes the one at `begin`; negative where the scan ended in vain. */
function blockEnd(text: string, begin: number): number {
  const open: string[] = [];
  let quoted = false;
  for (let at = begin; at < text.length; at++) {
    const character = text[at]!;
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') open.push(character === '{' ? '}' : ']');
    else if (character === '}' || character === ']') {
      if (open.pop() !== character) return -at;
      if (open.length === 0) return at + 1;
    }
  }
  return -text.length;
}
