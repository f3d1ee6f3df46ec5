/** The baseline of rules: mined on train, with the way to take them together that is better on valid. */
import { type LinkRanker, scorerRanker } from '../../agents/link-ranker.js';
import { mineRules, type MiningOptions, mostRelations } from '../../agents/exact-walker/chains/rules.js';
import { type RuleRanking, ruleRankings, ruleScorer, type RuleScorer } from '../../agents/exact-walker/chains/rules.js';
import { pickTriples, sampledTriples, type TripleColumns } from '../../src/kg/graph.js';
import { mrr } from '../../src/metrics/ranks.js';
import { madeFrom } from '../../src/run/provenance.js';
import { queriesOf, rankLinks } from '../../agents/link-ranks.js';
import type { ScoredWorld } from './score.js';

/** Triples of valid on which the ranking is chosen, asked in both directions. */
const chosenOn = 500;

/** Limits of mining, and plain relations whose rules are wanted in both directions; default all. */
interface BaselineOptions extends MiningOptions {
  relations?: ReadonlySet<number> | undefined;
}

/**
 * @param world with its training triples and those of valid; without any of valid the ranking is the first of `ruleRankings`
 * @param options chains of more relations than rules have are left out
 */
export async function ruleBaseline(
  world: ScoredWorld & { train: TripleColumns; valid: TripleColumns },
  options: BaselineOptions = {},
) {
  const { graph, trainKnown } = world;
  const { horizon = mostRelations, signal, relations } = options;
  const wanted = (triples: TripleColumns) => {
    const all = Int32Array.from(triples.relations.keys());
    return relations
      ? pickTriples(
          triples,
          all.filter((i) => relations.has(triples.relations[i]!)),
        )
      : triples;
  };
  const train = wanted(world.train);
  const rules = await mineRules(graph, train, trainKnown, { ...options, horizon: Math.min(horizon, mostRelations) });
  const { hash } = graph;
  madeFrom('frequency table', 'rules', { graph: hash, split: 'train', triples: train.heads.length });
  let best = { ranking: ruleRankings[0] as RuleRanking, value: -1 };
  const queries = sampledTriples(wanted(world.valid), chosenOn, 'rules/valid');
  madeFrom('choice', 'how rules are taken together', { graph: hash, split: 'valid', triples: queries.heads.length });
  for (const ranking of queries.heads.length > 0 ? ruleRankings : []) {
    const ranker = ruleRanker(ruleScorer(graph, rules, ranking), world);
    const values: number[] = [];
    for (const direction of ['tail', 'head'] as const) {
      const { ranks } = await rankLinks(ranker, world, queriesOf(graph, queries, direction), { signal });
      values.push(mrr(ranks.score!));
    }
    const value = values.reduce((sum, one) => sum + one, 0);
    if (value > best.value) best = { ranking, value };
  }
  return { ranker: ruleRanker(ruleScorer(graph, rules, best.ranking), world), rules, ranking: best.ranking };
}

/** Ranks by rules, with the rule that found each entity. */
export function ruleRanker(scorer: RuleScorer, { graph }: Pick<ScoredWorld, 'graph'>): LinkRanker {
  const ranker = scorerRanker(scorer, graph);
  const chainTo = (entity: number) => scorer.chainTo(entity);
  return {
    ...ranker,
    scale: 'precision',
    rank: (questions, take) => ranker.rank(questions, (question, ranked) => take(question, { ...ranked, chainTo })),
  };
}
