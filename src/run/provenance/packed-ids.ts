/** Ids of thousands of samples in little room: those of one beginning as ranges of the number at their end. */
import { WorkbenchError } from '../errors.js';

/** @param ids sorted or not; repeats count once. @returns `{"train-17#": "1-3,7", "odd": ""}` */
export function packIds(ids: Iterable<string>): Record<string, string> {
  const numbers = new Map<string, number[]>();
  for (const id of new Set(ids)) {
    const [, prefix, digits] = /^(.*?)(0|[1-9]\d{0,14})$/s.exec(id) ?? [];
    const key = prefix ?? id;
    numbers.set(key, numbers.get(key) ?? []);
    // An id without a number is its own beginning, with -1 for its end.
    numbers.get(key)!.push(digits === undefined ? -1 : Number(digits));
  }
  const rows = [...numbers].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(rows.map(([prefix, of]) => [prefix, rangesOf(of.sort((a, b) => a - b))]));
}

function rangesOf(sorted: readonly number[]): string {
  const ranges: string[] = [];
  for (let i = 0; i < sorted.length; i++) {
    const begin = sorted[i]!;
    if (begin < 0) {
      ranges.push('');
      continue;
    }
    while (sorted[i + 1] === sorted[i]! + 1) i++;
    ranges.push(sorted[i] === begin ? String(begin) : `${begin}-${sorted[i]}`);
  }
  return ranges.join(',');
}

/**
 * The ids again.
 * @param count how many there must be: a range that says more is not followed
 * @throws WorkbenchError `data` for what `packIds` does not write, or another number of ids
 */
export function unpackIds(packed: Readonly<Record<string, string>>, count: number, place: string): string[] {
  const damaged = (got: string) =>
    new WorkbenchError('data', `expected the ids of ${count} samples, got ${got}, at ${place}`);
  const ids: string[] = [];
  for (const [prefix, ranges] of Object.entries(packed)) {
    for (const range of ranges.split(',')) {
      if (range === '') {
        ids.push(prefix);
        continue;
      }
      const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(range) ?? [];
      if (first === undefined) throw damaged(JSON.stringify(range.slice(0, 40)));
      if (Number(last) - Number(first) >= count - ids.length) throw damaged('more');
      for (let number = Number(first); number <= Number(last); number++) ids.push(`${prefix}${number}`);
    }
  }
  if (ids.length !== count) throw damaged(String(ids.length));
  return ids;
}
