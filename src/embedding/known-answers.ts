/** Every known answer of a link query, so that ranking one answer is not spoilt by the others. */
import type { TripleColumns } from '../kg/graph.js';

/** Answers of (head, relation, ?) and (?, relation, tail). */
export interface KnownAnswers {
  tailsOf(head: number, relation: number): readonly number[];
  headsOf(relation: number, tail: number): readonly number[];
}

/**
 * Indexes triples for the filtered setting: give all that are known to be true, of every split. Repeated triples count once.
 * @param numRelations keys are `entity * numRelations + relation` and must stay below 2^53
 * @param asked the triples that will be ranked: answers of other queries are then not kept, and read as none
 */
export function knownAnswers(
  parts: readonly TripleColumns[],
  numRelations: number,
  asked?: TripleColumns,
): KnownAnswers {
  const tails = new Map<number, Set<number>>();
  const heads = new Map<number, Set<number>>();
  for (const part of asked ? [asked, ...parts] : parts) {
    const all = part === asked || asked === undefined;
    for (let i = 0; i < part.heads.length; i++) {
      const [head, relation, tail] = [part.heads[i]!, part.relations[i]!, part.tails[i]!];
      add(tails, head * numRelations + relation, tail, all);
      add(heads, tail * numRelations + relation, head, all);
    }
  }
  const [tailLists, headLists] = [lists(tails), lists(heads)];
  const none: readonly number[] = [];
  return {
    tailsOf: (head, relation) => tailLists.get(head * numRelations + relation) ?? none,
    headsOf: (relation, tail) => headLists.get(tail * numRelations + relation) ?? none,
  };
}

function add(index: Map<number, Set<number>>, key: number, value: number, newKeys: boolean): void {
  const values = index.get(key);
  if (values) values.add(value);
  else if (newKeys) index.set(key, new Set([value]));
}

function lists(index: Map<number, Set<number>>): Map<number, number[]> {
  return new Map([...index].map(([key, values]) => [key, [...values]]));
}
