/** The chains that lead somewhere from a question's topics, and how well each answers: all that training by chains knows of the graph. */
import { excludedTopics, type QuestionTask } from '../../../datasets/question.js';
import type { GoldSet } from '../../../envs/relation-walk/rules.js';
import { firstEdge, initialFrontier } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';

/** Chains tried on one question: graphs with thousands of relations have no end of them. */
const mostTried = 20_000;

/** Chains of relations, one behind the other. */
export interface Chains {
  /** int32 */
  relations: Int32Array;
  /** int32 [chains + 1]: the relations of chain `c` are `offsets[c] .. offsets[c + 1] - 1`. */
  offsets: Int32Array;
}

/** Feasible chains of a question, shorter ones first. */
export interface FeasibleChains extends Chains {
  /** float64 [chains]: F1 of the entities that each leads to against the answers. */
  f1: Float64Array;
  /** True where bounds left out some. */
  cut: boolean;
}

/** Bounds of the chains of a question. */
export interface ChainBounds {
  /** Relations of a chain at most. */
  horizon: number;
  /** Largest entity set that chains continue from. */
  widest: number;
  /** Chains of this many relations alone; undefined: of any. */
  length?: number | undefined;
}

/** Finds the chains of a question. Gold chains are not read. */
export type ChainFinder = (
  task: Pick<QuestionTask, 'topics' | 'topicsReturn'>,
  gold: GoldSet,
  bounds: ChainBounds,
) => FeasibleChains;

/** Edges of an entity from which on it is a hub. */
const hub = 32;

/** Bits of an entity: bit 0 that it may be reached, bit 1 that it is an answer. */
const [never, somewhere, answer] = [0, 1, 3];

/**
 * Nearly no two questions of a data set share their topics, so nothing is remembered between them: sets are of entities alone, without
 * counts of paths, and where the last relation of a chain misses all answers no set is made at all. Its scratch has 9 bytes an entity
 * of the graph and 8 an edge, so make one for a graph and keep it.
 */
