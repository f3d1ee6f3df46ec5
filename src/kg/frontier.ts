/**
 * Set-valued walks: all entities reached by a relation sequence, with path counts. Topics are removed from every frontier, not only the
 * last: on three-hop MetaQA removing them only at the end loses half of the exact answers (docs/decisions/questions.md).
 */
import type { AdjacencyRows } from './adjacency.js';
import type { Graph } from './graph.js';

/** Entity set with path counts: two arrays of equal length, ascending by entity id. */
export interface Frontier {
  /** int32 [size], ascending, distinct. */
  entities: Int32Array;
  /** float64 [size]: number of walks along the relation sequence that end here. */
  counts: Float64Array;
}

/** Concatenates the entities of several frontiers without copying. */
export function* entitiesOf(frontiers: readonly Frontier[]): Generator<number> {
  for (const { entities } of frontiers) yield* entities;
}

/** Frontier before the first step. Topics missing from the graph (`unknownId`) are skipped. */
export function initialFrontier(topics: readonly number[]): Frontier {
  const entities = Int32Array.from(new Set(topics.filter((topic) => topic >= 0))).sort();
  return { entities, counts: new Float64Array(entities.length).fill(1) };
}

/** Subset of a frontier. @param indices indices in the frontier, ascending */
export const frontierAt = ({ entities, counts }: Frontier, indices: readonly number[]): Frontier => ({
  entities: Int32Array.from(indices, (i) => entities[i]!),
  counts: Float64Array.from(indices, (i) => counts[i]!),
});

/** Reused per graph: 8 bytes an entity for sums, which are 0 between calls, and the entities of a step. */
type Scratch = { sums: Float64Array; reached: Int32Array };

const scratches = new WeakMap<Graph, Scratch>();

/** One step along `relation` from the frontier, `excluded` entities removed; new arrays. O(edges of that relation + result · log). */
export function stepFrontier(
  graph: Graph,
  { entities, counts }: Frontier,
  relation: number,
  excluded: readonly number[],
): Frontier {
  const scratch = scratches.get(graph) ?? { sums: new Float64Array(graph.numEntities), reached: new Int32Array(1024) };
  scratches.set(graph, scratch);
  // Remote graphs grow.
  if (graph.numEntities > scratch.sums.length) scratch.sums = new Float64Array(2 * graph.numEntities);
  const { sums } = scratch;
  let size = 0;
  for (let i = 0; i < entities.length; i++) {
    const paths = counts[i]!;
    const [begin, end] = relationRange(graph, entities[i]!, relation);
    if (size + end - begin > scratch.reached.length) scratch.reached = grown(scratch.reached, size + end - begin);
    for (let edge = begin; edge < end; edge++) {
      const tail = graph.tails[edge]!;
      if (sums[tail] === 0) scratch.reached[size++] = tail;
      sums[tail]! += paths;
    }
  }
  if (excluded.some((entity) => sums[entity]! > 0)) size = without(excluded, scratch.reached, size, sums);
  const result = { entities: scratch.reached.slice(0, size), counts: new Float64Array(size) };
  // Edges of one entity are already ascending.
  if (entities.length > 1) result.entities.sort();
  for (let i = 0; i < size; i++) {
    const entity = result.entities[i]!;
    result.counts[i] = sums[entity]!;
    sums[entity] = 0;
  }
  return result;
}

/** Removes excluded entities; returns the number left. */
function without(excluded: readonly number[], reached: Int32Array, size: number, sums: Float64Array): number {
  let kept = 0;
  for (let i = 0; i < size; i++) {
    const entity = reached[i]!;
    if (excluded.includes(entity)) sums[entity] = 0;
    else reached[kept++] = entity;
  }
  return kept;
}

function grown(array: Int32Array, size: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * size);
  larger.set(array);
  return larger;
}

/** Frontiers before the first hop and after each, [hops + 1]; empty from the hop without edges on. @param excluded default the topics */
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

/** Frontier at the end of a relation sequence; empty if a hop has no edges. Parameters as `chainFrontiers`. */
export const executeChain = (...walked: Parameters<typeof chainFrontiers>): Frontier =>
  chainFrontiers(...walked).at(-1)!;

/** Relations with an edge from the frontier to a non-topic, ascending. O(edges of the frontier). */
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

/** Entities in the canonical answer order: path count descending, then id. */
export function canonicalOrder({ entities, counts }: Frontier): number[] {
  const order = Array.from(entities.keys()).sort((a, b) => counts[b]! - counts[a]! || entities[a]! - entities[b]!);
  return order.map((i) => entities[i]!);
}

/** Edge range [begin, end) of one relation of an entity (edges are sorted by relation). O(log degree). */
export function relationRange(rows: RelationRows, entity: number, relation: number): readonly [number, number] {
  return [firstEdge(rows, entity, relation), firstEdge(rows, entity, relation + 1)];
}

type RelationRows = Pick<AdjacencyRows, 'offsets' | 'relations'>;

/** Index of an entity's first edge with this relation or a later one, else the next entity's first edge. O(log degree). */
export function firstEdge({ offsets, relations }: RelationRows, entity: number, relation: number): number {
  let low = offsets[entity]!;
  let high = offsets[entity + 1]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (relations[middle]! < relation) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** int32, ascending: entities with an edge of this relation. */
export function entitiesWith(graph: Graph, relation: number): Int32Array {
  return Int32Array.from({ length: graph.numEntities }, (_, entity) => entity).filter((entity) => {
    const [begin, end] = relationRange(graph, entity, relation);
    return end > begin;
  });
}
