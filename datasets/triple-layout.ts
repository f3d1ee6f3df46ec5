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
  /** A letter a column: `h`, `r` and `t` for head, relation and tail, a dot for one that is left out, as are later ones. */
  columns?: string;
  /** Number of lines before the first triple. */
  header?: number;
  /** Marks around names that are no part of them: `quotes` is CSV, `brackets` is `<name>`. */
  enclosed?: 'none' | 'quotes' | 'brackets';
}

const separatorNames = new Map(Object.entries({ tab: '\t', comma: ',', semicolon: ';', bar: '|', space: ' ' }));
/** Candidates; of equally good ones the first is taken. */
const separators = ['\t', ' | ', '|', '; ', ';', ', ', ',', ' '];
const isCsv = (separator: string) => /^[,;]/.test(separator);

/** Non-empty line of the given number, from 1. */
type Row = { fields: string[]; line: number };

/**
 * Layout of a file from its first mebibyte. The separator is the one that most lines agree on; lines before the triples are a count, as
 * OpenKE's, or names of columns that occur nowhere else. A file of three columns is read as head, relation, tail unless the middle column
 * holds entities.
 * @param notes receives a sentence on everything but heads, relations and tails separated by TAB or `|`
 * @returns options for `readTripleBatches`, and the settings for further files of the same layout
 * @throws WorkbenchError `usage` for settings out of range, `data` for an unreadable file and columns that can be read in several ways
 */
export async function layoutOf(
  file: string,
  given: TripleSettings = {},
  notes: string[] = [],
): Promise<{ read: ReadTriplesOptions; settings: TripleSettings }> {
  checkSettings(given);
  const lines = await firstLines(file, 'triples');
  const note = (text: string) => notes.push(`${basename(file)}: ${text}`);
  const separator = separatorNames.get(given.separator ?? '') ?? given.separator ?? likeliest(lines);
  const all = rowsOf(lines, separator);
  const width = usualWidth(all);
  const { header, roles } =
    given.header === undefined ? headerOf(all, width) : { header: given.header, roles: undefined };
  const rows = all.filter(({ fields, line }) => line > header && fields.length === width);
  const columns = given.columns ?? columnsOf(file, rows, width, roles);
  const names = (letter: string) => rows.map(({ fields }) => fields[columns.indexOf(letter)] ?? '');
  const all3 = (mark: RegExp, letters = 'hr') =>
    rows.length > 0 && [...letters].every((letter) => names(letter).every((name) => mark.test(name)));
  const quoted = isCsv(separator) || all3(/^".+"$/, 'hrt');
  // Tails may be literals without brackets.
  const enclosed = given.enclosed ?? (all3(/^<.+>$/) ? 'brackets' : quoted ? 'quotes' : 'none');
  if (header > 0 && given.header === undefined) {
    const left = lines.slice(0, header).map((line) => printable(JSON.stringify(line), 80));
    note(`${left.join(' and ')} are no triples and were left out (--header 0 reads them)`);
  }
  if (!['\t', '|'].includes(separator)) note(`fields are separated by ${JSON.stringify(separator)} (--separator)`);
  if (given.columns === undefined && (columns !== 'hrt' || width > 3)) {
    const left = width > 3 ? `; ${width - 3} of ${width} columns were left out` : '';
    const why = roles ? 'as the header names them' : 'by the names that they share';
    note(`columns are read as ${columns}, h the head, r the relation, t the tail, ${why}${left} (--columns)`);
  }
  const sizes = [...'hrt'].map((letter) => new Set(names(letter)).size);
  if (given.columns === undefined && !roles && sizes[1]! >= Math.max(10, 4 * Math.min(sizes[0]!, sizes[2]!))) {
    note(`the relation column has ${sizes[1]} names, as many as one of entities: is it another? (--columns)`);
  }
  if (enclosed === 'brackets' || (enclosed === 'quotes' && !isCsv(separator))) {
    note(`names stand in ${enclosed}, which were left out (--enclosed none keeps them)`);
  }
  const quotes = enclosed === 'quotes' || (enclosed === 'brackets' && isCsv(separator));
  const layout = {
    ...{ fields: Math.max(width, columns.length), columns: [...'hrt'].map((letter) => columns.indexOf(letter)) },
    ...{ header, quotes, brackets: enclosed === 'brackets' },
  };
  const plain = columns === 'hrt' && width === 3 && header === 0 && enclosed === 'none';
  return {
    read: { separator, layout: plain ? undefined : layout },
    settings: { ...given, separator, columns, enclosed },
  };
}

