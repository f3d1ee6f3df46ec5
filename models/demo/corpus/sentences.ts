/** Facts as sentences. */
import { fill, relationWords } from '../../../datasets/demo/words.js';
import { type Graph, inverseName, inversePrefix, type Triple } from '../../../src/kg/graph.js';
import type { Rng } from '../../../src/run/seeds.js';

/**
 * A walked edge as a sentence in the graph's own direction, an inverse step turned back: in one of the demo world's ways, or
 * plainly where the relation is not of that world.
 */
export function sentenceOf(graph: Graph, [head, relation, tail]: Triple, rng: Rng): string {
  const name = graph.relationNames[relation]!;
  const inverse = name.startsWith(inversePrefix);
  const [from, to] = inverse ? [tail, head] : [head, tail];
  const plain = inverse ? inverseName(name) : name;
  const phrases: Partial<Record<string, { tell: readonly string[] }>> = relationWords();
  const ways = phrases[plain]?.tell ?? [`{h}, ${plain.replace(/[_\-./]+/g, ' ').trim()}: {t}`];
  const way = ways[rng.integer(ways.length)]!;
  return `${fill(way, { h: graph.entityNames[from]!, t: graph.entityNames[to]! })}.`;
}
