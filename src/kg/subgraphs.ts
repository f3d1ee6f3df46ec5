/**
 * Subgraph around the topics of a question: entities of highest personalised PageRank and all facts among them. The rank is that of a
 * random walk from the topics over facts in both directions, with restarts; only touched entities are computed.
 */
import { adjacencyOf, type AdjacencyRows, type RelationColumn, relationColumn } from './adjacency.js';
import { BreadthFirst } from './breadth-first.js';
import type { Graph, TripleColumns } from './graph.js';

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

/** Extractor of subgraphs of at most `most` entities. Scratch: 29 bytes an entity. */
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
      entities.forEach((entity, index) => (placeOf[entity] = index + 1));
      const offsets = new Int32Array(entities.length + 1);
      let count = 0;
      entities.forEach((entity, index) => {
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
        targets[count] = index;
        labels[count++] = selfLoop;
        offsets[index + 1] = count;
      });
      for (const entity of entities) placeOf[entity] = 0;
      return { entities, offsets, relations: labels.slice(0, count), tails: targets.slice(0, count) };
    },
  };
}

/**
 * Facts of a subgraph by index, each direction separately, without self-loops: at most `most`, from heads nearest to the topics on, then by
 * PageRank and relation; those that `topics` (indices) do not lead to are left out.
 */
export function nearestFacts(
  subgraph: Omit<Subgraph, 'entities'>,
  topics: readonly number[],
  selfLoop: number,
  most: number,
): TripleColumns {
  const { offsets, relations, tails } = subgraph;
  const edges: number[] = [];
  const heads: number[] = [];
  const search = new BreadthFirst(subgraph);
  search.begin(topics);
  for (let level = search.levels[0]!; level.length > 0 && edges.length < most; level = search.expand()) {
    for (const head of level.sort((a, b) => a - b)) {
      for (let edge = offsets[head]!; edge < offsets[head + 1]! && edges.length < most; edge++) {
        if (relations[edge] === selfLoop) continue;
        edges.push(edge);
        heads.push(head);
      }
    }
  }
  return {
    heads: Int32Array.from(heads),
    relations: Int32Array.from(edges, (edge) => relations[edge]!),
    tails: Int32Array.from(edges, (edge) => tails[edge]!),
  };
}

/** Restart probability and precision. */
interface PageRankOptions {
  /** Restart probability before each step, in (0, 1]; default 0.8, which stays within a few hops. */
  restart?: number;
  /** Unspread mass at which to stop, in (0, 1); default 1e-5. */
  tolerance?: number;
  /** Mass per edge below which an entity does not push; default 1e-7: on MetaQA a fortieth of the edges, and as many answers as with 0. */
  leastPush?: number;
}

/**
 * Ranks from topics with equal start probability.
 * @param topics entity ids, `unknownId` skipped; none gives an empty result
 * @param most maximum number of entities, at least 1; unreached ones are never included
 * @returns int32 [at most `most`] entities, rank descending, then id; and their ranks, which sum to 1 over all entities
 */
type PageRanker = (topics: readonly number[], most: number) => { entities: Int32Array; ranks: Float64Array };

/** Edges in both directions: the graph's own, plus reverse edges for relations without an inverse, under ids after the graph's. */
interface BothWays {
  rows: AdjacencyRows;
  /** int32 [relations]: inverse relation; the graph's own ids come first. */
  inverseOf: Int32Array;
}

/** @returns the graph's own rows if every relation has its inverse, else new ones; linear in edges */
export function bothWays(graph: Graph): BothWays {
  const inverses = [...graph.inverseOf];
  graph.inverseOf.forEach((inverse, relation) => {
    if (inverse < 0) inverses[relation] = inverses.push(relation) - 1;
  });
  const inverseOf = Int32Array.from(inverses);
  if (inverseOf.length === graph.numRelations) return { rows: graph, inverseOf };
  const rows = adjacencyOf(graph.numEntities, inverseOf.length, (take) => {
    for (let head = 0; head < graph.numEntities; head++) {
      for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
        const [relation, tail] = [graph.relations[edge]!, graph.tails[edge]!];
        take(head, relation, tail);
        take(tail, inverseOf[relation]!, head);
      }
    }
  });
  return { rows, inverseOf };
}