export function chainFinder(graph: Graph): ChainFinder {
  const { offsets: edges, relations, tails, numEntities, numRelations } = graph;
  const bits = new Uint8Array(numEntities).fill(somewhere);
  /** Bits of all that each relation leads to. */
  const found = new Uint8Array(numRelations);
  /** The set in which an entity was met last. */
  const met = new Int32Array(numEntities);
  let sets = 0;
  let pool = new Int32Array(1024);
  const incoming = incomingEdges(graph);
  const newSet = () => {
    if (sets === 2 ** 31 - 1) {
      met.fill(0);
      sets = 0;
    }
    return ++sets;
  };

  /**
   * Writes the bits of each relation of a set into `found`. Hubs have thousands of edges: where fewer lead to answers, the incoming
   * edges of answers are read instead, and of the hub's own edges only the first feasible one per relation.
   * @param ofGold edges that lead to answers
   */
  const look = (first: number, behind: number, gold: Int32Array, ofGold: number) => {
    let ofHubs = 0;
    for (let i = first; i < behind; i++) {
      const degree = edges[pool[i]! + 1]! - edges[pool[i]!]!;
      if (degree > hub) ofHubs += degree;
    }
    const fromBehind = ofHubs > ofGold;
    const set = fromBehind ? newSet() : 0;
    for (let i = first; i < behind; i++) {
      const entity = pool[i]!;
      const last = edges[entity + 1]!;
      let edge = edges[entity]!;
      if (fromBehind && last - edge > hub) {
        met[entity] = set;
        while (edge < last) {
          const relation = relations[edge]!;
          while (edge < last && relations[edge] === relation && bits[tails[edge]!] === never) edge++;
          if (edge < last && relations[edge] === relation) found[relation]! |= somewhere;
          edge = firstEdge(graph, entity, relation + 1);
        }
      } else for (; edge < last; edge++) found[relations[edge]!]! |= bits[tails[edge]!]!;
    }
    if (!fromBehind) return;
    for (const entity of gold) {
      if (bits[entity] === never) continue;
      for (let i = incoming.offsets[entity]!; i < incoming.offsets[entity + 1]!; i++) {
        if (met[incoming.heads[i]!] === set) found[incoming.relations[i]!] = answer;
      }
    }
  };

  return ({ topics, topicsReturn }, gold, { horizon, widest, length }) => {
    const excluded = excludedTopics({ topics, topicsReturn });
    for (const entity of gold.entities) bits[entity] = answer;
    for (const entity of excluded) bits[entity] = never;
    const ofGold = gold.entities.reduce((sum, e) => sum + incoming.offsets[e + 1]! - incoming.offsets[e]!, 0);
    const chains: number[] = [];
    const offsets = [0];
    const f1: number[] = [];
    const end = Math.min(length ?? horizon, horizon);
    const most = Math.min(widest, numEntities);
    let [cut, tried] = [false, 0];

    const roots = initialFrontier(topics.map(({ entity }) => entity)).entities;
    let top = roots.length;
    if (top > pool.length) pool = new Int32Array(2 * top);
    pool.set(roots);
    let level: { chain: number[]; first: number; behind: number }[] = [{ chain: [], first: 0, behind: top }];
    for (let hop = 1; hop <= end && level.length > 0 && tried <= mostTried; hop++) {
      const longer: typeof level = [];
      for (const { chain, first, behind } of level) {
        look(first, behind, gold.entities, ofGold);
        for (let relation = 0; relation < numRelations; relation++) {
          const brings = found[relation]!;
          if (brings === never) continue;
          found[relation] = never;
          if (++tried > mostTried) continue;
          let [size, right] = [0, 0];
          if (hop < end || brings === answer) {
            const set = newSet();
            if (top + most > pool.length) pool = longerArray(pool, top + most);
            for (let i = first; i < behind; i++) {
              const entity = pool[i]!;
              const last = edges[entity + 1]!;
              for (let edge = firstEdge(graph, entity, relation); edge < last && relations[edge] === relation; edge++) {
                const tail = tails[edge]!;
                if (met[tail] === set || bits[tail] === never) continue;
                met[tail] = set;
                if (size < most) pool[top + size] = tail;
                size++;
                right += bits[tail]! >> 1;
              }
            }
          }
          if (length === undefined || hop === end) {
            for (const walked of chain) chains.push(walked);
            chains.push(relation);
            offsets.push(chains.length);
            f1.push(right === 0 ? 0 : (2 * right) / (size + gold.size));
          }
          if (hop === end) continue;
          if (size <= widest) longer.push({ chain: [...chain, relation], first: top, behind: (top += size) });
          else cut = true;
        }
      }
      level = longer;
    }
    for (const entity of gold.entities) bits[entity] = somewhere;
    for (const entity of excluded) bits[entity] = somewhere;
    return {
      relations: new Int32Array(chains),
      offsets: new Int32Array(offsets),
      f1: new Float64Array(f1),
      cut: cut || tried > mostTried,
    };
  };
}

function longerArray(array: Int32Array, size: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * size);
  longer.set(array);
  return longer;
}

/** The edges of a graph by their tails. */
function incomingEdges({ offsets, relations, tails, numEntities }: Graph) {
  const begins = new Int32Array(numEntities + 1);
  for (const tail of tails) begins[tail + 1]!++;
  for (let entity = 0; entity < numEntities; entity++) begins[entity + 1]! += begins[entity]!;
  const next = begins.slice();
  const heads = new Int32Array(tails.length);
  const ways = new Int32Array(tails.length);
  for (let head = 0; head < numEntities; head++) {
    for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
      const place = next[tails[edge]!]!++;
      heads[place] = head;
      ways[place] = relations[edge]!;
    }
  }
  return { offsets: begins, heads, relations: ways };
}
