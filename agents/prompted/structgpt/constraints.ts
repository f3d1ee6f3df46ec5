/** Event nodes, such as a marriage or a part in a film, filtered by constraints of the question. */
import { type Frontier, frontierAt } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';

/** Unnamed nodes have their id as name, such as Freebase's compound values. */
const unnamed = /^[mg]\.[0-9a-z_]+$/;

/** True for an entity that represents an event. */
export function isMediator(graph: Graph, entity: number): boolean {
  return unnamed.test(graph.entityNames[entity]!);
}

/**
 * The frontier without mediators that match fewer phrases than others; the whole frontier if none matches any.
 * O(edges of the mediators).
 * @param phrases constraints: names, and years of dates
 */
export function heldBy(graph: Graph, frontier: Frontier, phrases: readonly string[]): Frontier {
  const wanted = phrases.map(normalizeName).filter((phrase) => phrase !== '');
  const held = Array.from(frontier.entities, (entity) =>
    isMediator(graph, entity) ? heldPhrases(graph, entity, wanted) : undefined,
  );
  const most = Math.max(0, ...held.map((count) => count ?? 0));
  const kept = [...held.keys()].filter((i) => held[i] === undefined || held[i] === most);
  return frontierAt(frontier, kept);
}

/** Number of phrases that name a neighbour of the node. */
function heldPhrases(graph: Graph, entity: number, phrases: readonly string[]): number {
  const names = Array.from(graph.tails.subarray(graph.offsets[entity], graph.offsets[entity + 1]), (tail) =>
    normalizeName(graph.entityNames[tail]!),
  );
  return phrases.filter((phrase) => names.some((name) => name === phrase || isYearOf(name, phrase))).length;
}

function isYearOf(date: string, phrase: string): boolean {
  return /^\d{4}$/.test(phrase) && date.startsWith(`${phrase}-`);
}
