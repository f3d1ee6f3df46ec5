/** Every known answer of a link query, so that ranking one answer is not spoilt by the others. */
import { adjacencyOf, type AdjacencyRows } from '../kg/adjacency.js';
import { relationRange } from '../kg/frontier.js';
import type { TripleColumns } from '../kg/graph.js';

/** Answers of (head, relation, ?) and (?, relation, tail): int32, ascending, each once. */
export interface KnownAnswers {
  tailsOf(head: number, relation: number): Int32Array;
  headsOf(relation: number, tail: number): Int32Array;
}

const none = new Int32Array(0);

/**
 * Indexes triples for the filtered setting: give all that are known to be true, of every split. Repeated triples count once.
 * Sorted rows in both directions: 12 bytes a triple (16 with more than 65,536 relations) and 8 an entity.
 * @param asked the triples that will be ranked: answers of other queries are then not kept, and read as none
 */
export function knownAnswers(parts: readonly TripleColumns[], asked?: TripleColumns): KnownAnswers {
  const all = asked ? [asked, ...parts] : parts;
  const numEntities = 1 + largest(all.flatMap(({ heads, tails }) => [heads, tails]));
  const numRelations = 1 + largest(all.map(({ relations }) => relations));
  const side = (given: 'heads' | 'tails', answer: 'heads' | 'tails') => {
    const rowsOf = (some: readonly TripleColumns[], among?: AdjacencyRows) =>
      adjacencyOf(numEntities, numRelations, (take) => {
        for (const { [given]: entities, relations, [answer]: answers } of some) {
          for (let i = 0; i < entities.length; i++) {
            const [entity, relation] = [entities[i]!, relations[i]!];
            if (!among || answersOf(among, entity, relation).length > 0) take(entity, relation, answers[i]!);
          }
        }
      });
    return asked ? rowsOf(all, rowsOf([asked])) : rowsOf(all);
  };
  const tails = side('heads', 'tails');
  const heads = side('tails', 'heads');
  return {
    tailsOf: (head, relation) => answersOf(tails, head, relation),
    headsOf: (relation, tail) => answersOf(heads, tail, relation),
  };
}

function largest(columns: readonly Int32Array[]): number {
  let most = -1;
  for (const column of columns) for (let i = 0; i < column.length; i++) if (column[i]! > most) most = column[i]!;
  return most;
}

function answersOf(rows: AdjacencyRows, entity: number, relation: number): Int32Array {
  if (!(entity >= 0 && entity < rows.offsets.length - 1)) return none;
  const [begin, end] = relationRange(rows, entity, relation);
  return begin === end ? none : rows.tails.subarray(begin, end);
}

/** The same of a graph whose relation r + `numPlain` is the inverse of r, from answers of plain relations alone. */
export const withInverses = (known: KnownAnswers, numPlain: number): KnownAnswers => ({
  tailsOf: (head, relation) =>
    relation < numPlain ? known.tailsOf(head, relation) : known.headsOf(relation - numPlain, head),
  headsOf: (relation, tail) =>
    relation < numPlain ? known.headsOf(relation, tail) : known.tailsOf(tail, relation - numPlain),
});
