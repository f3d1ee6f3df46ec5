/** The most precise rules that lead to each entity, and ways to take them together as one score. */

/** Rules of an entity that are kept. */
const most = 10;

/** Ways to take the most precise rules together that lead to an entity. */
export const ruleRankings = ['best', 'noisy-or of 5', 'noisy-or of 10', 'fading noisy-or'] as const;
/**
 * `best`: by the most precise one, where that is level by the second, and so on to the tenth, as in AnyBURL (Meilicke et al. 2019).
 * `noisy-or`: by the chance that one of so many is right, as if they were independent; the fading one takes all ten, but each next
 * one's failure to a lower power, as it says little that is new.
 */
export type RuleRanking = (typeof ruleRankings)[number];

const fading = 0.8;

/** Steps of a precision in a score: two of them and the order of what is level in both fit a float64. */
const steps = 2 ** 15;
const places = 2 ** 23;

/** Memory: 129 bytes an entity. */
export class KeptRules {
  /** float64 and int32 [entities, most]: descending precision, equal ones in the order that they came. */
  readonly #precisions: Float64Array;
  readonly #rules: Int32Array;
  readonly #counts: Uint8Array;
  readonly #entities: Int32Array;
  #size = 0;

  constructor(numEntities: number) {
    this.#precisions = new Float64Array(most * numEntities);
    this.#rules = new Int32Array(most * numEntities);
    this.#counts = new Uint8Array(numEntities);
    this.#entities = new Int32Array(numEntities);
  }

  clear(): void {
    for (let i = 0; i < this.#size; i++) this.#counts[this.#entities[i]!] = 0;
    this.#size = 0;
  }

  offer(entity: number, precision: number, rule: number): void {
    const begin = most * entity;
    const precisions = this.#precisions;
    let at = begin + this.#counts[entity]!;
    if (at === begin) this.#entities[this.#size++] = entity;
    if (at < begin + most) this.#counts[entity]!++;
    else if (precision <= precisions[--at]!) return;
    for (; at > begin && precisions[at - 1]! < precision; at--) {
      precisions[at] = precisions[at - 1]!;
      this.#rules[at] = this.#rules[at - 1]!;
    }
    precisions[at] = precision;
    this.#rules[at] = rule;
  }

  /** The rules of an entity, the most precise first. */
  rulesOf(entity: number): Int32Array {
    return this.#rules.subarray(most * entity, most * entity + this.#counts[entity]!);
  }

  /**
   * Scores in [0, 1), which compare between questions; -Infinity for entities without a rule.
   * @param priorOf orders entities whose kept rules are equally precise
   */
  scores(ranking: RuleRanking, priorOf: (entity: number) => number, out: Float64Array): void {
    out.fill(-Infinity);
    if (ranking === 'best') return this.#best(priorOf, out);
    const some = ranking === 'noisy-or of 5' ? 5 : most;
    const weights = Float64Array.from({ length: most }, (_, k) => (ranking === 'fading noisy-or' ? fading ** k : 1));
    for (let i = 0; i < this.#size; i++) {
      const entity = this.#entities[i]!;
      let wrong = 1;
      const count = Math.min(some, this.#counts[entity]!);
      for (let k = 0; k < count; k++) wrong *= (1 - this.#precisions[most * entity + k]!) ** weights[k]!;
      out[entity] = 1 - wrong;
    }
  }

  /** Two precisions as digits of one number, and behind them the order by the others. */
  #best(priorOf: (entity: number) => number, out: Float64Array): void {
    const [precisions, counts, entities] = [this.#precisions, this.#counts, this.#entities];
    const digit = (share: number) => Math.min(steps - 1, Math.floor(share * steps));
    const keys = new Float64Array(this.#size);
    for (let i = 0; i < this.#size; i++) {
      const begin = most * entities[i]!;
      const second = counts[entities[i]!]! > 1 ? precisions[begin + 1]! : 0;
      keys[i] = (digit(precisions[begin]!) * steps + digit(second)) * places + i;
    }
    keys.sort();
    const keyOf = (i: number) => Math.floor(keys[i]! / places);
    const order = (a: number, b: number) => {
      const [inA, inB] = [counts[a]!, counts[b]!];
      for (let k = 0; k < Math.min(inA, inB); k++) {
        const less = precisions[most * a + k]! - precisions[most * b + k]!;
        if (less !== 0) return less;
      }
      return inA - inB || priorOf(a) - priorOf(b);
    };
    for (let first = 0, next; first < keys.length; first = next) {
      const key = keyOf(first);
      for (next = first + 1; next < keys.length && keyOf(next) === key; next++);
      const level: number[] = [];
      for (let i = first; i < next; i++) level.push(entities[keys[i]! % places]!);
      if (level.length > 1) level.sort(order);
      let place = 0;
      level.forEach((entity, i) => {
        if (i > 0 && order(level[i - 1]!, entity) < 0) place++;
        out[entity] = (key + place / places) / steps ** 2;
      });
    }
  }
}
