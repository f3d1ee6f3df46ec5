/** Relation chains that lead from heads to answers: mined on train, followed in a graph, taken together as scores. */
import { setImmediate } from 'node:timers/promises';
import type { KnownAnswers } from '../../../src/embedding/known-answers.js';
import type { AdjacencyRows } from '../../../src/kg/adjacency.js';
import { firstEdge } from '../../../src/kg/frontier.js';
import { byIds, type Graph, pickTriples, type TripleColumns } from '../../../src/kg/graph.js';
import { SimplePaths } from '../../../src/kg/paths-between.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { Rng } from '../../../src/run/seeds.js';
import { throwIfStopped } from '../../../src/run/stop.js';
import type { TailScorer } from '../../link-ranker.js';
import { ChainCounts, type CountedChain } from './chain-counts.js';
import type { RelationQueries } from './mine-chains.js';

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
type RuleTable = readonly (readonly ChainRule[])[];

const defaults = {
  /** Relations of the longest chain, 1 to 3. */
  horizon: 3,
  /** Training triples a relation whose paths are counted; drawn where there are more. */
  triples: 200,
  /** Paths of a triple that are counted at most: between two hubs there may be millions. */
  paths: 20_000,
  /** Most frequent chains of each length, a relation, whose precision is taken. */
  chains: 300,
  /** Heads a relation on which it is taken; drawn where there are more. */
  heads: 100,
  /** Added to what a chain reaches: few cases prove little. */
  smoothing: 5,
  seed: 0,
};

