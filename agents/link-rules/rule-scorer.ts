/** Scores entities by the rules that lead to them. */
import type { Graph } from '../../src/kg/graph.js';
import { ChainFollower } from './chain-follower.js';
import type { RuleTable } from './mine-rules.js';

/** Ways to take the three most precise rules together that lead to an entity. */
export const ruleRankings = ['best', 'noisy-or'] as const;
/**
 * `best`: by the most precise one, where that is level by the second, then by the third, as in AnyBURL (Meilicke et al. 2019).
 * `noisy-or`: by the chance that one of them is right, as if they knew nothing of each other.
 */
export type RuleRanking = (typeof ruleRankings)[number];

/** Scores of one question at a time. */
export interface RuleScorer {
  readonly name: string;
  readonly numEntities: number;
  /** @param out float64 [numEntities]: in [0, 1], -Infinity where no rule leads */
  scoreTails(head: number, relation: number, out: Float64Array): void;
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

function noisyOr(first: number, second: number, third: number): number {
  return 1 - (1 - first) * (1 - second) * (1 - third);
}
