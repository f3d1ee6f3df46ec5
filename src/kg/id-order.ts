/** The order of chains and paths. */

/** Compares lists of ids number by number; the beginning of a list comes before it. For `sort`. */
export function byIds(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}
