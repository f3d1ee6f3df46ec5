/** Layout of the lines of a triple file: found from its beginning, or given. */
import { basename } from 'node:path';
import { firstLines } from '../src/kg/read-lines.js';
import type { ReadTriplesOptions } from '../src/kg/read-triples.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';

/** Settings of a user about the lines; the rest is found. */
export interface TripleSettings {
  /** Field separator: a text, or `tab`, `comma`, `semicolon`, `bar`, `space`. */
  separator?: string;
  /** A letter a column: `h`, `r` and `t` for head, relation and tail, a dot for one that is left out; later ones are left out. */
  columns?: string;
  /** Number of lines before the first triple. */
  header?: number;
  /** Marks around names that are no part of them. */
  enclosed?: (typeof enclosures)[number];
}

/** Values of `enclosed`: `quotes` is CSV, `brackets` is `<name>`. */
export const enclosures = ['none', 'quotes', 'brackets'] as const;

/** A layout for `readTripleBatches`, and the settings that give it for further files. */
export interface TripleLayout {
  read: ReadTriplesOptions;
  settings: TripleSettings;
}

const separatorNames: ReadonlyMap<string | undefined, string> = new Map([
  ['tab', '\t'],
  ['\\t', '\t'],
  ['comma', ','],
  ['semicolon', ';'],
  ['bar', '|'],
  ['space', ' '],
]);
/** Tried in this order; of equally good ones the first is taken. */
const separators = ['\t', ' | ', '|', '; ', ';', ', ', ',', ' '];
const isCsv = (separator: string) => separator.startsWith(',') || separator.startsWith(';');

interface Row {
  fields: string[];
  /** From 1. */
  line: number;
}

/**
 * Layout of a file from its first mebibyte. The separator is the one that most lines agree on; lines before the triples are a count, as
 * OpenKE's, or names of columns that occur nowhere else.
 * @param notes receives a sentence on everything that is not head, relation, tail separated by TAB or `|`
 * @throws WorkbenchError `usage` for settings out of range, `data` for an unreadable file, or columns that can be read in several ways
 */
export async function layoutOf(file: string, given: TripleSettings = {}, notes: string[] = []): Promise<TripleLayout> {
  checkSettings(given);
  const lines = await firstLines(file, 'triples');
  const note = (text: string) => notes.push(`${basename(file)}: ${text}`);
  const separator = separatorNames.get(given.separator) ?? given.separator ?? likeliest(lines);
  const all = rowsOf(lines, separator);
  const width = usualWidth(all);
  const first = given.header === undefined ? headerOf(all, width) : { lines: given.header, roles: undefined };
  const rows = all.filter(({ fields, line }) => line > first.lines && fields.length === width);
  if (first.lines > 0 && given.header === undefined) {
    const left = lines.slice(0, first.lines).map((line) => printable(JSON.stringify(line), 80));
    note(
      `no triples are in the first ${first.lines === 1 ? 'line' : `${first.lines} lines`}, ${left.join(', ')}, left out (--header 0 reads them)`,
    );
  } else if (given.header === undefined && given.columns === undefined && standsApart(rows)) {
    note(
      `the names of the first line, ${printable(JSON.stringify(rows[0]!.fields.join(' ')), 80)}, occur nowhere else: if it is a header, --header 1`,
    );
  }
  const columns = given.columns ?? columnsOf(file, rows, width, first.roles, note);
  const enclosed = given.enclosed ?? enclosureOf(rows, separator, columns);
  const places = ['h', 'r', 't'].map((letter) => columns.indexOf(letter)) as [number, number, number];
  if (!['\t', '|'].includes(separator)) note(`separated by ${JSON.stringify(separator)} (--separator)`);
  if (given.enclosed === undefined && enclosed !== 'none' && !isCsv(separator)) {
    note(`names stand in ${enclosed}, which were left out (--enclosed none keeps them)`);
  }
  return {
    read: {
      ...{
        separator,
        fields: Math.max(width, ...places.map((place) => place + 1)),
        columns: places,
        header: first.lines,
      },
      quotes: enclosed === 'quotes' || (enclosed === 'brackets' && isCsv(separator)),
      brackets: enclosed === 'brackets',
    },
    settings: { ...given, separator, columns, enclosed },
  };
}

function checkSettings({ columns, header, separator }: TripleSettings): void {
  const wrong = (expected: string, got: unknown, flag: string, hint: string) =>
    new WorkbenchError('usage', `expected ${expected}, got ${JSON.stringify(got)}, at ${flag}`, { hint });
  if (
    columns !== undefined &&
    [...columns]
      .filter((letter) => letter !== '.')
      .sort()
      .join('') !== 'hrt'
  ) {
    const hint = 'Such as htr for head, tail, relation; .hrt leaves the first column out.';
    throw wrong('the letters h, r and t once each, and dots', columns, '--columns', hint);
  }
  if (header !== undefined && !(Number.isInteger(header) && header >= 0)) {
    throw wrong('a number of lines', header, '--header', 'Lines before the first triple; 0 for none.');
  }
  if (separator === '')
    throw wrong('a separator', separator, '--separator', 'Such as tab, comma, semicolon, bar, space.');
}

