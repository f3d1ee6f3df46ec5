/** Facts as sentences. */
import { relationPhrases } from '../../../datasets/demo/phrases.js';
import { fill } from '../../../datasets/demo/speech.js';
import type { Graph } from '../../../src/kg/graph.js';
import { inverseName, inversePrefix } from '../../../src/kg/graph.js';
import type { Triple } from '../../../src/kg/path.js';
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
  const ways = tellings[plain] ?? [`{h}, ${plain.replace(/[_\-./]+/g, ' ').trim()}: {t}`];
  const way = ways[rng.integer(ways.length)]!;
  return `${fill(way, { h: graph.entityNames[from]!, t: graph.entityNames[to]! })}.`;
}

const tellings: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(relationPhrases).map(([name, { tell }]) => [name, tell]),
);
