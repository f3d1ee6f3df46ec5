/** How far answers lie from their topics. */
import type { Graph } from '../../src/kg/graph.js';

/**
 * For each of `answers` the least number of edges from any topic, at most `hops`; `Infinity` beyond, and for entities the graph lacks.
 * O(edges met), and it stops when every answer was met.
 */
export function answerDistances(
  graph: Graph,
  topics: readonly number[],
  answers: readonly number[],
  hops: number,
): number[] {
  const distance = new Map<number, number>();
  let frontier = [...new Set(topics)].filter((topic) => topic >= 0);
  for (const topic of frontier) distance.set(topic, 0);
  const missing = new Set(answers.filter((answer) => answer >= 0 && !distance.has(answer)));
  for (let hop = 1; hop <= hops && missing.size > 0; hop++) {
    const next: number[] = [];
    for (const entity of frontier) {
      for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
        const tail = graph.tails[edge]!;
        if (distance.has(tail)) continue;
        distance.set(tail, hop);
        missing.delete(tail);
        next.push(tail);
      }
    }
    frontier = next;
  }
  return answers.map((answer) => distance.get(answer) ?? Infinity);
}
