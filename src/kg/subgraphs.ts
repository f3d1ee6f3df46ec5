/** Subgraph around the topics of a question: entities of highest PageRank and all facts among them. */
import { type RelationColumn, relationColumn } from './adjacency.js';
import type { Graph } from './graph.js';
import { bothWays, type PageRankOptions, pageRanker } from './page-rank.js';

/** Entities by index, 0 has the highest PageRank; edges in both directions. */
export interface Subgraph {
  /** int32 [size]: entity id of each index; includes the topics. */
  entities: Int32Array;
  /** int32 [size + 1]: edges of index `i` are `offsets[i] .. offsets[i + 1] - 1`. */
  offsets: Int32Array;
  /** [edges], ascending in a row: relation ids of `Subgraphs`. */
  relations: RelationColumn;
  /** int32 [edges]: index of the tail. */
  tails: Int32Array;
}

/** Extracts subgraphs of one graph. */
export interface Subgraphs {
  /** Relations of the graph, missing inverses, and the self-loop, which is last. */
  readonly numRelations: number;
  /** Relation of the self-loop, which every entity has. */
  readonly selfLoop: number;
  /** int32 [numRelations]: inverse relation, always present; the self-loop is its own. */
  readonly inverseOf: Int32Array;
  /** @param topics entity ids, `unknownId` skipped; none gives an empty subgraph */
  around(topics: readonly number[]): Subgraph;
}

/**
 * Scratch: 29 bytes an entity. Cost of a subgraph: its PageRank and the edges of its entities.
 * @param most maximum number of entities, at least 1
 */
export function subgraphsOf(graph: Graph, most: number, options?: PageRankOptions): Subgraphs {
  const { rows, inverseOf } = bothWays(graph);
  const ranker = pageRanker(rows, options);
  const selfLoop = inverseOf.length;
  const numRelations = selfLoop + 1;
  /** 1 + place. */
  const placeOf = new Int32Array(graph.numEntities);
  let targets = new Int32Array(1024);
  let labels = relationColumn(numRelations, 1024);
  return {
    numRelations,
    selfLoop,
    inverseOf: Int32Array.of(...inverseOf, selfLoop),
    around(topics) {
      const { entities } = ranker(topics, most);
      entities.forEach((entity, place) => (placeOf[entity] = place + 1));
      const offsets = new Int32Array(entities.length + 1);
      let count = 0;
      entities.forEach((entity, place) => {
        const [begin, end] = [rows.offsets[entity]!, rows.offsets[entity + 1]!];
        // Room for all edges of a hub, though most may lead elsewhere.
        if (count + end - begin + 1 > targets.length) {
          const length = 2 * (count + end - begin + 1);
          const grown = [new Int32Array(length), relationColumn(numRelations, length)] as const;
          grown[0].set(targets);
          grown[1].set(labels);
          [targets, labels] = grown;
        }
        for (let edge = begin; edge < end; edge++) {
          const tail = placeOf[rows.tails[edge]!]! - 1;
          if (tail < 0) continue;
          targets[count] = tail;
          labels[count++] = rows.relations[edge]!;
        }
        targets[count] = place;
        labels[count++] = selfLoop;
        offsets[place + 1] = count;
      });
      for (const entity of entities) placeOf[entity] = 0;
      return { entities, offsets, relations: labels.slice(0, count), tails: targets.slice(0, count) };
    },
  };
}
