/** Rules as they are shown: what leads to an entity, and how often it is right in train. */
import { numTails } from '../../src/kg/relation-rows.js';
import type { FoundRule } from '../link-ranker.js';
import type { Features } from './features.js';
import type { HeadConstants } from './head-constants.js';
import type { Rules } from './mine-rules.js';

/** Use of constants, in addition to chains: none, or with more trust in those of the head or of the known answers. */
export const constantUses = ['none', 'head', 'answers'] as const;
/** One of these. */
export type ConstantUse = (typeof constantUses)[number];

type ConstantKind = Exclude<FoundRule['kind'], 'chain'>;

/** Added to the number of cases: few prove little. */
export const smoothings: Readonly<Record<ConstantUse, Record<ConstantKind, number>>> = {
  none: { prior: 5, head: 5, answers: 10 },
  head: { prior: 5, head: 5, answers: 10 },
  answers: { prior: 5, head: 10, answers: 3 },
};

/** The rules of one relation by id: its chains, then the prior, then its constants of the head. */
export function ruleAt(
  rules: Rules,
  features: Features,
  { relation, inverse, id, entity }: { relation: number; inverse: number; id: number; entity: number },
  use: ConstantUse,
): FoundRule {
  const chains = rules.chains[relation]!;
  if (id < chains.length) {
    const { chain, reached, right, precision } = chains[id]!;
    return { kind: 'chain', chain, of: reached, right, precision };
  }
  if (id === chains.length) {
    const right = numTails(features.rows, inverse, entity);
    return smoothed({ kind: 'prior', right, of: headsOf(features, relation) }, use);
  }
  const constants = rules.constants[relation]!;
  const rule = id - chains.length - 1;
  const index = upTo(constants.begins, rule) - 1;
  const counts = { right: constants.right[rule]!, of: constants.heads[index]! };
  return smoothed({ kind: 'head', ...counts, feature: featureAt(features, constants.features[index]!) }, use);
}

export const featureAt = (features: Features, id: number) => ({
  relation: features.relationOf(id),
  entity: features.entityOf(id),
});

/** With its precision. */
export function smoothed(rule: Omit<FoundRule, 'precision'> & { kind: ConstantKind }, use: ConstantUse): FoundRule {
  return { ...rule, precision: rule.right / (rule.of + smoothings[use][rule.kind]) };
}

/** Number of heads of a relation. */
export const headsOf = ({ rows: { begins } }: Features, relation: number) => begins[relation + 1]! - begins[relation]!;

/** Index of a feature's rules, or -1. */
export function indexOf({ features }: HeadConstants, feature: number): number {
  const index = upTo(features, feature) - 1;
  return features[index] === feature ? index : -1;
}

/** Number of ascending values that are not above a limit. */
function upTo(values: Int32Array, limit: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
