/** Distance of answers from the start of walks: the bound of every walker, and the steps that an exact one takes. */
import { exactWalkerKind } from '../../agents/exact-walker/agent.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { placeOfEdge } from '../../envs/link-query/world.js';
import { type Graph, sampledTriples, type TripleColumns } from '../../src/kg/graph.js';

/** The distance of an answer that is farther than was looked for, or not connected. */
export const tooFar = 255;

/**
 * Edges on the shortest walk from each query's head to its answer, the query's own edge left out in both directions.
 * @param graph with an inverse for every relation
 * @param most at most 254; distances beyond are `tooFar`
 * @returns uint8 [queries]
 */
export function answerDistances(graph: Graph, queries: TripleColumns, most: number): Uint8Array {
  const { heads, relations, tails } = queries;
  const distances = new Uint8Array(heads.length);
  const search = new DistanceSearch(graph, most);
  // All queries from one entity share a search, but those whose own edge is in the graph.
  const order = Int32Array.from(heads.keys()).sort((a, b) => heads[a]! - heads[b]! || a - b);
  let from = -1;
  for (const query of order) {
    const [head, relation, answer] = [heads[query]!, relations[query]!, tails[query]!];
    const index = placeOfEdge(graph, head, relation, answer);
    if (index >= 0) {
      search.start(head, graph.offsets[head]! + index);
      const back = placeOfEdge(graph, answer, graph.inverseOf[relation]!, head);
      distances[query] = search.distance(answer, back < 0 ? -1 : graph.offsets[answer]! + back);
      from = -1;
      continue;
    }
    if (head !== from) search.start(head);
    from = head;
    distances[query] = search.distance(answer);
  }
  return distances;
}

/** Triples that distances are measured on. */
const measured = 500;

/**
 * Shares of answers that lie within so many edges of their heads, by a seeded draw of triples, asked for tails.
 * @returns [most + 1]: within 0, 1 … edges; all 0 without triples
 */
export function sharesWithin(graph: Graph, triples: TripleColumns, most: number): number[] {
  const distances = answerDistances(graph, sampledTriples(triples, measured, 'links/within'), most);
  const within = (hops: number) => distances.filter((distance) => distance <= hops).length;
  return Array.from({ length: most + 1 }, (_, hops) => within(hops) / Math.max(1, distances.length));
}

/** Longest walk that is chosen. */
const mostHops = 6;

/**
 * Settings with `linkWalk.horizon` raised until `exactWalker.reach` of valid's answers lie within it, at most to 6 or what the kind of walker takes.
 * @param note called with the shares that decided
 * @throws WorkbenchError `data` for a data set that is not there
 */
export async function settledHorizon(settings: TrainSettings, note: (line: string) => void): Promise<TrainSettings> {
  const { linkWalk, exactWalker, data } = settings;
  if (!exactWalker) return settings;
  const most = Math.min(mostHops, exactWalkerKind(exactWalker.kind).mostHops);
  if (exactWalker.reach === 0 || linkWalk.horizon >= most) return settings;
  const { graph, valid } = await loadLinkDataset(data.dataset);
  const within = sharesWithin(graph, valid, most);
  let { horizon } = linkWalk;
  while (horizon < most && within[most]! > 0 && within[horizon]! < exactWalker.reach) horizon++;
  const shares = within.map((share, hops) => `${(100 * share).toFixed(1)} % within ${hops}`).slice(linkWalk.horizon);
  note(`walks of ${horizon} hops: of the answers of valid lie ${shares.join(', ')}`);
  return { ...settings, linkWalk: { ...linkWalk, horizon } };
}

/** A search from one entity that stops a step early: whether the last step exists is asked of the answer's own edges. */
class DistanceSearch {
  readonly #graph: Graph;
  readonly #most: number;
  /** uint8 [numEntities]: edges from the start, `tooFar` where not met. */
  readonly #met: Uint8Array;
  readonly #order: Int32Array;

  constructor(graph: Graph, most: number) {
    this.#graph = graph;
    this.#most = most;
    this.#met = new Uint8Array(graph.numEntities);
    this.#order = new Int32Array(graph.numEntities);
  }

  /** @param hidden index of an edge of `head` that is not walked */
  start(head: number, hidden = -1): void {
    const { offsets, tails } = this.#graph;
    const met = this.#met;
    const order = this.#order;
    met.fill(tooFar);
    met[head] = 0;
    order[0] = head;
    let end = 1;
    for (let at = 0; at < end; at++) {
      const entity = order[at]!;
      const next = met[entity]! + 1;
      if (next >= this.#most) return;
      for (let edge = offsets[entity]!; edge < offsets[entity + 1]!; edge++) {
        if (met[tails[edge]!] !== tooFar || edge === hidden) continue;
        met[tails[edge]!] = next;
        order[end++] = tails[edge]!;
      }
    }
  }

  /** @param hidden index of an edge of `answer` that is not walked backwards */
  distance(answer: number, hidden = -1): number {
    if (this.#met[answer] !== tooFar) return this.#met[answer]!;
    const { offsets, tails } = this.#graph;
    for (let edge = offsets[answer]!; edge < offsets[answer + 1]!; edge++) {
      if (this.#met[tails[edge]!] === this.#most - 1 && edge !== hidden) return this.#most;
    }
    return tooFar;
  }
}
