/** Attention over pairs of rows, by several heads side by side, and over segments of rows. */
import type { Gathered, Tape, Taped } from '../../../src/nn/tape.js';

/** Divides `dim` columns among heads, each of which compares its own; the last ones are spare where `dim` is no multiple. */
export function attentionHeads(count: number, dim: number) {
  const own = Math.ceil(dim / count);
  const split = (tape: Tape, rows: Taped) => tape.reshape(rows, own);
  /** Rows of single heads, those of one row side by side. */
  const ofHeads = (index: Int32Array) => {
    const rows = new Int32Array(index.length * count);
    for (let i = 0; i < rows.length; i++) rows[i] = index[Math.floor(i / count)]! * count + (i % count);
    return rows;
  };
  const sum = (tape: Tape, parts: readonly Taped[]) => parts.reduce((all, part) => tape.add(all, part));
  return {
    /** Columns of all heads. */
    width: count * own,
    /** q · k / √(columns of a head), k the sum of the keys of each pair: [pairs, heads]. */
    scores(tape: Tape, [queries, of]: Gathered, keys: readonly Gathered[]): Taped {
      const [left, scale] = [ofHeads(of), 1 / Math.sqrt(own)];
      const dots = keys.map(([table, index]) =>
        tape.dots(split(tape, queries), left, split(tape, table), ofHeads(index), scale),
      );
      return tape.reshape(sum(tape, dots), count);
    },
    /** Sums of the values of pairs: [rows, width]. @param logShares [pairs, heads] @param into int32 [pairs]: row that each adds to */
    sums(tape: Tape, logShares: Taped, into: Int32Array, values: readonly Gathered[], rows: number): Taped {
      const [shares, left] = [tape.reshape(tape.exp(logShares), 1), ofHeads(into)];
      const sums = values.map(([table, index]) =>
        tape.weightedSums(shares, split(tape, table), left, ofHeads(index), rows * count),
      );
      return tape.reshape(sum(tape, sums), count * own);
    },
  };
}

/** Means of the rows of each segment by a softmax of their scores: [segments, width]. @param scores [rows, 1] @param offsets int32 [segments + 1] */
export function attended(tape: Tape, scores: Taped, rows: Taped, offsets: Int32Array): Taped {
  const shares = tape.exp(tape.segmentLogSoftmax(scores, offsets));
  const owners = ownersOf(offsets);
  return tape.weightedSums(shares, rows, owners, Int32Array.from(owners.keys()), offsets.length - 1);
}

/** int32: segment of each row. */
export function ownersOf(offsets: Int32Array): Int32Array {
  const owners = new Int32Array(offsets.at(-1)!);
  for (let s = 0; s + 1 < offsets.length; s++) owners.fill(s, offsets[s], offsets[s + 1]);
  return owners;
}
