/** Mining of relation chains for a query relation: frequent between heads and answers, and precise. */
import { byIds, type Graph } from '../../../src/kg/graph.js';
import type { Rng } from '../../../src/run/seeds.js';
import { type ChainWalk, endMarks, type HiddenEdges, mostHops, noRelation } from './chain-walk.js';
import { ChainCounts } from './chain-counts.js';
import type { ChainSettings } from '../settings.js';

/** Triples of one query relation, as queries. */
export type RelationQueries = { heads: Int32Array; tails: Int32Array };

/** Sorted chains of one query relation with their precision. */
interface MinedChains {
  /** int32 [n, mostHops], padded with `noRelation`. */
  chains: Int32Array;
  /** float64 [n], in (0, 1): share of answers among the entities reached. */
  confidence: Float64Array;
}

interface MiningWorld {
  graph: Graph;
  walk: ChainWalk;
  /** int32 [numEntities]: scratch, all `endMarks.free`. */
  marks: Int32Array;
  settings: Pick<ChainSettings, 'minedTriples' | 'minedEdges' | 'candidates' | 'measuredTriples' | 'chains'>;
  hops: number;
}

/** Added to the number of reached entities, to discount small samples. */
const smoothing = 5;

/** Mines chains of at most `hops` relations: counted on some triples, measured on others. @param pause awaited between triples */
export async function mineChains(
  world: MiningWorld,
  queries: RelationQueries,
  hide: (tail: number) => HiddenEdges,
  markKnown: (head: number, tail: number, on: boolean) => void,
  rng: Rng,
  pause: () => Promise<void>,
): Promise<MinedChains> {
  const { settings } = world;
  const order = rng.shuffle(Int32Array.from(queries.heads.keys()));
  const counts = new ChainCounts(world.graph.numRelations, world.hops);
  const finder = new PathFinder(world, counts, rng);
  const mined = order.subarray(0, settings.minedTriples);
  for (const index of mined) {
    counts.nextTriple();
    finder.count(queries.heads[index]!, hide(queries.tails[index]!));
    await pause();
  }
  const candidates = counts.most(settings.candidates, world.hops).map(({ chain }) => chain);
  const chains = flat(candidates.sort(byIds));
  const indices = order.subarray(0, settings.measuredTriples);
  const scores = await measured(world, chains, queries, indices, hide, markKnown, pause);
  return best(chains, scores, settings.chains);
}

async function measured(
  { walk, marks }: MiningWorld,
  chains: Int32Array,
  { heads, tails }: RelationQueries,
  indices: Int32Array,
  hide: (tail: number) => HiddenEdges,
  markKnown: (head: number, tail: number, on: boolean) => void,
  pause: () => Promise<void>,
) {
  const count = chains.length / mostHops;
  const [hits, reached] = [new Float64Array(count), new Float64Array(count)];
  /** Summed probability of the answer. */
  const chance = new Float64Array(count);
  for (const index of indices) {
    const [head, tail] = [heads[index]!, tails[index]!];
    markKnown(head, tail, true);
    walk.begin(head, hide(tail));
    walk.each(chains, (chain, hops, relation) => {
      walk.reached(hops, relation, (entity, own) => {
        if (entity === tail) {
          hits[chain]!++;
          chance[chain]! += own;
        }
        if (marks[entity] !== endMarks.out) reached[chain]!++;
      });
    });
    markKnown(head, tail, false);
    await pause();
  }
  return { confidence: hits.map((own, chain) => own / (reached[chain]! + smoothing)), chance };
}

/** Top chains alternately by confidence and by probability; ties by index. */
function best(
  chains: Int32Array,
  { confidence, chance }: Record<'confidence' | 'chance', Float64Array>,
  most: number,
): MinedChains {
  const some = [...confidence.keys()].filter((chain) => confidence[chain]! > 0);
  const ranked = [confidence, chance].map((score) => [...some].sort((a, b) => score[b]! - score[a]! || a - b));
  const taken = new Set<number>();
  for (let i = 0; i < some.length && taken.size < most; i++) {
    for (const order of ranked) if (taken.size < most) taken.add(order[i]!);
  }
  const kept = [...taken].sort((a, b) => a - b);
  return {
    chains: flat(kept.map((chain) => chains.subarray(chain * mostHops, (chain + 1) * mostHops))),
    confidence: Float64Array.from(kept, (chain) => confidence[chain]!),
  };
}

function flat(chains: readonly ArrayLike<number>[]): Int32Array {
  const rows = new Int32Array(chains.length * mostHops).fill(noRelation);
  chains.forEach((chain, i) => rows.set(chain, i * mostHops));
  return rows;
}

