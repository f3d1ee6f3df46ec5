/** The loss of a query that has several answers among its candidates. */

/**
 * Σ over the answers of −log softmax(scores)[answer]: each answer competes with all candidates, other answers among them.
 * That this costs ranks, since answers push each other down, is outweighed by what it holds back: leaving other answers out
 * of the sum learned train by heart (docs/decisions/link-queries.md).
 * @param scores of the candidates, those of the query at `from` to `from + count - 1`; become the derivatives by them
 * @param places of the answers' scores, each once, counted from `from`
 * @returns the loss
 */
export function softmaxSlope(scores: Float32Array, from: number, count: number, places: Int32Array): number {
  const end = from + count;
  let highest = -Infinity;
  for (let c = from; c < end; c++) if (scores[c]! > highest) highest = scores[c]!;
  let loss = 0;
  for (let a = 0; a < places.length; a++) loss -= scores[from + places[a]!]! - highest;
  let sum = 0;
  for (let c = from; c < end; c++) {
    const odds = Math.exp(scores[c]! - highest);
    scores[c] = odds;
    sum += odds;
  }
  const share = places.length / sum;
  for (let c = from; c < end; c++) scores[c]! *= share;
  for (let a = 0; a < places.length; a++) scores[from + places[a]!]! -= 1;
  return loss + places.length * Math.log(sum);
}
