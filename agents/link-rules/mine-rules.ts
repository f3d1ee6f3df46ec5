/** Relation chains that lead from heads to answers, counted on training triples. */
import { setImmediate } from 'node:timers/promises';
import type { KnownAnswers } from '../../src/embedding/known-answers.js';
import { byIds, type Graph, type TripleColumns } from '../../src/kg/graph.js';
import { SimplePaths } from '../../src/kg/simple-paths.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { ChainFollower, mostRelations } from './chain-follower.js';

/** If a chain leads from a head somewhere, that is an answer: how often on train. */
export interface ChainRule {
  /** Relation ids, one after another; none: the head itself. */
  chain: readonly number[];
  /** Training triples, of those looked at, whose answer it leads to without their own edge. */
  support: number;
  /** Entities that it leads to from the heads that were tried. */
  reached: number;
  /** Those of them that are answers in train. */
  right: number;
  /** `right` / (`reached` + smoothing). */
  precision: number;
}

/** Rules of each query relation, by its id; inverse ones ask for heads. Ascending by chain. */
export type RuleTable = readonly (readonly ChainRule[])[];

/** How much is looked at. */
export interface MiningOptions {
  /** Relations of the longest chain, 1 to 3. Default 3. */
  horizon?: number;
  /** Training triples a relation whose paths are counted; drawn where there are more. Default 200. */
  triples?: number;
  /** Paths of a triple that are counted at most: between two hubs there may be millions. Default 20,000. */
  paths?: number;
  /** Most frequent chains of each length, a relation, whose precision is taken. Default 300. */
  chains?: number;
  /** Heads a relation on which it is taken; drawn where there are more. Default 100. */
  heads?: number;
  /** Added to what a chain reaches: few cases prove little. Default 5. */
  smoothing?: number;
  /** Of the draws. Default 0. */
  seed?: number;
  signal?: AbortSignal | undefined;
  /** @param done relations that are done */
  onProgress?: (done: number) => void;
}

const defaults = { horizon: 3, triples: 200, paths: 20_000, chains: 300, heads: 100, smoothing: 5, seed: 0 };

/**
 * Learns rules for every relation of the graph from training triples alone, the triple's own edge left out.
 * @param train by plain relations: each is asked in both directions
 * @param known answers in train, of inverse relations too
 * @throws WorkbenchError `usage` for a horizon that chains are not followed to; `stopped` once `signal` is aborted
 */
export async function mineRules(
  graph: Graph,
  train: TripleColumns,
  known: Pick<KnownAnswers, 'tailsOf'>,
  options: MiningOptions = {},
): Promise<RuleTable> {
  const given = { ...defaults, ...options };
  if (!(Number.isInteger(given.horizon) && given.horizon >= 1 && given.horizon <= mostRelations)) {
    throw new WorkbenchError('usage', `expected chains of 1 to ${mostRelations} relations, got ${given.horizon}`);
  }
  const finder = new SimplePaths(graph);
  const follower = new ChainFollower(graph);
  const places = placesByRelation(train, graph.numRelations / 2);
  const table: ChainRule[][] = [];
  for (let relation = 0; relation < graph.numRelations; relation++) {
    // Lets progress lines and interrupts through.
    await setImmediate();
    throwIfStopped(given.signal);
    const queries = queriesOf(train, places, relation, graph.numRelations / 2);
    const draw = (what: string, count: number) =>
      Rng.named(given.seed, `rules/${what}`, relation).shuffle(Int32Array.from({ length: count }, (_, i) => i));
    const frequent = frequentChains(graph, finder, relation, queries, draw('triples', queries.heads.length), given);
    table.push(measured(follower, known, relation, frequent, distinctHeads(queries.heads, draw), given));
    given.onProgress?.(relation + 1);
  }
  return table;
}

type Given = typeof defaults & MiningOptions;

/** The queries of one relation: heads and their answers. */
interface RelationQueries {
  heads: Int32Array;
  tails: Int32Array;
}

