/** Values in nearly-JSON: Python literals, single quotes, missing quotes, trailing commas, replies that were cut off. */

const deepest = 32;
const mostValues = 16;
const quotes: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’' };
const closers: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };
const words: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['none', null],
  ['null', null],
  // What was not written: a list of it is not an empty list.
  ['...', null],
  ['…', null],
]);

/**
 * Every bracketed value in a text, the last first. Objects have no prototype. What is cut off ends where the text ends,
 * without a last string that is not complete. O(length).
 */
export function looseValues(text: string): unknown[] {
  const values: unknown[] = [];
  let at = 0;
  while (values.length < mostValues) {
    const offset = text.slice(at).search(/[[{]/);
    if (offset < 0) break;
    const reader = { text, at: at + offset };
    values.push(readValue(reader, 0));
    at = reader.at;
  }
  return values.reverse();
}

interface Reader {
  readonly text: string;
  at: number;
}

const nothing = Symbol('nothing');

function readValue(reader: Reader, depth: number): unknown {
  skipSpace(reader);
  const first = reader.text[reader.at];
  if (first === undefined) return nothing;
  if (first in closers) {
    if (depth < deepest) return readGroup(reader, closers[first]!, depth);
    reader.at = reader.text.length;
    return nothing;
  }
  return first in quotes ? readQuoted(reader, quotes[first]!) : readWord(reader);
}

/** Lists, tuples, sets and objects: anything with `key: value` is an object, with any brackets. */
function readGroup(reader: Reader, closer: string, depth: number): unknown {
  reader.at++;
  const entries: unknown[] = [];
  const object = Object.create(null) as Record<string, unknown>;
  let keyed = false;
  for (;;) {
    skipSpace(reader);
    const before = reader.at;
    const character = reader.text[before];
    if (character === undefined) break;
    if (character === closer) {
      reader.at++;
      break;
    }
    // A closer of another kind ends the group too: it was forgotten, and the outer group takes this one.
    if (depth > 0 && /[\]})]/.test(character)) break;
    if (character === ',' || character === ';' || /[\]})]/.test(character)) {
      reader.at++;
      continue;
    }
    const value = readValue(reader, depth + 1);
    skipSpace(reader);
    const behind = reader.text[reader.at];
    if ((behind === ':' || behind === '=') && (typeof value === 'string' || typeof value === 'number')) {
      reader.at++;
      const named = readValue(reader, depth + 1);
      if (named !== nothing) object[String(value)] = named;
      keyed = true;
    } else if (value !== nothing) entries.push(value);
    if (reader.at === before) reader.at++;
  }
  return keyed ? object : entries;
}

/** A quote inside a string counts only where a separator, a bracket or the end follows: `'Schindler's List'`. */
function readQuoted(reader: Reader, quote: string): unknown {
  const { text } = reader;
  let value = '';
  for (let at = reader.at + 1; at < text.length; at++) {
    const character = text[at]!;
    if (character === '\\' && at + 1 < text.length) {
      value += unescaped(text[++at]!);
    } else if (character === quote && /^\s{0,20}(?:[,;:=\]})]|$)/.test(text.slice(at + 1, at + 22))) {
      reader.at = at + 1;
      return value;
    } else value += character;
  }
  reader.at = text.length;
  return nothing;
}

function unescaped(character: string): string {
  return character === 'n' || character === 't' || character === 'r' ? ' ' : character;
}

function readWord(reader: Reader): unknown {
  const word = /^[^,;:=[\]{}()\n]*/.exec(reader.text.slice(reader.at, reader.at + 1000))![0];
  reader.at += word.length;
  const text = word.trim();
  if (text === '') return nothing;
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return Number(text);
  return words.has(text.toLowerCase()) ? words.get(text.toLowerCase()) : text;
}

function skipSpace(reader: Reader): void {
  while (/\s/.test(reader.text[reader.at] ?? '')) reader.at++;
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