function checkSettings({ columns, header, separator }: TripleSettings): void {
  const letters =
    columns === undefined
      ? 'hrt'
      : [...columns]
          .filter((letter) => letter !== '.')
          .sort()
          .join('');
  const wrong = [
    [separator !== '', '--separator', 'tab, comma, semicolon, bar, space or a text'],
    [letters === 'hrt', '--columns', 'h, r and t once each, and dots for columns to leave out, such as .htr'],
    [header === undefined || (Number.isInteger(header) && header >= 0), '--header', 'a number of lines, 0 for none'],
  ].find(([right]) => !right);
  if (wrong) throw new WorkbenchError('usage', `expected ${wrong[2]}, at ${wrong[1]}`);
}

function rowsOf(lines: readonly string[], separator: string): Row[] {
  const rows = lines.map((text, index) => ({ fields: fieldsOf(text, separator), line: index + 1 }));
  return rows.filter(({ line }) => lines[line - 1] !== '');
}

/** Fields of a line; of CSV, those in quotes may hold the separator. */
function fieldsOf(text: string, separator: string): string[] {
  const parts = text.split(separator);
  if (!isCsv(separator) || !text.includes('"')) return parts;
  const fields: string[] = [];
  for (const part of parts) {
    const last = fields.at(-1);
    const open = last?.startsWith('"') && last.split('"').length % 2 === 0;
    if (open) fields.push(`${fields.pop()}${separator}${part}`);
    else fields.push(part);
  }
  return fields.map((field) => (/^".*"$/s.test(field) ? field.slice(1, -1).replaceAll('""', '"') : field));
}

