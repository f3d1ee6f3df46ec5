/** Rules from what the known answers of a query have in common to further answers: counted when they are asked. */
import { rowOf } from '../../src/kg/relation-rows.js';
import type { Features } from './features.js';

/** Features that the known answers of a query have, best first. */
export interface SharedFeatures {
  features: number[];
  /** Known answers of the query with each feature. */
  right: number[];
  /** Answers of the relation, of any head, with each feature. */
  answers: number[];
}

/** Fewer known answers with a feature prove nothing. */
const fewest = 2;

/** Finds rules of one query after another. Scratch: 4 bytes a feature, 1 an entity. */
export class AnswerConstants {
  readonly #features: Features;
  readonly #inverseOf: Int32Array;
  readonly #smoothing: number;
  /** int32 [features]: answers of the query that have it. */
  readonly #right: Int32Array;
  /** uint8 [entities]: 1 for answers of the relation. */
  readonly #isAnswer: Uint8Array;
  #relation = -1;

  constructor(features: Features, inverseOf: Int32Array, numEntities: number, smoothing: number) {
    this.#features = features;
    this.#inverseOf = inverseOf;
    this.#smoothing = smoothing;
    this.#right = new Int32Array(features.count);
    this.#isAnswer = new Uint8Array(numEntities);
  }

  /** @param most features that are kept */
  find(head: number, relation: number, most: number): SharedFeatures {
    const features = this.#features;
    const { rows } = features;
    const row = rowOf(rows, relation, head);
    const answers = row < 0 ? [] : rows.tails.subarray(rows.edges[row], rows.edges[row + 1]);
    if (answers.length < fewest) return { features: [], right: [], answers: [] };
    const inverse = this.#inverseOf[relation]!;
    const met: number[] = [];
    for (const answer of answers) {
      for (const feature of features.of(answer)) if (this.#right[feature]!++ === 0) met.push(feature);
    }
    this.#mark(relation);
    const found: { feature: number; right: number; of: number; precision: number }[] = [];
    for (const feature of met) {
      const right = this.#right[feature]!;
      this.#right[feature] = 0;
      // An edge of the relation that is asked for is what all answers have.
      const isOwn = features.relationOf(feature) === inverse && [head, -1].includes(features.entityOf(feature));
      if (right < fewest || isOwn) continue;
      let of = 0;
      for (const holder of features.holders(feature)) of += this.#isAnswer[holder]!;
      found.push({ feature, right, of, precision: right / (of + this.#smoothing) });
    }
    found.sort((a, b) => b.precision - a.precision || a.feature - b.feature);
    const kept = found.slice(0, most);
    return {
      features: kept.map(({ feature }) => feature),
      right: kept.map(({ right }) => right),
      answers: kept.map(({ of }) => of),
    };
  }

  /** True for an answer of the relation that was asked last. */
  isAnswer(entity: number): boolean {
    return this.#isAnswer[entity] === 1;
  }

  #mark(relation: number): void {
    if (relation === this.#relation) return;
    const { begins, heads } = this.#features.rows;
    const set = (own: number, value: 0 | 1) => {
      const inverse = this.#inverseOf[own]!;
      for (let row = begins[inverse]!; row < begins[inverse + 1]!; row++) this.#isAnswer[heads[row]!] = value;
    };
    if (this.#relation >= 0) set(this.#relation, 0);
    set(relation, 1);
    this.#relation = relation;
  }
}
