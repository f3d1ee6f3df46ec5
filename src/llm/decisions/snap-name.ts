/** A name that a model wrote, brought back to one that was offered. */

/** Longest name that is compared by edits, in UTF-16 units; longer ones must agree but for case and spaces. */
const longestCompared = 100;

/**
 * Index of the offered name that was meant: the same one; else the only one that agrees but for letter case and white
 * space; else the one nearest by edits, at most a fifth of its length away and at least two edits nearer than any
 * other. Undefined otherwise. Never by containment: `place` is not `place_of_birth`.
 */
export function snapName(written: string, offered: readonly string[]): number | undefined {
  const same = offered.indexOf(written);
  if (same >= 0) return same;
  const key = nameKey(written);
  if (key === '') return undefined;
  const keys = offered.map(nameKey);
  const alike = keys.indexOf(key);
  if (alike >= 0) return keys.lastIndexOf(key) === alike ? alike : undefined;
  return nearest(key, keys);
}

function nearest(key: string, keys: readonly string[]): number | undefined {
  if (key.length > longestCompared) return undefined;
  const limit = Math.floor(key.length / 5);
  if (limit === 0) return undefined;
  let best: number | undefined;
  let [smallest, second] = [Infinity, Infinity];
  keys.forEach((other, i) => {
    const distance = boundedDistance(key, other, limit + 1);
    if (distance < smallest) [best, smallest, second] = [i, distance, smallest];
    else second = Math.min(second, distance);
  });
  return smallest <= limit && second - smallest >= 2 ? best : undefined;
}

function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase().replace(/\s+/gu, '');
}

/** Edits between two texts, or Infinity beyond `bound`. */
function boundedDistance(a: string, b: string, bound: number): number {
  if (Math.abs(a.length - b.length) > bound) return Infinity;
  let previous = Int32Array.from({ length: b.length + 1 }, (_, j) => j);
  let row = new Int32Array(b.length + 1);
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const substituted = previous[j - 1]! + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      row[j] = Math.min(substituted, previous[j]! + 1, row[j - 1]! + 1);
      least = Math.min(least, row[j]!);
    }
    if (least > bound) return Infinity;
    [previous, row] = [row, previous];
  }
  return previous[b.length]! > bound ? Infinity : previous[b.length]!;
}
