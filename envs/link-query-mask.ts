/** Which edges are illegal in a walk that answers a query; the single environment and the batch both ask here. */
import type { KnownAnswers } from '../src/embedding/known-answers.js';
import type { EdgeLists } from './link-query-edges.js';
import type { LinkQueryWorld } from './link-query-world.js';

/** Finds edges to other right answers of a query, without memory of its own per query. */
export class OtherAnswers {
  readonly #known: Pick<KnownAnswers, 'tailsOf'>;
  readonly #lists: EdgeLists;
  /** The search in which an entity was last marked as an answer. */
  readonly #marks: Int32Array;
  #search = 0;

  constructor(known: Pick<KnownAnswers, 'tailsOf'>, lists: EdgeLists, numEntities: number) {
    this.#known = known;
    this.#lists = lists;
    this.#marks = new Int32Array(numEntities);
  }

  /**
   * Writes the places of `current`'s edges that lead to a right answer of (head, relation) other than `answer`.
   * O(answers + degree).
   * @returns where the list `into` ends now
   */
  places(head: number, relation: number, answer: number, current: number, into: Int32Array, at: number): number {
    const { offsets, tails } = this.#lists;
    if (this.#search === 0x7fffffff) {
      this.#marks.fill(0);
      this.#search = 0;
    }
    const search = ++this.#search;
    for (const other of this.#known.tailsOf(head, relation)) if (other !== answer) this.#marks[other] = search;
    const begin = offsets[current]!;
    for (let edge = begin; edge < offsets[current + 1]!; edge++) {
      if (this.#marks[tails[edge]!] === search) into[at++] = edge - begin;
    }
    return at;
  }
}

/**
 * Writes the places of the actions that are illegal now and returns how many; one may be named twice. Staying never is.
 * @param into room for `maxActions + 2`
 */
export function hiddenPlaces(
  world: LinkQueryWorld,
  query: number,
  current: number,
  hop: number,
  into: Int32Array,
): number {
  const { queries, hiddenForward, hiddenBackward, others, horizon } = world;
  const answer = queries.tails[query]!;
  let count = 0;
  if (current === queries.heads[query] && hiddenForward[query]! >= 0) into[count++] = hiddenForward[query]!;
  if (current === answer && hiddenBackward[query]! >= 0) into[count++] = hiddenBackward[query]!;
  if (others && hop === horizon - 1) {
    count = others.places(queries.heads[query]!, queries.relations[query]!, answer, current, into, count);
  }
  return count;
}
