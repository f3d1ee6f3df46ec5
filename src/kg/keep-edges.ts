/** A graph whose hubs keep a few of their edges. */
import { int32Column, relationColumn } from './adjacency.js';
import type { Graph } from './graph.js';

/** Edges that an entity with too many keeps: `most` indices in `begin .. end - 1`, each once, in any order. */
export type ChooseEdges = (begin: number, end: number, most: number) => Int32Array;

interface KeptEdges {
  /** The same object as the whole graph where nothing had to go. */
  graph: Graph;
  /** int32 [edges kept]: index in the whole graph of each edge, ascending; absent where nothing had to go. */
  indices?: Int32Array;
  /** Entities that lost edges. */
  entitiesCut: number;
}

/**
 * Every entity keeps at most `most` edges, in the order of the graph. Names, ids and the order of edges stay; rows lie in
 * shared memory. `choose` is asked once for each entity that has more, ascending. O(edges), and what choosing costs.
 */
export function keepEdges(whole: Graph, most: number, choose: ChooseEdges): KeptEdges {
  const { numEntities, offsets } = whole;
  let edges = 0;
  let entitiesCut = 0;
  for (let entity = 0; entity < numEntities; entity++) {
    edges += Math.min(most, whole.degree(entity));
    entitiesCut += Number(whole.degree(entity) > most);
  }
  if (entitiesCut === 0) return { graph: whole, entitiesCut };
  const indices = int32Column(edges);
  const kept = int32Column(numEntities + 1);
  let at = 0;
  for (let entity = 0; entity < numEntities; entity++) {
    const begin = offsets[entity]!;
    const end = offsets[entity + 1]!;
    if (end - begin <= most) for (let edge = begin; edge < end; edge++) indices[at++] = edge;
    else {
      indices.set(choose(begin, end, most).slice().sort(), at);
      at += most;
    }
    kept[entity + 1] = at;
  }
  const relations = relationColumn(whole.numRelations, edges);
  const tails = int32Column(edges);
  for (let i = 0; i < edges; i++) {
    relations[i] = whole.relations[indices[i]!]!;
    tails[i] = whole.tails[indices[i]!]!;
  }
  return { graph: whole.withRows({ offsets: kept, relations, tails }), indices, entitiesCut };
}
