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

/** Lists, tuples, sets and objects: an object is what has `key: value`, whatever its brackets. */
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
