/** Token sequences that share their beginnings, as one batch. */

/** Tokens in a row. */
export interface Segment {
  ids: Int32Array;
  /** The segment that stands before it, of a lower index; -1 at the beginning of a sequence. */
  parent: number;
}

/** Tokens whose attention is computed together. */
interface AttentionGroup {
  /** Tokens of the segments before it, which all tokens of the group see. */
  before: Int32Array;
  /** Its own tokens: of one segment, or of children of one parent. */
  own: Int32Array;
  /** Place among its own of the first that each of them sees. */
  first: Int32Array;
}

/** Segments as a batch: a token sees those of its segment's ancestors and the earlier ones of the segment itself. */
export interface Forest {
  /** Tokens segment after segment, int32 [tokens]. */
  ids: Int32Array;
  /** Tokens of segment s are `offsets[s] .. offsets[s + 1] - 1`. */
  offsets: Int32Array;
  /** Tokens that each one stands behind, int32 [tokens]: at most the context length - 1. */
  positions: Int32Array;
  /** Tokens at the beginning whose keys and values are known, so that they are not computed again. */
  known: number;
  groups: readonly AttentionGroup[];
}

/**
 * @param known segments at the beginning whose keys and values are known
 * @throws RangeError for a parent that does not stand before its child
 */
export function forestOf(segments: readonly Segment[], known = 0): Forest {
  const offsets = new Int32Array(segments.length + 1);
  const children = new Map<number, number[]>();
  segments.forEach(({ ids, parent }, s) => {
    if (!(parent >= -1 && parent < s)) throw new RangeError(`expected a parent before segment ${s}, got ${parent}`);
    offsets[s + 1] = offsets[s]! + ids.length;
    const siblings = children.get(parent);
    if (siblings) siblings.push(s);
    else children.set(parent, [s]);
  });
  const tokens = offsets.at(-1)!;
  const ids = new Int32Array(tokens);
  segments.forEach((segment, s) => ids.set(segment.ids, offsets[s]));
  const size = (s: number) => offsets[s + 1]! - offsets[s]!;
  const positions = new Int32Array(tokens);
  const groups = [...children].flatMap(([parent, siblings]) => {
    const before = lineage(segments, offsets, parent);
    for (const s of siblings) {
      for (let i = 0; i < size(s); i++) positions[offsets[s]! + i] = before.length + i;
    }
    const computed = siblings.filter((s) => s >= known && size(s) > 0);
    return sharing(computed, size, before.length).map((some) => groupOf(some, offsets, before));
  });
  return { ids, offsets, positions, known: offsets[known]!, groups };
}

/** Sequences of one length, one after the other, that share nothing. */
export function equalSequences(ids: Int32Array, length: number): Forest {
  const sequence = (_: unknown, i: number) => ({ ids: ids.subarray(i * length, (i + 1) * length), parent: -1 });
  return forestOf(Array.from({ length: ids.length / length }, sequence));
}

/** Tokens of a segment and of those before it, in the order of a text. */
function lineage(segments: readonly Segment[], offsets: Int32Array, segment: number): Int32Array {
  const line: number[] = [];
  for (let s = segment; s >= 0; s = segments[s]!.parent) line.unshift(s);
  return tokensOf(line, offsets);
}

function tokensOf(segments: readonly number[], offsets: Int32Array): Int32Array {
  const ranges = segments.map((s) => Array.from({ length: offsets[s + 1]! - offsets[s]! }, (_, i) => offsets[s]! + i));
  return Int32Array.from(ranges.flat());
}

/**
 * Siblings in runs of at most as many tokens as stand before them: the keys that they share are gathered once, and what
 * is computed for pairs of siblings and then hidden is no more than what counts.
 */
function sharing(siblings: readonly number[], size: (s: number) => number, before: number): number[][] {
  const runs: number[][] = [];
  let room = -1;
  for (const s of siblings) {
    room -= size(s);
    if (room >= 0) {
      runs.at(-1)!.push(s);
      continue;
    }
    runs.push([s]);
    room = before - size(s);
  }
  return runs;
}

function groupOf(segments: readonly number[], offsets: Int32Array, before: Int32Array): AttentionGroup {
  const own = tokensOf(segments, offsets);
  const first = new Int32Array(own.length);
  let at = 0;
  for (const s of segments) {
    const begin = at;
    at += offsets[s + 1]! - offsets[s]!;
    first.fill(begin, begin, at);
  }
  return { before, own, first };
}