/** Number of fields that most lines of at least three have; 3 if none has. */
function usualWidth(rows: readonly Row[]): number {
  const counts = new Map<number, number>([[3, 0]]);
  for (const { fields } of rows)
    if (fields.length >= 3) counts.set(fields.length, (counts.get(fields.length) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

function likeliest(lines: readonly string[]): string {
  const agreeing = separators.map((separator) => {
    const rows = rowsOf(lines, separator);
    const width = usualWidth(rows);
    return rows.filter(({ fields }) => fields.length === width).length;
  });
  return separators[agreeing.indexOf(Math.max(...agreeing))]!;
}

type Roles = readonly [head: number, relation: number, tail: number];

/** First words of column names, of heads, relations and tails. Letters count only together: `h r t`, `s p o`. */
const roleWords = [
  /^(?:head|subject|subj|source|src|from|start|begin|x|[hs]|(?:entity|node|arg|e|n)1?)$/,
  /^(?:relation|relationship|rel|predicate|pred|property|prop|edge|link|type|label|verb|[rp])$/,
  /^(?:tail|object|obj|target|tgt|destination|dest|dst|to|end|y|[to]|(?:entity|node|arg|e|n)2)$/,
];

/** Columns that are named as head, relation and tail. Of several the one without further words is taken, or with "name". */
function rolesOf(fields: readonly string[]): Roles | undefined {
  const words = fields.map((name): string[] => name.toLowerCase().match(/[a-z]+\d?/g) ?? []);
  const places = roleWords.map((word) => {
    const able = [...words.keys()].filter((place) => word.test(words[place]![0] ?? ''));
    const better = [1, 2].map((n) =>
      able.filter((place) => (n === 1 ? words[place]!.length === 1 : words[place]!.includes('name'))),
    );
    const chosen = [...better, able].find((some) => some.length > 0) ?? [];
    return chosen.length === 1 ? chosen[0]! : -1;
  });
  const letters = places.map((place) => words[place]?.join('') ?? '').filter((word) => word.length === 1);
  const named = !places.includes(-1) && (letters.length === 0 || ['hrt', 'spo'].includes(letters.join('')));
  return named ? (places as unknown as Roles) : undefined;
}

/** Number of lines before the triples, and the columns that they name. */
function headerOf(rows: readonly Row[], width: number): { header: number; roles: Roles | undefined } {
  const counted = rows.length > 1 && /^\s*\d+\s*$/.test(rows[0]!.fields.join('\t')) ? 1 : 0;
  const [names, ...later] = rows.slice(counted);
  const roles = names?.fields.length === width && later.length > 0 ? rolesOf(names.fields) : undefined;
  const known = new Set(later.flatMap(({ fields }) => fields));
  if (!roles || roles.some((place) => known.has(names!.fields[place]!))) {
    return { header: counted && rows[0]!.line, roles: undefined };
  }
  // A rule below the names, such as `- - -`.
  const rule = later.length > 1 && later[0]!.fields.every((field) => /^[-=:]+$/.test(field));
  return { header: (rule ? later[0]! : names!).line, roles };
}

/** Letters of the columns, from the header or from their names. */
function columnsOf(file: string, rows: readonly Row[], width: number, roles: Roles | undefined): string {
  const letters = (places: readonly number[], order: string) =>
    Array.from({ length: Math.max(...places) + 1 }, (_, place) => order[places.indexOf(place)] ?? '.').join('');
  if (roles) return letters(roles, 'hrt');
  // Each column is compared with all others.
  const columns = Array.from({ length: Math.min(width, 32) }, (_, place) => rows.map(({ fields }) => fields[place]!));
  const sets = columns.map((values) => new Set(values));
  const places = [...sets.keys()].filter((place) => width === 3 || isOfNames(columns[place]!, place, sets));
  if (places.length === 3) return letters(places, orderOf(places.map((place) => sets[place]!) as unknown as NameSets));
  const example = rows[0]?.fields.map((field, place) => `${place + 1} ${printable(JSON.stringify(field), 40)}`);
  throw new WorkbenchError(
    'data',
    `expected three columns of names, got ${width} (${example?.join(', ')}), at ${file}`,
    { hint: 'Say which are head, relation and tail, with a dot for one to leave out: --columns .hrt, say.' },
  );
}

/** False for a column of blanks and punctuation, of JSON, of numbers, or of ids: they differ on every line and occur in no other column. */
function isOfNames(values: readonly string[], place: number, columns: readonly ReadonlySet<string>[]): boolean {
  const filled = values.filter((value) => /[\p{L}\p{N}]/u.test(value));
  if (filled.length < values.length / 2) return false;
  if (filled.every((value) => /^(?:[-+.\deE]+|[[{].*[\]}])$/s.test(value))) return false;
  return (
    columns[place]!.size < values.length ||
    columns.some((other, i) => i !== place && shared(other, columns[place]!) > 0)
  );
}

type NameSets = readonly [Set<string>, Set<string>, Set<string>];

/** The order of three columns: another than `hrt` if the middle one shares its names with one, and the third is apart or has far fewer. */
function orderOf(names: NameSets): 'hrt' | 'htr' | 'rht' {
  const apart = names.every((one, i) => shared(one, names[(i + 1) % 3]!) === 0);
  // Then only prefixes such as `wd:` and `/r/` can say it.
  const [a, b, c] = apart ? (names.map(prefixesOf) as unknown as NameSets) : names;
  const isRelation = (place: 0 | 2, one: Set<string>, other: Set<string>) =>
    shared(b, other) >= 0.5 &&
    names[1].size >= names[place].size * (shared(one, b) + shared(one, other) === 0 ? 1 : 2) &&
    names[2 - place]!.size >= names[place].size;
  return isRelation(2, c, a) ? 'htr' : isRelation(0, a, c) ? 'rht' : 'hrt';
}

/** Share of the smaller set that the other one has. */
function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((name) => b.has(name)).length;
  return common / Math.max(1, Math.min(a.size, b.size));
}

const prefixesOf = (names: ReadonlySet<string>) =>
  new Set([...names].flatMap((name) => /^<?\W?\w+[/#:]/.exec(name)?.[0] ?? []));
