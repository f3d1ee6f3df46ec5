/**
 * Walks of whole sets: every entity that a relation sequence leads to, with the number of paths that lead there. The
 * topics leave every frontier, not only the last: on MetaQA's three-hop questions the other rule loses half of the exact
 * answers (docs/decisions/questions.md).
 */
import type { Graph } from './graph.js';

/** A set of entities with path counts, two arrays of equal length, ascending by entity id. */
export interface Frontier {
  /** int32 [size], ascending, distinct. */
  entities: Int32Array;
  /** float64 [size]: number of walks along the relation sequence that end there. */
  counts: Float64Array;
}

/** The frontier before the first step. Topics the graph lacks (`unknownId`) are left out. */
export function initialFrontier(topics: readonly number[]): Frontier {
  const entities = Int32Array.from(new Set(topics.filter((topic) => topic >= 0))).sort();
  return { entities, counts: new Float64Array(entities.length).fill(1) };
}

/**
 * Everything one step along `relation` from the frontier, without the topics. O(edges of that relation + result · log).
 * @param topics entity ids that never come back
 */
export function stepFrontier(graph: Graph, frontier: Frontier, relation: number, topics: readonly number[]): Frontier {
  const counts = new Map<number, number>();
  for (let i = 0; i < frontier.entities.length; i++) {
    const paths = frontier.counts[i]!;
    const [begin, end] = relationRange(graph, frontier.entities[i]!, relation);
    for (let edge = begin; edge < end; edge++) {
      const tail = graph.tails[edge]!;
      counts.set(tail, (counts.get(tail) ?? 0) + paths);
    }
  }
  for (const topic of topics) counts.delete(topic);
  const entities = Int32Array.from(counts.keys()).sort();
  return { entities, counts: Float64Array.from(entities, (entity) => counts.get(entity)!) };
}

/**
 * The frontiers of a relation sequence: before the first hop and after each, [hops + 1]; empty from where it breaks off.
 * @param excluded entity ids that never come back. Default the topics; see `excludedTopics` for a question's own rule
 */
export function chainFrontiers(
  graph: Graph,
  topics: readonly number[],
  chain: readonly number[],
  excluded: readonly number[] = topics,
): Frontier[] {
  const frontiers = [initialFrontier(topics)];
  for (const relation of chain) frontiers.push(stepFrontier(graph, frontiers.at(-1)!, relation, excluded));
  return frontiers;
}

/** The frontier at the end of a relation sequence; empty where it breaks off. Parameters as of `chainFrontiers`. */
export function executeChain(
  graph: Graph,
  topics: readonly number[],
  chain: readonly number[],
  excluded: readonly number[] = topics,
): Frontier {
  return chainFrontiers(graph, topics, chain, excluded).at(-1)!;
}

/** Relations that lead from the frontier to something that is not a topic, ascending. O(edges of the frontier). */
export function frontierRelations(graph: Graph, { entities }: Frontier, topics: readonly number[]): Int32Array {
  const excluded = new Set(topics);
  const found = new Uint8Array(graph.numRelations);
  for (const entity of entities) {
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
      if (!excluded.has(graph.tails[edge]!)) found[graph.relations[edge]!] = 1;
    }
  }
  return Int32Array.from(found.keys()).filter((relation) => found[relation] === 1);
}

/** The frontier's entities in the canonical order of answers: more paths first, then the smaller id. */
export function canonicalOrder({ entities, counts }: Frontier): number[] {
  const order = Array.from(entities.keys()).sort((a, b) => counts[b]! - counts[a]! || entities[a]! - entities[b]!);
  return order.map((i) => entities[i]!);
}

/** Edge indices [begin, end) of one relation of an entity: edges are ordered by relation. O(log degree). */
export function relationRange(graph: Graph, entity: number, relation: number): readonly [number, number] {
  const first = (wanted: number) => {
    let low = graph.offsets[entity]!;
    let high = graph.offsets[entity + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (graph.relations[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return [first(relation), first(relation + 1)];
}