/** Counts the chains of all walks between two entities: forward from the head, joined with the edges of the tail. */
class PathFinder {
  readonly #graph: Graph;
  readonly #hops: number;
  readonly #most: number;
  readonly #counts: ChainCounts;
  readonly #rng: Rng;
  /** int32 [numEntities]: first edge of the tail to an entity, -1 for none. */
  readonly #firstTo: Int32Array;
  /** Next such edge to the same entity. */
  #nextTo = new Int32Array(64);

  constructor({ graph, hops, settings }: MiningWorld, counts: ChainCounts, rng: Rng) {
    this.#graph = graph;
    this.#hops = hops;
    this.#most = settings.minedEdges;
    this.#counts = counts;
    this.#rng = rng;
    this.#firstTo = new Int32Array(graph.numEntities).fill(-1);
  }

  count(head: number, hidden: HiddenEdges): void {
    const { offsets, relations, tails } = this.#graph;
    const { tail } = hidden;
    if (head === tail) return;
    const [begin, end] = [offsets[tail]!, offsets[tail + 1]!];
    if (end - begin > this.#nextTo.length) this.#nextTo = new Int32Array(2 * (end - begin));
    for (let edge = begin; edge < end; edge++) {
      const to = tails[edge]!;
      if (to === head && (hidden.pairs || relations[edge] === hidden.inverse)) continue;
      this.#nextTo[edge - begin] = this.#firstTo[to]!;
      this.#firstTo[to] = edge;
    }
    this.#from(head, hidden);
    for (let edge = begin; edge < end; edge++) this.#firstTo[tails[edge]!] = -1;
  }

  #from(head: number, hidden: HiddenEdges): void {
    const { offsets, relations, tails } = this.#graph;
    const { tail } = hidden;
    const base = offsets[tail]!;
    const [firstTo, nextTo] = [this.#firstTo, this.#nextTo];
    const inverseOf = this.#graph.inverseOf;
    const counts = this.#counts;
    /** Counts all completions of a walk to the tail. */
    const met = (entity: number, walked: number, hop: number) => {
      for (let at = firstTo[entity]!; at >= 0; at = nextTo[at - base]!) {
        counts.add(counts.longer(walked, hop, inverseOf[relations[at]!]!));
      }
    };
    met(head, 0, 0);
    if (this.#hops < 2) return;
    const firstEdges = this.#firstEdges(head);
    const share = this.#hops < 4 ? 0 : this.#thirdShare(firstEdges);
    let left = this.#most;
    for (const edge of firstEdges) {
      const middle = tails[edge]!;
      if (middle === head || middle === tail) continue;
      const one = counts.longer(0, 0, relations[edge]!);
      met(middle, one, 1);
      if (this.#hops < 3) continue;
      for (let next = offsets[middle]!, end = offsets[middle + 1]!; next < end; next++) {
        const entity = tails[next]!;
        if (entity === head || entity === tail) continue;
        const goesOn = share > 0 && (share >= 1 || this.#rng.uniform() < share);
        if (firstTo[entity]! < 0 && !goesOn) continue;
        const two = counts.longer(one, 1, relations[next]!);
        met(entity, two, 2);
        if (!goesOn) continue;
        for (let third = offsets[entity]!, behind = offsets[entity + 1]!; third < behind; third++) {
          const last = tails[third]!;
          if (firstTo[last]! < 0 || last === head || last === tail) continue;
          met(last, counts.longer(two, 2, relations[third]!), 3);
        }
      }
      left -= offsets[middle + 1]! - offsets[middle]!;
      if (left < 0) return;
    }
  }

  /** Share of second edges whose third edges are followed. */
  #thirdShare(firstEdges: Int32Array): number {
    const { offsets, tails } = this.#graph;
    let [second, third] = [0, 0];
    for (const edge of firstEdges) {
      const middle = tails[edge]!;
      for (let next = offsets[middle]!; next < offsets[middle + 1]!; next++) {
        third += offsets[tails[next]! + 1]! - offsets[tails[next]!]!;
      }
      second += offsets[middle + 1]! - offsets[middle]!;
      if (second > this.#most) break;
    }
    return this.#most / Math.max(1, third);
  }

  /** Edges of the head, shuffled if not all of them will be followed. */
  #firstEdges(head: number): Int32Array {
    const { offsets, tails } = this.#graph;
    const edges = Int32Array.from({ length: offsets[head + 1]! - offsets[head]! }, (_, i) => offsets[head]! + i);
    let second = 0;
    for (const edge of edges) second += offsets[tails[edge]! + 1]! - offsets[tails[edge]!]!;
    return second > this.#most ? this.#rng.shuffle(edges) : edges;
  }
}
