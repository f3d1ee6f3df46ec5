/** Facts of the demo world as sentences. */
import type { Graph } from '../../../src/kg/graph.js';
import { inverseName, inversePrefix } from '../../../src/kg/graph.js';
import type { Triple } from '../../../src/kg/path.js';

/** Where a relation's own words are no sentence. */
const verbs: Readonly<Record<string, string>> = {
  directed_by: 'was directed by',
  starring: 'has among its actors',
  written_by: 'was written by',
  has_genre: 'has the genre',
  released_in: 'was released in',
  set_in: 'is set in',
  based_on: 'is based on',
  produced_by: 'was produced by',
  won_award: 'won the award',
  in_language: 'is in the language',
  performed_by: 'was performed by',
  on_album: 'is on the album',
  member_of: 'is a member of',
  based_in: 'is based in',
  plays_for: 'plays for',
  competes_in: 'competes in',
  home_ground: 'has the home ground',
  located_in: 'is located in',
  born_in: 'was born in',
  plays_sport: 'plays the sport',
};

/** A walked edge as a sentence in the graph's own direction: an inverse step is turned back. */
export function sentenceOf(graph: Graph, [head, relation, tail]: Triple): string {
  const name = graph.relationNames[relation]!;
  const [from, to] = [graph.entityNames[head]!, graph.entityNames[tail]!];
  if (name.startsWith(inversePrefix)) return `${to} ${verbOf(inverseName(name))} ${from}.`;
  return `${from} ${verbOf(name)} ${to}.`;
}

function verbOf(relation: string): string {
  return verbs[relation] ?? relation.replace(/[_\-./]+/g, ' ').trim();
}
