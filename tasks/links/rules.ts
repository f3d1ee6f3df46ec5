/** The baseline of rules: mined on train, with the way to take them together that is best on valid. */
import type { LinkRanker } from '../../agents/link-ranker.js';
import { queriesOf, rankLinks } from '../../agents/link-ranks.js';
import { hidingOf } from '../../agents/link-training.js';
import { mostRelations } from '../../agents/rules/chain-follower.js';
import { type ConstantUse, constantUses } from '../../agents/rules/found-rule.js';
import { type RuleRanking, ruleRankings } from '../../agents/rules/kept-rules.js';
import { countableRelations, mineRules, type MiningOptions, type Rules } from '../../agents/rules/mine-rules.js';
import { ruleRanker } from '../../agents/rules/rule-ranker.js';
import { type Graph, pickTriples, sampledTriples, type TripleColumns } from '../../src/kg/graph.js';
import { mrr } from '../../src/metrics/ranks.js';
import { madeFrom } from '../../src/run/provenance.js';
import { sharesWithin } from './distances.js';
import type { ScoredWorld } from './score.js';

/** Triples of valid on which the ranking is chosen. */
const chosenOn = 500;

/** Relations of the longest chain where nothing is lost by it, and the share of valid that each further one must bring into reach. */
const usualRelations = 3;
const leastGain = 0.02;

/** Limits of mining, and plain relations whose rules are wanted in both directions; default all. */
export interface BaselineOptions extends Omit<MiningOptions, 'pairs'> {
  relations?: ReadonlySet<number> | undefined;
  /** Uses of constants to choose from. Default all. */
  uses?: readonly ConstantUse[];
}

/** With its training triples and those of valid. */
type SplitWorld = ScoredWorld & { train: TripleColumns; valid: TripleColumns };

/** Rules, and how they are taken together. */
export interface RuleBaseline {
  rules: Rules;
  ranking: RuleRanking;
  constants: ConstantUse;
  ranker: LinkRanker;
}

/** Mines rules. @param options without a horizon, chains are as long as it takes to reach the answers of valid */
export function baselineRules(world: SplitWorld, options: BaselineOptions = {}): Promise<Rules> {
  const { graph, trainKnown, valid } = world;
  const train = ofRelations(world.train, options.relations);
  madeFrom('frequency table', 'rules', { graph: graph.hash, split: 'train', triples: train.heads.length });
  const horizon = Math.min(options.horizon ?? lengthFor(graph, valid), mostRelations);
  return mineRules(graph, train, trainKnown, { ...options, horizon, pairs: hidingOf(world, 'auto').pairs });
}

/** Mines rules, then asks valid how to take them together; where it has no triples, the first ranking without constants. */
export async function ruleBaseline(world: SplitWorld, options: BaselineOptions = {}): Promise<RuleBaseline> {
  const { graph } = world;
  const { signal, relations, uses = constantUses } = options;
  const rules = await baselineRules(world, options);
  const queries = sampledTriples(ofRelations(world.valid, relations), chosenOn, 'rules/valid');
  const triples = queries.heads.length;
  madeFrom('choice', 'how rules are taken together', { graph: graph.hash, split: 'valid', triples });
  let best = { ranking: ruleRankings[0] as RuleRanking, constants: uses[0]!, value: 0 };
  for (const constants of triples > 0 ? uses : []) {
    const ranker = ruleRanker(graph, rules, { rankings: ruleRankings, constants });
    const [tails, heads] = [
      await rankLinks(ranker, world, queriesOf(graph, queries, 'tail'), { signal }),
      await rankLinks(ranker, world, queriesOf(graph, queries, 'head'), { signal }),
    ];
    for (const ranking of ruleRankings) {
      const value = mrr(tails.ranks[ranking]!) + mrr(heads.ranks[ranking]!);
      if (value > best.value) best = { ranking, constants, value };
    }
  }
  const { ranking, constants } = best;
  return { rules, ranking, constants, ranker: ruleRanker(graph, rules, { rankings: [ranking], constants }) };
}

function ofRelations(triples: TripleColumns, relations: ReadonlySet<number> | undefined): TripleColumns {
  if (!relations) return triples;
  const all = Int32Array.from(triples.relations.keys());
  return pickTriples(
    triples,
    all.filter((i) => relations.has(triples.relations[i]!)),
  );
}

/** Relations of the longest chain: more than the usual where they reach more of valid, as in sparse graphs. */
function lengthFor(graph: Graph, valid: TripleColumns): number {
  const within = sharesWithin(graph, valid, mostRelations);
  let longest = usualRelations;
  const gain = () => within[longest + 1]! - within[longest]!;
  while (longest < mostRelations && graph.numRelations <= countableRelations(longest + 1) && gain() >= leastGain) {
    longest++;
  }
  return longest;
}
