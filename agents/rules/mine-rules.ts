/** Rules of every relation, mined on train: chains of relations, and constants of the head. */
import { setImmediate } from 'node:timers/promises';
import type { KnownAnswers } from '../../src/embedding/known-answers.js';
import { byIds, type Graph, pickTriples, type TripleColumns } from '../../src/kg/graph.js';
import { SimplePaths } from '../../src/kg/paths-between.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { ChainCounts, type CountedChain } from '../exact-walker/chains/chain-counts.js';
import type { RelationQueries } from '../exact-walker/chains/mine-chains.js';
import { ChainFollower, mostRelations } from './chain-follower.js';
import { Features } from './features.js';
import { type ConstantLimits, ConstantMiner, type HeadConstants, noConstants } from './head-constants.js';

/** Relations, inverses included, up to which chains of a length can be counted. */
export { mostRelations as countableRelations } from '../exact-walker/chains/chain-counts.js';

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

/** Rules by the id of the relation that is asked for; inverse ones ask for heads. */
export interface Rules {
  /** Ascending by chain. */
  chains: readonly (readonly ChainRule[])[];
  constants: readonly HeadConstants[];
}

/** Added to the number of entities that a chain reaches: few cases prove little. */
const smoothing = 5;

const defaults = {
  /** Relations of the longest chain, 1 to 5. */
  horizon: 3,
  /** Training triples a relation whose paths are counted; drawn where there are more. */
  triples: 200,
  /** Paths of a triple that are counted at most: between two hubs there may be millions. */
  paths: 20_000,
  /** Most frequent chains of each length, a relation, whose precision is taken. */
  chains: 300,
  /** Heads a relation on which it is taken; drawn where there are more. */
  heads: 200,
  /** Entities reached by a chain after which it is not tried from further heads: its precision is known well enough. */
  enough: 3000,
  constants: 300,
  answers: 300,
  pairs: false,
  seed: 0,
};

/** Relations below which more triples, heads and entities of each are looked at. */
const manyRelations = 100;

function usual(numRelations: number): typeof defaults {
  const times = Math.max(1, manyRelations / numRelations);
  const { triples, heads, enough } = defaults;
  return {
    ...defaults,
    triples: Math.round(times * triples),
    heads: Math.round(times * heads),
    enough: times * enough,
  };
}

/** Limits of mining. */
export interface MiningOptions extends Partial<typeof defaults>, Partial<ConstantLimits> {
  signal?: AbortSignal | undefined;
  onProgress?: (done: number) => void;
}

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
): Promise<Rules> {
  const given = { ...usual(graph.numRelations), ...options };
  if (!(Number.isInteger(given.horizon) && given.horizon >= 1 && given.horizon <= mostRelations)) {
    throw new WorkbenchError('usage', `expected chains of 1 to ${mostRelations} relations, got ${given.horizon}`);
  }
  const finder = new SimplePaths(graph);
  const features = new Features(graph);
  const follower = new ChainFollower(features.rows, graph.numEntities, given.horizon);
  const marks = new Uint8Array(graph.numEntities);
  const miner = new ConstantMiner(features, graph.numEntities);
  const indices: number[][] = Array.from({ length: graph.numRelations / 2 }, () => []);
  train.relations.forEach((relation, index) => indices[relation]!.push(index));
  const chains: ChainRule[][] = [];
  const constants: HeadConstants[] = [];
  for (let relation = 0; relation < graph.numRelations; relation++) {
    // Lets progress lines and interrupts through.
    await setImmediate();
    throwIfStopped(given.signal);
    const queries = queriesOf(train, indices, relation);
    const draw = (what: string, count: number) =>
      Rng.named(given.seed, `rules/${what}`, relation).shuffle(Int32Array.from({ length: count }, (_, i) => i));
    const frequent = frequentChains(graph, finder, relation, queries, draw('triples', queries.heads.length), given);
    chains.push(measured(follower, known, relation, frequent, distinctHeads(queries.heads, draw), given, marks));
    constants.push(queries.heads.length > 0 ? miner.mine(relation, given) : noConstants);
    given.onProgress?.(relation + 1);
  }
  return { chains, constants };
}

type Given = typeof defaults & MiningOptions;

/** @param indices of the triples of each plain relation */
function queriesOf(train: TripleColumns, indices: number[][], relation: number): RelationQueries {
  const { heads, tails } = pickTriples(train, Int32Array.from(indices[relation % indices.length]!));
  return relation < indices.length ? { heads, tails } : { heads: tails, tails: heads };
}

/** The heads of drawn triples, each once: in the order of a draw among all of them. */
function distinctHeads(heads: Int32Array, draw: (what: string, count: number) => Int32Array): number[] {
  const distinct = [...new Set(heads)];
  return Array.from(draw('heads', distinct.length), (index) => distinct[index]!);
}

/** The chains that lead from most heads to their answers, a limited number of each length, with the number of those triples. */
function frequentChains(
  { numRelations }: Graph,
  finder: SimplePaths,
  relation: number,
  { heads, tails }: RelationQueries,
  order: Int32Array,
  { horizon, triples, paths, chains, pairs }: Given,
): CountedChain[] {
  const counts = new ChainCounts(numRelations, horizon);
  let selves = 0;
  for (const index of order.subarray(0, triples)) {
    counts.nextTriple();
    let visited = 0;
    finder.each(heads[index]!, tails[index]!, { horizon, hidden: relation }, (path, length) => {
      let key = 0;
      for (let step = 0; step < length; step++) key = counts.longer(key, step, path[2 * step]!);
      if (length === 0) selves++;
      // Walks enter no entity twice: no other ones have an edge between head and answer.
      else if (length > 1 || !pairs) counts.add(key);
      return ++visited === paths;
    });
  }
  // By length: there are so many more long chains that they would push out the short ones.
  return [...(selves > 0 ? [{ chain: [], count: selves }] : []), ...counts.most([chains], horizon)];
}

function measured(
  follower: ChainFollower,
  known: Pick<KnownAnswers, 'tailsOf'>,
  relation: number,
  frequent: readonly CountedChain[],
  heads: readonly number[],
  { heads: most, enough }: Given,
  marks: Uint8Array,
): ChainRule[] {
  const rules = frequent.map(({ chain, count }) => ({ chain, support: count, reached: 0, right: 0, precision: 0 }));
  // Chains of one beginning side by side, so that it is walked once.
  rules.sort((a, b) => byIds(a.chain, b.chain));
  for (const head of heads.slice(0, most)) {
    const answers = known.tailsOf(head, relation);
    for (const answer of answers) marks[answer] = 1;
    for (const rule of rules) {
      if (rule.reached >= enough) continue;
      const ends = follower.follow(head, rule.chain);
      rule.reached += ends.length;
      for (let i = 0; i < ends.length; i++) rule.right += marks[ends[i]!]!;
    }
    for (const answer of answers) marks[answer] = 0;
  }
  for (const rule of rules) rule.precision = rule.right / (rule.reached + smoothing);
  return rules.filter(({ right }) => right > 0);
}
