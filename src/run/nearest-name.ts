/** The name a user probably meant. */

/** Characters; the distance costs the product of both lengths. */
const longestTyped = 200;

/**
 * The candidate with the smallest edit distance to `name`, letter case ignored, or undefined where none is near
 * (more than two edits and more than a third of the name, or all of it), nor for a name that nobody types.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > longestTyped) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(Math.max(2, Math.floor(name.length / 3)) + 1, name.length);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}