/** Triples by relation. */
function placesByRelation({ relations }: TripleColumns, numRelations: number): number[][] {
  const places: number[][] = Array.from({ length: numRelations }, () => []);
  relations.forEach((relation, place) => places[relation]!.push(place));
  return places;
}

function queriesOf(train: TripleColumns, places: number[][], relation: number, plain: number): RelationQueries {
  const own = places[relation % plain]!;
  const column = (entities: Int32Array) => Int32Array.from(own, (place) => entities[place]!);
  const [heads, tails] = [column(train.heads), column(train.tails)];
  return relation < plain ? { heads, tails } : { heads: tails, tails: heads };
}

/** The heads of drawn triples, each once: in the order of a draw among all of them. */
function distinctHeads(heads: Int32Array, draw: (what: string, count: number) => Int32Array): number[] {
  const distinct = [...new Set(heads)];
  return Array.from(draw('heads', distinct.length), (place) => distinct[place]!);
}

/** A chain as one number: base `numRelations` + 1, the first relation last. */
function keyOf(path: Int32Array, length: number, base: number): number {
  let key = 0;
  for (let step = length - 1; step >= 0; step--) key = key * base + path[2 * step]! + 1;
  return key;
}

function chainOf(key: number, base: number): number[] {
  const chain: number[] = [];
  for (let left = key; left > 0; left = Math.floor(left / base)) chain.push((left % base) - 1);
  return chain;
}

/** The chains that lead from most heads to their answers, with the number of those triples. */
function frequentChains(
  { numRelations }: Graph,
  finder: SimplePaths,
  relation: number,
  { heads, tails }: RelationQueries,
  order: Int32Array,
  { horizon, triples, paths, chains }: Given,
): { chain: number[]; support: number }[] {
  const base = numRelations + 1;
  const places = new Map<number, number>();
  const support: number[] = [];
  const lastTriple: number[] = [];
  order.subarray(0, triples).forEach((place, triple) => {
    let visited = 0;
    finder.each(heads[place]!, tails[place]!, { horizon, hidden: relation }, (path, length) => {
      const key = keyOf(path, length, base);
      const known = places.get(key);
      if (known === undefined) {
        places.set(key, support.length);
        support.push(1);
        lastTriple.push(triple);
      } else if (lastTriple[known] !== triple) {
        support[known]!++;
        lastTriple[known] = triple;
      }
      return ++visited === paths;
    });
  });
  const counted = [...places].map(([key, place]) => ({ chain: chainOf(key, base), support: support[place]! }));
  counted.sort((a, b) => b.support - a.support || byIds(a.chain, b.chain));
  // By length: there are so many more long chains that they would push out the short ones.
  return Array.from({ length: horizon + 1 }, (_, length) =>
    counted.filter(({ chain }) => chain.length === length).slice(0, chains),
  ).flat();
}

/** Follows chains from some heads. */
function measured(
  follower: ChainFollower,
  known: Pick<KnownAnswers, 'tailsOf'>,
  relation: number,
  frequent: readonly { chain: number[]; support: number }[],
  heads: readonly number[],
  { heads: most, smoothing }: Given,
): ChainRule[] {
  const rules = frequent.map(({ chain, support }) => ({ chain, support, reached: 0, right: 0, precision: 0 }));
  // Chains of one beginning side by side, so that it is walked once.
  rules.sort((a, b) => byIds(a.chain, b.chain));
  for (const head of heads.slice(0, most)) {
    const answers = new Set(known.tailsOf(head, relation));
    for (const rule of rules) {
      const ends = follower.follow(head, rule.chain);
      rule.reached += ends.length;
      for (const end of ends) if (answers.has(end)) rule.right++;
    }
  }
  for (const rule of rules) rule.precision = rule.right / (rule.reached + smoothing);
  return rules.filter(({ right }) => right > 0);
}
