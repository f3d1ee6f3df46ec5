/** The chains that lead somewhere from a question's topics, and how well each answers: all that training by chains knows of the graph. */
import { excludedTopics, type QuestionTask } from '../../../datasets/question.js';
import type { GoldSet } from '../../../envs/relation-walk/rules.js';
import { type AdjacencyRows, reversedRows } from '../../../src/kg/adjacency.js';
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

export interface ChainBounds {
  /** Relations of a chain at most. */
  horizon: number;
  /** Largest entity set that chains continue from. */
  widest: number;
  /** Chains of this many relations alone; undefined: of any. */
  length?: number | undefined;
}

/** Edges of an entity from which on it is a hub. */
const hub = 32;

/** Bits of an entity: bit 0 that it may be reached, bit 1 that it is an answer. */
const [never, somewhere, answer] = [0, 1, 3];

/** Chains of one length: their relations, and where the entities that they lead to lie in the pool. */
type Level = { chain: number[]; first: number; behind: number };

/**
 * Finds the chains of questions; gold chains are not read. Nearly no two questions of a data set share their topics, so nothing is
 * remembered between them: sets are of entities alone, without counts of paths, and where the last relation of a chain misses all answers no
 * set is made at all. Its scratch has 9 bytes an entity of the graph and 8 an edge, so make one for a graph and keep it.
 */
export class ChainFinder {
  readonly #graph: Graph;
  /** Heads stand as tails. */
  readonly #incoming: AdjacencyRows;
  readonly #bits: Uint8Array;
  /** Bits of all that each relation leads to. */
  readonly #found: Uint8Array;
  /** The set in which an entity was met last. */
  readonly #met: Int32Array;
  #sets = 0;
  #pool = new Int32Array(1024);

  constructor(graph: Graph) {
    this.#graph = graph;
    this.#incoming = reversedRows(graph);
    this.#bits = new Uint8Array(graph.numEntities).fill(somewhere);
    this.#found = new Uint8Array(graph.numRelations);
    this.#met = new Int32Array(graph.numEntities);
  }

  find(
    { topics, topicsReturn }: Pick<QuestionTask, 'topics' | 'topicsReturn'>,
    gold: GoldSet,
    { horizon, widest, length }: ChainBounds,
  ): FeasibleChains {
    const [bits, found] = [this.#bits, this.#found];
    const excluded = excludedTopics({ topics, topicsReturn });
    for (const entity of gold.entities) bits[entity] = answer;
    for (const entity of excluded) bits[entity] = never;
    const { offsets: into } = this.#incoming;
    const ofGold = gold.entities.reduce((sum, e) => sum + into[e + 1]! - into[e]!, 0);
    const chains: number[] = [];
    const offsets = [0];
    const f1: number[] = [];
    const end = Math.min(length ?? horizon, horizon);
    const most = Math.min(widest, bits.length);
    let [cut, tried] = [false, 0];

    const roots = initialFrontier(topics.map(({ entity }) => entity)).entities;
    let top = roots.length;
    this.#reserve(top);
    this.#pool.set(roots);
    let level: Level[] = [{ chain: [], first: 0, behind: top }];
    for (let hop = 1; hop <= end && level.length > 0 && tried <= mostTried; hop++) {
      const longer: Level[] = [];
      for (const { chain, first, behind } of level) {
        this.#look(first, behind, gold.entities, ofGold);
        for (let relation = 0; relation < found.length; relation++) {
          const brings = found[relation]!;
          if (brings === never) continue;
          found[relation] = never;
          if (++tried > mostTried) continue;
          const [size, right] =
            hop < end || brings === answer ? this.#follow(first, behind, relation, top, most) : [0, 0];
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
  }

  /**
   * Writes the bits of each relation of a set into `#found`. Hubs have thousands of edges: where fewer lead to answers, the incoming
   * edges of answers are read instead, and of the hub's own edges only the first feasible one per relation.
   * @param ofGold edges that lead to answers
   */
  #look(first: number, behind: number, gold: Int32Array, ofGold: number): void {
    const { offsets: edges, relations, tails } = this.#graph;
    const [bits, found, met, pool, incoming] = [this.#bits, this.#found, this.#met, this.#pool, this.#incoming];
    let ofHubs = 0;
    for (let i = first; i < behind; i++) {
      const degree = edges[pool[i]! + 1]! - edges[pool[i]!]!;
      if (degree > hub) ofHubs += degree;
    }
    const fromBehind = ofHubs > ofGold;
    const set = fromBehind ? this.#newSet() : 0;
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
          edge = firstEdge(this.#graph, entity, relation + 1);
        }
      } else for (; edge < last; edge++) found[relations[edge]!]! |= bits[tails[edge]!]!;
    }
    if (!fromBehind) return;
    for (const entity of gold) {
      if (bits[entity] === never) continue;
      for (let i = incoming.offsets[entity]!; i < incoming.offsets[entity + 1]!; i++) {
        if (met[incoming.tails[i]!] === set) found[incoming.relations[i]!] = answer;
      }
    }
  }

  /**
   * Writes the set that a relation leads to behind `top` in the pool, of more than `most` entities the first.
   * @returns its size, and how many of it are answers
   */
  #follow(
    first: number,
    behind: number,
    relation: number,
    top: number,
    most: number,
  ): readonly [size: number, right: number] {
    const { offsets: edges, relations, tails } = this.#graph;
    const [bits, met] = [this.#bits, this.#met];
    const set = this.#newSet();
    this.#reserve(top + most);
    const pool = this.#pool;
    let [size, right] = [0, 0];
    for (let i = first; i < behind; i++) {
      const entity = pool[i]!;
      const last = edges[entity + 1]!;
      for (let edge = firstEdge(this.#graph, entity, relation); edge < last && relations[edge] === relation; edge++) {
        const tail = tails[edge]!;
        if (met[tail] === set || bits[tail] === never) continue;
        met[tail] = set;
        if (size < most) pool[top + size] = tail;
        size++;
        right += bits[tail]! >> 1;
      }
    }
    return [size, right];
  }

  #newSet(): number {
    if (this.#sets === 2 ** 31 - 1) {
      this.#met.fill(0);
      this.#sets = 0;
    }
    return ++this.#sets;
  }

  #reserve(size: number): void {
    if (size <= this.#pool.length) return;
    const longer = new Int32Array(2 * size);
    longer.set(this.#pool);
    this.#pool = longer;
  }
}
