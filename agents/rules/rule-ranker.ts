/** Ranks entities by rules. */
import type { Graph } from '../../src/kg/graph.js';
import { numTails } from '../../src/kg/relation-rows.js';
import { eventLoopYielder } from '../../src/run/stop.js';
import type { FoundRule, LinkRanker } from '../link-ranker.js';
import { AnswerConstants, type SharedFeatures } from './answer-constants.js';
import { ChainFollower } from './chain-follower.js';
import { Features } from './features.js';
import { type ConstantUse, featureAt, headsOf, indexOf, ruleAt, smoothed, smoothings } from './found-rule.js';
import { KeptRules, type RuleRanking } from './kept-rules.js';
import type { Rules } from './mine-rules.js';

/** Features of the known answers that lead to further ones. */
const mostShared = 300;

/**
 * Scores in [0, 1) by each ranking, -Infinity where no rule leads; a head without an edge has no rules.
 * @param graph the one that the rules were mined on; chains alone are of use on another with the same relations
 */
export function ruleRanker(
  graph: Graph,
  rules: Rules,
  { rankings, constants }: { rankings: readonly RuleRanking[]; constants: ConstantUse },
): LinkRanker {
  const scorer = new RuleScorer(graph, rules, constants);
  const scores = rankings.map(() => new Float64Array(graph.numEntities));
  const rulesTo = (entity: number) => scorer.rulesTo(entity);
  const chainTo = (entity: number) => rulesTo(entity)[0]?.chain;
  return {
    ...{ name: 'rules', rankings: rankings.length === 1 ? ['score'] : rankings, scale: 'precision', batchSize: 256 },
    async rank(questions, take) {
      const turn = eventLoopYielder();
      for (const [i, { head, relation }] of questions.entries()) {
        scorer.ask(head, relation);
        rankings.forEach((ranking, k) => scorer.scores(ranking, scores[k]!));
        take(i, { scores, rulesTo, chainTo });
        await turn();
      }
    },
  };
}

/** Collects the rules of one question after another. Their ids are those of `ruleAt`, then features of the known answers. */
class RuleScorer {
  readonly #graph: Graph;
  readonly #rules: Rules;
  readonly #use: ConstantUse;
  readonly #features: Features;
  readonly #follower: ChainFollower;
  readonly #answers: AnswerConstants;
  readonly #kept: KeptRules;
  #relation = 0;
  #shared: SharedFeatures = { features: [], right: [], answers: [] };

  constructor(graph: Graph, rules: Rules, use: ConstantUse) {
    const { numEntities, inverseOf } = graph;
    this.#graph = graph;
    this.#rules = rules;
    this.#use = use;
    this.#features = new Features(graph);
    const longest = rules.chains.flat().reduce((most, { chain }) => Math.max(most, chain.length), 0);
    this.#follower = new ChainFollower(this.#features.rows, numEntities, longest);
    this.#answers = new AnswerConstants(this.#features, inverseOf, numEntities, smoothings[use].answers);
    this.#kept = new KeptRules(numEntities);
  }

  ask(head: number, relation: number): void {
    this.#relation = relation;
    const kept = this.#kept;
    kept.clear();
    if (this.#graph.degree(head) === 0) return;
    this.#rules.chains[relation]!.forEach(({ chain, precision }, id) => {
      for (const entity of this.#follower.follow(head, chain)) kept.offer(entity, precision, id);
    });
    if (this.#use === 'none') return;
    this.#offerPrior();
    this.#offerConstants(head);
    this.#offerShared(head);
  }

  scores(ranking: RuleRanking, out: Float64Array): void {
    const inverse = this.#graph.inverseOf[this.#relation]!;
    this.#kept.scores(ranking, (entity) => numTails(this.#features.rows, inverse, entity), out);
  }

  /** The most precise rules to an entity for what was asked last. */
  rulesTo(entity: number): FoundRule[] {
    const relation = this.#relation;
    const inverse = this.#graph.inverseOf[relation]!;
    return Array.from(this.#kept.rulesOf(entity), (id) => {
      const index = id - this.#firstShared;
      if (index < 0) return ruleAt(this.#rules, this.#features, { relation, inverse, id, entity }, this.#use);
      const { right, answers, features } = this.#shared;
      const counts = { right: right[index]!, of: answers[index]! };
      return smoothed({ kind: 'answers', ...counts, feature: featureAt(this.#features, features[index]!) }, this.#use);
    });
  }

  get #prior(): number {
    return this.#rules.chains[this.#relation]!.length;
  }

  get #firstShared(): number {
    return this.#prior + 1 + this.#rules.constants[this.#relation]!.answers.length;
  }

  #offerPrior(): void {
    const { begins, heads, edges } = this.#features.rows;
    const inverse = this.#graph.inverseOf[this.#relation]!;
    const of = headsOf(this.#features, this.#relation) + smoothings[this.#use].prior;
    for (let row = begins[inverse]!; row < begins[inverse + 1]!; row++) {
      this.#kept.offer(heads[row]!, (edges[row + 1]! - edges[row]!) / of, this.#prior);
    }
  }

  #offerConstants(head: number): void {
    const constants = this.#rules.constants[this.#relation]!;
    const { heads, begins, answers, right } = constants;
    const first = this.#prior + 1;
    for (const feature of this.#features.of(head)) {
      const index = indexOf(constants, feature);
      if (index < 0) continue;
      const of = heads[index]! + smoothings[this.#use].head;
      for (let rule = begins[index]!; rule < begins[index + 1]!; rule++) {
        this.#kept.offer(answers[rule]!, right[rule]! / of, first + rule);
      }
    }
  }

  #offerShared(head: number): void {
    const shared = (this.#shared = this.#answers.find(head, this.#relation, mostShared));
    const first = this.#firstShared;
    shared.features.forEach((feature, i) => {
      const precision = shared.right[i]! / (shared.answers[i]! + smoothings[this.#use].answers);
      for (const holder of this.#features.holders(feature)) {
        if (this.#answers.isAnswer(holder)) this.#kept.offer(holder, precision, first + i);
      }
    });
  }
}
