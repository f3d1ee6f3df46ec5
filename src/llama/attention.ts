/** Attention over token forests. */
import type { Tape, Taped } from '../nn/tape.js';
import type { LlamaConfig } from './config.js';
import type { Forest } from './forest.js';

/** Softmax attention of each token to those that it sees. @returns of queries, keys and values, [tokens, heads · headDim] each; known tokens have no queries */
export function forestAttention(tape: Tape, { dim, heads, kvHeads }: LlamaConfig, { groups, known }: Forest) {
  const size = dim / heads;
  const share = heads / kvHeads;
  // A group of products for each key head, with the queries of all heads that share it.
  const parts = groups.flatMap((group) => Array.from({ length: kvHeads }, (_, head) => ({ ...group, head })));
  const rowsOf = (tokens: Int32Array, head: number, first = 0) =>
    tokens.map((token) => (token - first) * kvHeads + head);
  const queryRows = Int32Array.from(parts.flatMap(({ own, head }) => [...rowsOf(own, head, known)]));
  const keyRows = Int32Array.from(
    parts.flatMap(({ before, own, head }) => [...rowsOf(before, head), ...rowsOf(own, head)]),
  );
  const back = new Int32Array(queryRows.length);
  queryRows.forEach((from, to) => (back[from] = to));
  const ofQueries = ends(parts.map(({ own }) => own.length * share));
  const ofKeys = ends(parts.map(({ before, own }) => before.length + own.length));
  const each = ends(
    parts.flatMap(({ before, own }) => Array<number>(own.length * share).fill(before.length + own.length)),
  );
  const mask = tape.constant(hidden(parts, share, each.at(-1)!), 1);
  const byHead = (x: Taped, rows: Int32Array) =>
    tape.reshape(tape.rows(tape.reshape(x, x.width / kvHeads), rows), size);
  return (q: Taped, k: Taped, v: Taped): Taped => {
    const dots = tape.groupProducts(byHead(q, queryRows), ofQueries, byHead(k, keyRows), ofKeys);
    const scores = tape.add(mask, dots, 1 / Math.sqrt(size));
    const shares = tape.exp(tape.segmentLogSoftmax(scores, each));
    const mixed = tape.groupSums(shares, ofQueries, byHead(v, keyRows), ofKeys);
    return tape.reshape(tape.rows(tape.reshape(mixed, share * size), back), dim);
  };
}

/** −1e9 where a query would see a later token or one outside its segment, else 0: one behind the other for each pair of a query and a key. */
function hidden(groups: readonly Forest['groups'][number][], share: number, pairs: number): Float32Array {
  const mask = new Float32Array(pairs);
  let at = 0;
  for (const { before, own, first } of groups) {
    for (let query = 0; query < own.length; query++) {
      for (let head = 0; head < share; head++) {
        const begin = at + before.length;
        at = begin + own.length;
        mask.fill(-1e9, begin, begin + first[query]!);
        mask.fill(-1e9, begin + query + 1, at);
      }
    }
  }
  return mask;
}

/** 0, then sums up to each. */
function ends(lengths: readonly number[]): Int32Array {
  const sums = new Int32Array(lengths.length + 1);
  lengths.forEach((length, i) => (sums[i + 1] = sums[i]! + length));
  return sums;
}