/**
 * Ranker with reusable scratch, 25 bytes an entity. Each sweep moves the pending mass one step, at the cost of the edges of the pushing
 * entities; `1 - restart` of it moves again.
 * @param rows in both directions, see `bothWays`; entities without edges keep their mass
 * @source Jeh and Widom 2003, doi:10.1145/775152.775191; thresholded push: Andersen, Chung and Lang 2006, doi:10.1109/FOCS.2006.44
 */
export function pageRanker(
  { offsets, tails }: Pick<AdjacencyRows, 'offsets' | 'tails'>,
  { restart = 0.8, tolerance = 1e-5, leastPush = 1e-7 }: PageRankOptions = {},
): PageRanker {
  const size = offsets.length - 1;
  const rank = new Float64Array(size);
  const seen = new Uint8Array(size);
  let moving = new Float64Array(size);
  let next = new Float64Array(size);
  return (topics, most) => {
    let active = [...new Set(topics)].filter((topic) => topic >= 0);
    const touched: number[] = [];
    for (const start of active) moving[start] = 1 / active.length;
    for (let left = 1; active.length > 0 && left > tolerance; left *= 1 - restart) {
      const reached: number[] = [];
      for (const entity of active) {
        const mass = moving[entity]!;
        moving[entity] = 0;
        if (seen[entity] === 0) touched.push(entity);
        seen[entity] = 1;
        const [begin, end] = [offsets[entity]!, offsets[entity + 1]!];
        const passes = end > begin && mass >= leastPush * (end - begin);
        rank[entity]! += passes ? restart * mass : mass;
        if (!passes) continue;
        const share = ((1 - restart) * mass) / (end - begin);
        for (let edge = begin; edge < end; edge++) {
          const tail = tails[edge]!;
          if (next[tail] === 0) reached.push(tail);
          next[tail]! += share;
        }
      }
      [moving, next] = [next, moving];
      active = reached;
    }
    for (const entity of active) {
      rank[entity]! += moving[entity]!;
      moving[entity] = 0;
      if (seen[entity] === 0) touched.push(entity);
      seen[entity] = 1;
    }
    const entities = highest(touched, rank, most);
    const ranks = Float64Array.from(entities, (entity) => rank[entity]!);
    for (const entity of touched) rank[entity] = seen[entity] = 0;
    return { entities, ranks };
  };
}

/** Top entities: the threshold is found by quickselect, and only those above it are sorted. */
function highest(touched: readonly number[], rank: Float64Array, most: number): Int32Array {
  const least = touched.length > most ? nthHighest(rank, touched, most) : 0;
  return Int32Array.from(touched.filter((entity) => rank[entity]! >= least))
    .sort((a, b) => rank[b]! - rank[a]! || a - b)
    .slice(0, most);
}

/** n-th largest of some `numbers` by quickselect, in expected linear time. @source Hoare 1961, doi:10.1145/366622.366647 (FIND) */
function nthHighest(numbers: Float64Array, of: readonly number[], n: number): number {
  const left = new Float64Array(of.length);
  for (let i = 0; i < left.length; i++) left[i] = numbers[of[i]!]!;
  let [low, high] = [0, left.length - 1];
  while (low < high) {
    const pivot = middle(left[low]!, left[(low + high) >> 1]!, left[high]!);
    let [i, j] = [low, high];
    while (i <= j) {
      while (left[i]! > pivot) i++;
      while (left[j]! < pivot) j--;
      if (i > j) break;
      const kept = left[i]!;
      left[i++] = left[j]!;
      left[j--] = kept;
    }
    if (n - 1 <= j) high = j;
    else if (n - 1 >= i) low = i;
    else break;
  }
  return left[n - 1]!;
}

const middle = (a: number, b: number, c: number) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