/** Limits of mining. */
export interface MiningOptions extends Partial<typeof defaults> {
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
): Promise<RuleTable> {
  const given = { ...defaults, ...options };
  if (!(Number.isInteger(given.horizon) && given.horizon >= 1 && given.horizon <= mostRelations)) {
    throw new WorkbenchError('usage', `expected chains of 1 to ${mostRelations} relations, got ${given.horizon}`);
  }
  const finder = new SimplePaths(graph);
  const follower = new ChainFollower(graph);
  const indices: number[][] = Array.from({ length: graph.numRelations / 2 }, () => []);
  train.relations.forEach((relation, index) => indices[relation]!.push(index));
  const table: ChainRule[][] = [];
  for (let relation = 0; relation < graph.numRelations; relation++) {
    // Lets progress lines and interrupts through.
    await setImmediate();
    throwIfStopped(given.signal);
    const queries = queriesOf(train, indices, relation);
    const draw = (what: string, count: number) =>
      Rng.named(given.seed, `rules/${what}`, relation).shuffle(Int32Array.from({ length: count }, (_, i) => i));
    const frequent = frequentChains(graph, finder, relation, queries, draw('triples', queries.heads.length), given);
    table.push(measured(follower, known, relation, frequent, distinctHeads(queries.heads, draw), given));
    given.onProgress?.(relation + 1);
  }
  return table;
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
  { horizon, triples, paths, chains }: Given,
): CountedChain[] {
  const counts = new ChainCounts(numRelations);
  let selves = 0;
  for (const index of order.subarray(0, triples)) {
    counts.nextTriple();
    let visited = 0;
    finder.each(heads[index]!, tails[index]!, { horizon, hidden: relation }, (path, length) => {
      let key = 0;
      for (let step = 0; step < length; step++) key = counts.longer(key, step, path[2 * step]!);
      if (length === 0) selves++;
      else counts.add(key);
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
  { heads: most, smoothing }: Given,
): ChainRule[] {
  const rules = frequent.map(({ chain, count }) => ({ chain, support: count, reached: 0, right: 0, precision: 0 }));
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

/**
 * Longest chain that is followed. Up to here, the entity before each end is enough to exclude walks that enter an entity twice;
 * longer ones would have to be walked one by one.
 */
export const mostRelations = 3;

/** The ends of all walks along the first relations of a chain. */
interface Level {
  relation: number;
  /** int32: entities, each once. */
  entities: Int32Array;
  /** int32: the one entity before each, or -1 where there are several. */
  before: Int32Array;
  count: number;
  /** int32 [entities of the graph]: 1 + place in `entities`, as far as `entities` says so. */
  indices: Int32Array;
}

/**
 * Follows chains in one graph. Chains with a common beginning cost least one after another: the beginning is walked once.
 * @source entities are distinct in every walk, as the variables of AnyBURL's rules (Meilicke et al. 2019)
 */
export class ChainFollower {
  readonly #rows: AdjacencyRows;
  readonly #levels: Level[];
  #head = -1;
  /** Levels that hold for the head. */
  #held = 0;

  constructor(rows: AdjacencyRows) {
    this.#rows = rows;
    const numEntities = rows.offsets.length - 1;
    const column = () => new Int32Array(numEntities);
    this.#levels = Array.from({ length: mostRelations }, () => ({
      relation: -1,
      entities: column(),
      before: column(),
      count: 0,
      indices: column(),
    }));
  }

  /**
   * The distinct ends of the walks from `head` along the relations that enter no entity twice; the head itself for a chain of
   * none. An edge from the head to one of these ends is part of no walk there but the walk along it alone.
   * @param chain at most `mostRelations`
   * @returns int32, in no particular order; valid until the next call
   */
  follow(head: number, chain: ArrayLike<number>): Int32Array {
    if (chain.length === 0) return Int32Array.of(head);
    if (head !== this.#head) this.#held = 0;
    this.#head = head;
    for (let step = 0; step < chain.length; step++) {
      if (step < this.#held && this.#levels[step]!.relation === chain[step]) continue;
      this.#walk(step, chain[step]!);
      this.#held = step + 1;
    }
    const { entities, count } = this.#levels[chain.length - 1]!;
    return entities.subarray(0, count);
  }

  #walk(step: number, relation: number): void {
    const level = this.#levels[step]!;
    level.relation = relation;
    level.count = 0;
    if (step === 0) return this.#enter(level, relation, this.#head, -1);
    const { entities, before, count } = this.#levels[step - 1]!;
    for (let i = 0; i < count; i++) this.#enter(level, relation, entities[i]!, step === 1 ? -1 : before[i]!);
  }

  /** Takes the edges of an entity. @param before what the entity was entered from and may not be entered again */
  #enter(level: Level, relation: number, from: number, before: number): void {
    const { relations, tails, offsets } = this.#rows;
    const end = offsets[from + 1]!;
    const { entities, indices } = level;
    for (let edge = firstEdge(this.#rows, from, relation); edge < end && relations[edge] === relation; edge++) {
      const to = tails[edge]!;
      if (to === this.#head || to === from || to === before) continue;
      const index = indices[to]!;
      if (index > 0 && index <= level.count && entities[index - 1] === to) {
        level.before[index - 1] = -1;
        continue;
      }
      entities[level.count] = to;
      level.before[level.count] = from;
      indices[to] = ++level.count;
    }
  }
}

/** Ways to take the three most precise rules together that lead to an entity. */
export const ruleRankings = ['best', 'noisy-or'] as const;
/**
 * `best`: by the most precise one, where that is level by the second, then by the third, as in AnyBURL (Meilicke et al. 2019).
 * `noisy-or`: by the chance that one of them is right, as if they knew nothing of each other.
 */
export type RuleRanking = (typeof ruleRankings)[number];

/** Scores in [0, 1], -Infinity where no rule leads. */
export interface RuleScorer extends TailScorer {
  /** The most precise rule that leads to an entity for what was scored last; undefined where none does. */
  chainTo(entity: number): readonly number[] | undefined;
}

/** @param graph the one that the rules were mined on */
export function ruleScorer(graph: Graph, rules: RuleTable, ranking: RuleRanking): RuleScorer {
  const { numEntities } = graph;
  const follower = new ChainFollower(graph);
  const [second, third] = [new Float64Array(numEntities), new Float64Array(numEntities)];
  const bestRule = new Int32Array(numEntities).fill(-1);
  const combined = ranking === 'best' ? digits : noisyOr;
  let scored = -1;
  return {
    name: 'rules',
    numEntities,
    scoreTails(head, relation, first) {
      scored = relation;
      for (const column of [first, second, third]) column.fill(0);
      bestRule.fill(-1);
      rules[relation]!.forEach(({ chain, precision }, rule) => {
        for (const entity of follower.follow(head, chain)) {
          if (precision > first[entity]!) {
            third[entity] = second[entity]!;
            second[entity] = first[entity]!;
            first[entity] = precision;
            bestRule[entity] = rule;
          } else if (precision > second[entity]!) {
            third[entity] = second[entity]!;
            second[entity] = precision;
          } else if (precision > third[entity]!) third[entity] = precision;
        }
      });
      for (let entity = 0; entity < numEntities; entity++) {
        first[entity] = bestRule[entity]! < 0 ? -Infinity : combined(first[entity]!, second[entity]!, third[entity]!);
      }
    },
    chainTo: (entity) => rules[scored]?.[bestRule[entity]!]?.chain,
  };
}

/** Steps into which precisions are divided: three of them fit a float64. */
const steps = 2 ** 16;

/** Three shares as digits of one number in [0, 1], the first the most significant. */
function digits(first: number, second: number, third: number): number {
  const digit = (share: number) => Math.min(steps - 1, Math.floor(share * steps));
  return ((digit(first) * steps + digit(second)) * steps + digit(third)) / steps ** 3;
}

const noisyOr = (first: number, second: number, third: number): number => 1 - (1 - first) * (1 - second) * (1 - third);