function rowsOf(lines: readonly string[], separator: string): Row[] {
  return lines.flatMap((text, index) => (text === '' ? [] : { fields: fieldsOf(text, separator), line: index + 1 }));
}

/** Fields of a line; of CSV, those in quotes may hold the separator. */
function fieldsOf(text: string, separator: string): string[] {
  const parts = text.split(separator);
  if (!isCsv(separator) || !text.includes('"')) return parts;
  const fields: string[] = [];
  let open = false;
  for (const part of parts) {
    if (open) fields.push(`${fields.pop()}${separator}${part}`);
    else fields.push(part);
    const last = fields.at(-1)!;
    open = last.startsWith('"') && last.split('"').length % 2 === 0;
  }
  return fields.map((field) => (/^".*"$/s.test(field) ? field.slice(1, -1).replaceAll('""', '"') : field));
}

/** Number of fields that most lines of at least three have; 3 if none has. */
function usualWidth(rows: readonly Row[]): number {
  const counts = countsOf(rows.map(({ fields }) => fields.length).filter((count) => count >= 3));
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [3, 0])[0];
}

function likeliest(lines: readonly string[]): string {
  const agreeing = separators.map((separator) => {
    const rows = rowsOf(lines, separator);
    const width = usualWidth(rows);
    return rows.filter(({ fields }) => fields.length === width).length;
  });
  return separators[agreeing.indexOf(Math.max(...agreeing))]!;
}

