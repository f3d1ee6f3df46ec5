/** The order in which texts that begin alike follow each other, and what each then has in common with the one before. */

/** Tokens of a text. */
type Tokens = readonly number[];

/** Tokens that both begin with. */
export function sharedLength(a: Tokens, b: Tokens): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

/** Places of `inputs` in the order of a walk through their trie: by the first token in which two differ, equal ones as they came. */
export function prefixOrder(inputs: readonly Tokens[]): number[] {
  return inputs
    .map((_, place) => place)
    .sort((one, other) => {
      const [a, b] = [inputs[one]!, inputs[other]!];
      const at = sharedLength(a, b);
      return (a[at] ?? -1) - (b[at] ?? -1) || one - other;
    });
}

/**
 * Cuts an order into pieces of about equal work, one a lane. The work of a text is what it does not share with the one before;
 * where a piece begins, the whole text.
 * @param order places of `inputs`, as `prefixOrder` gives them
 * @param count pieces, 1 or more; some are empty where there are fewer texts
 */
export function evenPieces(order: readonly number[], inputs: readonly Tokens[], count: number): number[][] {
  const work = order.map((place, i) => {
    const input = inputs[place]!;
    return input.length - (i === 0 ? 0 : sharedLength(inputs[order[i - 1]!]!, input));
  });
  const total = work.reduce((sum, tokens) => sum + tokens, 0);
  const pieces: number[][] = Array.from({ length: count }, () => []);
  let before = 0;
  order.forEach((place, i) => {
    // A text belongs where its middle falls, so that no piece is late by a whole text.
    const piece = Math.floor((count * (before + work[i]! / 2)) / Math.max(total, 1));
    pieces[Math.min(piece, count - 1)]!.push(place);
    before += work[i]!;
  });
  return pieces;
}
