/** Facts of a subgraph for a memory of limited size, nearest to the topics first. */
import type { TripleColumns } from './graph.js';
import type { Subgraph } from './subgraphs.js';

/**
 * Facts by index, each direction separately, without self-loops. Heads nearest to the topics come first, then higher PageRank; facts of
 * one head are sorted by relation.
 * @param topics indices that distances start from; facts unreachable from them are left out
 * @param selfLoop relation of the loops
 * @param most maximum number of facts, at least 1
 */
export function nearestFacts(
  { offsets, relations, tails }: Omit<Subgraph, 'entities'>,
  topics: readonly number[],
  selfLoop: number,
  most: number,
): TripleColumns {
  const room = Math.min(most, tails.length);
  const facts = { heads: new Int32Array(room), relations: new Int32Array(room), tails: new Int32Array(room) };
  let count = 0;
  const size = offsets.length - 1;
  const seen = new Uint8Array(size);
  let level = [...new Set(topics)].sort((a, b) => a - b);
  for (const place of level) seen[place] = 1;
  while (level.length > 0 && count < most) {
    const next: number[] = [];
    for (const head of level) {
      for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
        const tail = tails[edge]!;
        if (relations[edge] !== selfLoop && count < most) {
          facts.heads[count] = head;
          facts.relations[count] = relations[edge]!;
          facts.tails[count++] = tail;
        }
        if (seen[tail] === 1) continue;
        seen[tail] = 1;
        next.push(tail);
      }
    }
    level = next.sort((a, b) => a - b);
  }
  const cut = (column: Int32Array) => column.subarray(0, count);
  return { heads: cut(facts.heads), relations: cut(facts.relations), tails: cut(facts.tails) };
}
