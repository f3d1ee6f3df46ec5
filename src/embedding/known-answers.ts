/** Every known answer of a link query, so that ranking one answer is not spoilt by the others. */
import type { TripleColumns } from '../kg/graph.js';

/** Answers of (head, relation, ?) and (?, relation, tail): int32, ascending, each once. */
export interface KnownAnswers {
  tailsOf(head: number, relation: number): Int32Array;
  headsOf(relation: number, tail: number): Int32Array;
}

/** Pairs of relation and answer in ascending order, given entity by given entity. */
interface Pairs {
  /** int32: the pairs of entity e are `offsets[e] .. offsets[e + 1] - 1`. */
  offsets: Int32Array;
  relations: Int32Array;
  answers: Int32Array;
}

/** Parallel arrays: what is given, the relation, the answer. */
type Columns = readonly [given: Int32Array, relations: Int32Array, answers: Int32Array];

const none = new Int32Array(0);

/**
 * Indexes triples for the filtered setting: give all that are known to be true, of every split. Repeated triples count once.
 * Sorted columns: 16 bytes a triple and 8 an entity, about three times that while it is built.
 * @param asked the triples that will be ranked: answers of other queries are then not kept, and read as none
 */
export function knownAnswers(parts: readonly TripleColumns[], asked?: TripleColumns): KnownAnswers {
  const side = (columnsOf: (part: TripleColumns) => Columns) => {
    const all = parts.map(columnsOf);
    return sortPairs(asked ? join([columnsOf(asked), ...all], sortPairs(columnsOf(asked))) : join(all));
  };
  const tails = side(({ heads, relations, tails }) => [heads, relations, tails]);
  const heads = side(({ heads, relations, tails }) => [tails, relations, heads]);
  return {
    tailsOf: (head, relation) => answersOf(tails, head, relation),
    headsOf: (relation, tail) => answersOf(heads, tail, relation),
  };
}

/**
 * The same of a graph whose relation r + `numPlain` is the inverse of r: (h, r⁻¹, ?) has the answers of (?, r, h).
 * @param known of plain relations alone
 */
export function withInverses(known: KnownAnswers, numPlain: number): KnownAnswers {
  return {
    tailsOf: (head, relation) =>
      relation < numPlain ? known.tailsOf(head, relation) : known.headsOf(relation - numPlain, head),
    headsOf: (relation, tail) =>
      relation < numPlain ? known.headsOf(relation, tail) : known.tailsOf(tail, relation - numPlain),
  };
}

/** One after the other. @param among leaves out what has another given entity and relation than these */
function join(parts: readonly Columns[], among?: Pairs): Columns {
  const places = parts.map(([given, relations]) => {
    const kept = new Int32Array(given.length);
    let count = 0;
    for (let i = 0; i < given.length; i++) {
      if (!among || firstOf(among, given[i]!, relations[i]!) >= 0) kept[count++] = i;
    }
    return kept.subarray(0, count);
  });
  const count = places.reduce((sum, kept) => sum + kept.length, 0);
  return [0, 1, 2].map((c) => {
    const joined = new Int32Array(count);
    let at = 0;
    places.forEach((kept, p) => {
      const column = parts[p]![c]!;
      for (let i = 0; i < kept.length; i++) joined[at++] = column[kept[i]!]!;
    });
    return joined;
  }) as unknown as Columns;
}

/** Sorts by counting, last column first, and leaves repeated ones out. */
function sortPairs([given, relations, answers]: Columns): Pairs {
  let order = new Int32Array(given.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  for (const column of [answers, relations, given]) order = sortByCounting(order, column);
  const offsets = new Int32Array(most(given) + 2);
  const sorted = { offsets, relations: new Int32Array(order.length), answers: new Int32Array(order.length) };
  let kept = 0;
  for (let at = 0, before = -1; at < order.length; at++) {
    const i = order[at]!;
    const same = before >= 0 && given[i] === given[before] && relations[i] === relations[before];
    if (same && answers[i] === answers[before]) continue;
    before = i;
    offsets[given[i]! + 1]!++;
    sorted.relations[kept] = relations[i]!;
    sorted.answers[kept++] = answers[i]!;
  }
  for (let entity = 1; entity < offsets.length; entity++) offsets[entity]! += offsets[entity - 1]!;
  return sorted;
}

/** The same places in the order of a column; equal ones stay in theirs. */
function sortByCounting(order: Int32Array<ArrayBuffer>, column: Int32Array): Int32Array<ArrayBuffer> {
  const next = new Int32Array(most(column) + 2);
  for (let i = 0; i < column.length; i++) next[column[i]! + 1]!++;
  for (let value = 1; value < next.length; value++) next[value]! += next[value - 1]!;
  const sorted = new Int32Array(order.length);
  for (let at = 0; at < order.length; at++) {
    const i = order[at]!;
    sorted[next[column[i]!]!++] = i;
  }
  return sorted;
}

function most(column: Int32Array): number {
  let most = -1;
  for (let i = 0; i < column.length; i++) if (column[i]! > most) most = column[i]!;
  return most;
}

/** Where the pairs of an entity and a relation begin, or −1. */
function firstOf({ offsets, relations }: Pairs, entity: number, relation: number): number {
  let low = offsets[entity] ?? 0;
  const end = offsets[entity + 1] ?? low;
  for (let high = end; low < high;) {
    const middle = (low + high) >>> 1;
    if (relations[middle]! < relation) low = middle + 1;
    else high = middle;
  }
  return low < end && relations[low] === relation ? low : -1;
}

function answersOf(pairs: Pairs, entity: number, relation: number): Int32Array {
  const first = firstOf(pairs, entity, relation);
  if (first < 0) return none;
  let end = first + 1;
  while (end < pairs.offsets[entity + 1]! && pairs.relations[end] === relation) end++;
  return pairs.answers.subarray(first, end);
}