function countsOf<T>(values: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** First words of column names, by role. Letters count only together: `h r t`, `s p o`. */
const roleWords: Readonly<Record<string, RegExp>> = {
  h: /^(?:head|subject|subj|source|src|from|start|begin|x|[hs]|(?:entity|node|arg|e|n)1?)$/,
  r: /^(?:relation|relationship|rel|predicate|pred|property|prop|edge|link|type|label|verb|[rp])$/,
  t: /^(?:tail|object|obj|target|tgt|destination|dest|dst|to|end|y|[to]|(?:entity|node|arg|e|n)2)$/,
};
const wordsOf = (name: string): string[] => name.toLowerCase().match(/[a-z]+\d?/g) ?? [];

/** Column of each role, if the names of columns say so. */
function rolesOf(fields: readonly string[]): Record<'h' | 'r' | 't', number> | undefined {
  const words = fields.map(wordsOf);
  const places = Object.entries(roleWords).map(([role, word]) => {
    const able = [...words.keys()].filter((place) => word.test(words[place]![0] ?? ''));
    const exact = able.filter((place) => words[place]!.length === 1);
    const named = able.filter((place) => words[place]!.includes('name'));
    const [only, ...others] = [exact, named, able].find((some) => some.length > 0) ?? [];
    return [role, others.length > 0 ? undefined : only] as const;
  });
  if (places.some(([, place]) => place === undefined)) return undefined;
  const letters = places.map(([, place]) => words[place!]!.join('')).filter((word) => word.length === 1);
  if (letters.length > 0 && !['hrt', 'spo'].includes(letters.join(''))) return undefined;
  return Object.fromEntries(places) as Record<'h' | 'r' | 't', number>;
}

/** Lines before the triples, and the columns that they name. */
function headerOf(rows: readonly Row[], width: number): { lines: number; roles: ReturnType<typeof rolesOf> } {
  let next = 0;
  const lines = () => (next === 0 ? 0 : rows[next - 1]!.line);
  if (rows[0]?.fields.length === 1 && /^\s*\d+\s*$/.test(rows[0].fields[0]!) && rows.length > 1) next++;
  const roles = rows[next]?.fields.length === width ? rolesOf(rows[next]!.fields) : undefined;
  if (!roles || rows.length === next + 1) return { lines: lines(), roles: undefined };
  const names = rows[next]!.fields;
  const later = new Set(rows.slice(next + 1).flatMap(({ fields }) => fields));
  if (Object.values(roles).some((place) => later.has(names[place]!))) return { lines: lines(), roles: undefined };
  next++;
  if (rows.length > next + 1 && rows[next]!.fields.every((field) => /^[-=:]+$/.test(field))) next++;
  return { lines: lines(), roles };
}

/** True if no name of the first line occurs again, though every other relation does. */
function standsApart([first, ...rows]: readonly Row[]): boolean {
  if (!first || rows.length < 20) return false;
  const later = new Set(rows.flatMap(({ fields }) => fields));
  if (first.fields.some((name) => later.has(name))) return false;
  const counts = countsOf(rows.map(({ fields }) => fields[1]!));
  return [...counts.values()].every((count) => count > 1);
}

/** Maximum columns among which those of names are looked for: each is compared with all others. */
const mostColumns = 32;

/** Columns by their names, else by what they hold: `hrt` unless another order is plain. */
function columnsOf(
  file: string,
  rows: readonly Row[],
  width: number,
  roles: ReturnType<typeof rolesOf>,
  note: (text: string) => void,
): string {
  const letters = (places: readonly number[], order: string) =>
    Array.from({ length: Math.max(...places) + 1 }, (_, place) => order[places.indexOf(place)] ?? '.').join('');
  const say = (columns: string, reason: string) => {
    if (columns === 'hrt' && width === 3) return columns;
    const left = width - 3 === 0 ? '' : `; ${width - 3} of ${width} columns were left out`;
    note(`columns read as ${columns} (${reason}; h is the head, r the relation, t the tail)${left} (--columns)`);
    return columns;
  };
  if (roles) return say(letters([roles.h, roles.r, roles.t], 'hrt'), 'as the header names them');
  const columns = Array.from({ length: width }, (_, place) => rows.map(({ fields }) => fields[place]!));
  const places = [...columns.keys()].filter(
    (place) => width === 3 || (width <= mostColumns && isOfNames(columns[place]!, place, columns)),
  );
  if (places.length !== 3) {
    const first = rows[0]?.fields.map((field, place) => `${place + 1} ${printable(JSON.stringify(field), 40)}`);
    throw new WorkbenchError(
      'data',
      `expected three columns of names, got ${width} (${first?.join(', ')}), at ${file}`,
      {
        hint: 'Say which are head, relation and tail, with a dot for one to leave out: --columns .hrt, say.',
      },
    );
  }
  const order = orderOf(places.map((place) => new Set(columns[place])) as [Set<string>, Set<string>, Set<string>]);
  if (order === undefined)
    note('the middle column has many names, as one of entities: is it the relation? (--columns)');
  const found = order ?? 'hrt';
  return say(letters(places, found), found === 'hrt' ? 'by what they hold' : 'the middle column names entities');
}

/** False for a column of blanks and punctuation, of JSON, of numbers, or of ids: they differ on every line and occur in no other column. */
function isOfNames(values: readonly string[], place: number, columns: readonly string[][]): boolean {
  const filled = values.filter((value) => /[\p{L}\p{N}]/u.test(value));
  if (filled.length < values.length / 2) return false;
  if (filled.every((value) => /^(?:[-+.\deE]+|[[{].*[\]}])$/s.test(value))) return false;
  const names = new Set(values);
  return names.size < values.length || columns.some((other, i) => i !== place && other.some((name) => names.has(name)));
}

/** The order of columns; undefined if the middle one looks like entities and no other like relations. */
function orderOf([a, b, c]: [Set<string>, Set<string>, Set<string>]): 'hrt' | 'htr' | 'rht' | undefined {
  const none = [a, b, c].every((one, i, all) => shared(one, all[(i + 1) % 3]!) === 0);
  const [first, middle, last] = none ? ([a, b, c].map(spacesOf) as [Set<string>, Set<string>, Set<string>]) : [a, b, c];
  const isRelation = (one: Set<string>, names: Set<string>, other: Set<string>, names2: Set<string>) =>
    shared(middle, other) >= 0.5 &&
    ((shared(one, middle) === 0 && shared(one, other) === 0 && names.size <= b.size) || b.size >= 2 * names.size) &&
    names.size <= names2.size;
  if (isRelation(last, c, first, a)) return 'htr';
  if (isRelation(first, a, last, c)) return 'rht';
  const fewest = Math.min(a.size, c.size);
  return b.size >= 10 && b.size >= 4 * fewest ? undefined : 'hrt';
}

/** Share of the smaller set that the other one has. */
function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((name) => b.has(name)).length;
  return common / Math.max(1, Math.min(a.size, b.size));
}

/** Prefixes such as `wdt:` or `/r/`. */
const spacesOf = (names: ReadonlySet<string>) =>
  new Set([...names].flatMap((name) => /^<?\W?\w+[/#:]/.exec(name)?.[0] ?? []));

/** CSV has quotes; elsewhere they, and brackets, are marks where they stand around every head and relation, and some tails. */
function enclosureOf(rows: readonly Row[], separator: string, columns: string): (typeof enclosures)[number] {
  const all = (mark: RegExp) =>
    rows.length > 0 &&
    rows.every(({ fields }) => ['h', 'r'].every((letter) => mark.test(fields[columns.indexOf(letter)] ?? '')));
  if (all(/^<.+>$/)) return 'brackets';
  return isCsv(separator) || (all(/^".+"$/) && rows.every(({ fields }) => /^".+"$/.test(fields[columns.indexOf('t')]!)))
    ? 'quotes'
    : 'none';
}
