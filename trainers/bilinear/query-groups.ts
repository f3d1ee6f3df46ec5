/** Training triples as queries: each (head, relation), in both directions, with all its answers. */
import type { TripleColumns } from '../../src/kg/graph.js';

/** Queries with their answers side by side; each answer of a query once. */
export interface QueryGroups {
  /** int32 [queries] */
  givens: Int32Array;
  /** int32 [queries]: r asks for tails, `numPlain + r` for heads. */
  relations: Int32Array;
  /** int32 [queries + 1]: the answers of query q are `offsets[q] .. offsets[q + 1] - 1`. */
  offsets: Int32Array;
  answers: Int32Array;
}

/** Groups triples by query, ordered by (given, relation, answer). @param numPlain relations without their inverses */
export function queryGroups({ heads, relations, tails }: TripleColumns, numPlain: number): QueryGroups {
  const count = heads.length;
  const given = (i: number) => (i < count ? heads[i]! : tails[i - count]!);
  const relation = (i: number) => (i < count ? relations[i]! : relations[i - count]! + numPlain);
  const answer = (i: number) => (i < count ? tails[i]! : heads[i - count]!);
  const order = Int32Array.from({ length: 2 * count }, (_, i) => i).sort(
    (a, b) => given(a) - given(b) || relation(a) - relation(b) || answer(a) - answer(b),
  );
  const groups = { givens: [] as number[], relations: [] as number[], offsets: [] as number[] };
  const answers: number[] = [];
  for (let at = 0, before = -1; at < order.length; before = order[at++]!) {
    const i = order[at]!;
    const same = before >= 0 && given(i) === given(before) && relation(i) === relation(before);
    if (same && answer(i) === answer(before)) continue;
    if (!same) {
      groups.givens.push(given(i));
      groups.relations.push(relation(i));
      groups.offsets.push(answers.length);
    }
    answers.push(answer(i));
  }
  groups.offsets.push(answers.length);
  return {
    givens: Int32Array.from(groups.givens),
    relations: Int32Array.from(groups.relations),
    offsets: Int32Array.from(groups.offsets),
    answers: Int32Array.from(answers),
  };
}
