/** Parts of a graph that weights from how relations meet learn on as well: they should suit graphs with few relations, too. */
import { Graph, type TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';

/** A graph with its train queries. */
export interface TrainedOn {
  graph: Graph;
  queries: TripleColumns;
  /** The graph with its queries, where it lacks them. */
  known?: Graph;
  /** True: hide every edge between the ends of a train query; false: only its own and its inverse. */
  pairs: boolean;
}

/** Fewest relations of a view, without inverses. */
const fewest = 4;

/** Edges of a graph as triples. */
export function edgesOf({ numEntities, numEdges, offsets, relations, tails }: Graph): TripleColumns {
  const heads = new Int32Array(numEdges);
  for (let head = 0; head < numEntities; head++) heads.fill(head, offsets[head], offsets[head + 1]);
  return { heads, relations: Int32Array.from(relations), tails };
}

/**
 * Views of some of the relations, with their edges and queries: their number is drawn evenly by its logarithm, so that most are small. Every
 * other one hides a train query's own edge alone, as graphs do in which linked pairs are common.
 * @param whole whose queries are in the order of its graph's relations, in either direction
 */
export function viewsOf(whole: TrainedOn, count: number, seed: number): TrainedOn[] {
  const { graph, queries } = whole;
  const plain = graph.numRelations / 2;
  const edges = edgesOf(graph);
  return Array.from({ length: plain <= fewest ? 0 : count }, (_, view) => {
    const rng = Rng.named(seed, 'messages/view', view);
    const size = Math.round(fewest * (plain / fewest) ** rng.uniform());
    const taken = rng
      .shuffle(Int32Array.from({ length: plain }, (_, relation) => relation))
      .slice(0, size)
      .sort();
    const ids = new Int32Array(graph.numRelations).fill(-1);
    taken.forEach((relation, i) => {
      ids[relation] = i;
      ids[graph.inverseOf[relation]!] = size + i;
    });
    const names = [...ids.keys()].filter((id) => ids[id]! >= 0).sort((a, b) => ids[a]! - ids[b]!);
    const own = (columns: TripleColumns): TripleColumns => {
      const kept = Int32Array.from(columns.relations.keys()).filter((i) => ids[columns.relations[i]!]! >= 0);
      return {
        heads: kept.map((i) => columns.heads[i]!),
        relations: kept.map((i) => ids[columns.relations[i]!]!),
        tails: kept.map((i) => columns.tails[i]!),
      };
    };
    const relationNames = names.map((id) => graph.relationNames[id]!);
    return {
      graph: new Graph(`${graph.name}-${view}`, graph.entityNames, relationNames, own(edges)),
      queries: own(queries),
      pairs: view % 2 === 0 && whole.pairs,
    };
  });
}
