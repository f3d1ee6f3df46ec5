/** Graphs with capped out-degree. */
import { int32Column, relationColumn } from './adjacency.js';
import type { Graph } from './graph.js';

/** Chooses which edges of a hub to keep: `most` distinct indices in `begin .. end - 1`, any order. */
export type ChooseEdges = (begin: number, end: number, most: number) => Int32Array;

interface KeptEdges {
  /** The input graph itself if nothing was dropped. */
  graph: Graph;
  /** int32 [edges kept]: index in the input graph of each edge, ascending; absent if nothing was dropped. */
  indices?: Int32Array;
  /** Number of entities that lost edges. */
  entitiesCut: number;
}

/** Caps the out-degree at `most`; names, ids and edge order stay. `choose` is called once per entity above the cap, ascending. O(edges). */
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
