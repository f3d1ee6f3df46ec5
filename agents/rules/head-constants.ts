/** Rules from what a head has to an answer, such as from a nationality to a language: counted on all heads of a relation in train. */
import { int32Lists } from '../../src/kg/adjacency.js';
import type { Features } from './features.js';

/** Rules of one relation by feature of the head; all int32. */
export interface HeadConstants {
  /** Features with rules, ascending. */
  features: Int32Array;
  /** [features]: heads of the relation that have each. */
  heads: Int32Array;
  /** [features + 1]: rules of a feature are `begins[i] .. begins[i + 1] - 1`. */
  begins: Int32Array;
  /** [rules]: the answer that each leads to. */
  answers: Int32Array;
  /** [rules]: heads with the feature that have this answer. */
  right: Int32Array;
}

export const noConstants: HeadConstants = int32Lists({ features: [], heads: [], begins: [0], answers: [], right: [] });

/** Limits of the rules with constants. */
export interface ConstantLimits {
  /** Rules of a feature of the head: those that are right most often. */
  constants: number;
  /** Answers of a head that are counted, evenly spread by id: a country may have thousands of natives. */
  answers: number;
  /** True: an edge between head and answer is no reason for that answer. */
  pairs: boolean;
}

/** Rules of a relation at most: features of a relation with more of them keep fewer each. */
const mostRules = 2 ** 22;

/** Fewer heads with a feature, or right ones, prove nothing. */
const fewest = 2;

/** Counts the rules of one relation after another. Scratch: 4 bytes a feature, 8 an entity. */
export class ConstantMiner {
  readonly #features: Features;
  /** int32 [features]: heads that have it. */
  readonly #heads: Int32Array;
  /** int32 [entities]: 1 + row of a head of the relation, else 0. */
  readonly #rowOf: Int32Array;
  /** int32 [entities]: heads with the current feature that have this answer. */
  readonly #right: Int32Array;

  constructor(features: Features, numEntities: number) {
    this.#features = features;
    this.#heads = new Int32Array(features.count);
    this.#rowOf = new Int32Array(numEntities);
    this.#right = new Int32Array(numEntities);
  }

  mine(relation: number, limits: ConstantLimits): HeadConstants {
    const { begins, heads } = this.#features.rows;
    const own = heads.subarray(begins[relation], begins[relation + 1]);
    const met: number[] = [];
    own.forEach((head, i) => {
      this.#rowOf[head] = begins[relation]! + i + 1;
      for (const feature of this.#features.of(head)) if (this.#heads[feature]!++ === 0) met.push(feature);
    });
    const lists = {
      ...{ features: [] as number[], heads: [] as number[], begins: [0] },
      ...{ answers: [] as number[], right: [] as number[] },
    };
    const often = met.filter((feature) => this.#heads[feature]! >= fewest).sort((a, b) => a - b);
    const most = Math.min(limits.constants, Math.ceil(mostRules / often.length));
    for (const feature of often) {
      const found = this.#answersOf(feature, relation, limits.answers);
      const kept = this.#best(found, feature, relation, { ...limits, constants: most });
      for (const answer of kept) {
        lists.answers.push(answer);
        lists.right.push(this.#right[answer]!);
      }
      for (const answer of found) this.#right[answer] = 0;
      if (kept.length === 0) continue;
      lists.features.push(feature);
      lists.heads.push(this.#heads[feature]!);
      lists.begins.push(lists.answers.length);
    }
    for (const feature of met) this.#heads[feature] = 0;
    for (const head of own) this.#rowOf[head] = 0;
    return int32Lists(lists);
  }

  /** Counts the answers of the heads that have a feature. */
  #answersOf(feature: number, relation: number, most: number): number[] {
    const { edges, tails } = this.#features.rows;
    const found: number[] = [];
    for (const holder of this.#features.holders(feature)) {
      const row = this.#rowOf[holder]! - 1;
      if (row < 0) continue;
      const [begin, end] = [edges[row]!, edges[row + 1]!];
      const step = Math.max(1, (end - begin) / most);
      for (let at = begin; at < end; at += step) {
        const answer = tails[Math.floor(at)]!;
        if (this.#right[answer]!++ === 0) found.push(answer);
      }
    }
    return found;
  }

  /** The answers that are right most often, ties by id. An edge of the relation to an answer is no reason for that answer. */
  #best(found: readonly number[], feature: number, relation: number, { constants, pairs }: ConstantLimits): number[] {
    const isOwn = this.#features.relationOf(feature) === relation;
    const itself = this.#features.entityOf(feature);
    if (isOwn && itself < 0) return [];
    const right = this.#right;
    const often = found.filter((answer) => right[answer]! >= fewest && !(answer === itself && (isOwn || pairs)));
    if (often.length <= constants) return often;
    return often.sort((a, b) => right[b]! - right[a]! || a - b).slice(0, constants);
  }
}
