/** Makes names and texts safe for terminals and spreadsheets; finds the closest name to a misspelt one. */

const unsafe = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Control characters, line breaks, bidirectional overrides and unpaired surrogates become escapes such as `\u001b`.
 * @param limit longest result in UTF-16 units; longer texts end in an ellipsis
 */
export function printable(text: string, limit = Infinity): string {
  return shorten(text.slice(0, limit + 1).replace(unsafe, escaped), limit);
}

/** Cuts a text to `limit` UTF-16 units, including the ellipsis. */
export function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

/** The same for whole lines: line breaks and tabs stay. All terminal output passes through it; JSON stays valid. */
export const printableLines = (text: string): string =>
  text.replace(unsafe, (character) => (character === '\n' || character === '\t' ? character : escaped(character)));

/** A CSV cell: quoted if necessary; what a spreadsheet would read as a formula gets an apostrophe. */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Maximum characters compared; the distance costs the product of both lengths. */
const longestTyped = 200;

/** Candidate with the smallest edit distance to `name`, ignoring case; undefined if none is close. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > longestTyped) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(Math.max(2, Math.floor(name.length / 3)) + 1, name.length);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment); `limit` or more where there are as many. */
function editDistance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? before[j - 2]! + 1 : Infinity;
      row.push(Math.min(substitution, previous[j]! + 1, row[j - 1]! + 1, swap));
    }
    // Swaps reach back two rows.
    if (Math.min(...row) >= limit && Math.min(...previous) >= limit) return limit;
    [before, previous] = [previous, row];
  }
  return previous[b.length]!;
}

/** Short description of a value: types and lengths, and the numbers of short vectors. */
export function describeValue(value: unknown): string {
  if (ArrayBuffer.isView(value) && 'length' in value) {
    const numbers = Array.from(value as Float32Array);
    const shown = numbers.length > 12 ? `${numbers.slice(0, 12).join(', ')}, …` : numbers.join(', ');
    return `${value.constructor.name}(${numbers.length}) [${shown}]`;
  }
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if ('then' in value) return 'a Promise';
  return `{ ${Object.entries(value)
    .slice(0, 8)
    .map(
      ([key, one]) => `${key}: ${typeof one === 'object' && !ArrayBuffer.isView(one) ? 'object' : describeValue(one)}`,
    )
    .join(', ')} }`;
}
