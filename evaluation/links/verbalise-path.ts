/** Walks in words. */
import { inversePrefix, type Graph } from '../../src/kg/graph.js';

/**
 * A walk as one line, such as `Tom Hanks -[acts in]-> Big <-[directed]- Penny Marshall`: an inverse relation is told as the
 * relation itself, its arrow pointing back. Steps that stay are left out; a walk of nothing else is its head.
 * @param labels display name of each entity
 * @param path int32: relation and entity of each step, as observations and beams have it
 */
export function verbalisePath(
  { relationNames }: Pick<Graph, 'relationNames'>,
  labels: readonly string[],
  head: number,
  path: ArrayLike<number>,
): string {
  let words = labels[head]!;
  for (let at = 0; at < path.length; at += 2) {
    const name = relationNames[path[at]!];
    // Staying has the id after the last relation.
    if (name === undefined) continue;
    const arrow = name.startsWith(inversePrefix) ? ` <-[${name.slice(inversePrefix.length)}]- ` : ` -[${name}]-> `;
    words += arrow + labels[path[at + 1]!]!;
  }
  return words;
}
