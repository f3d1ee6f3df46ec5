/** Segments of rows as tensors want them: offsets are int32 [segments + 1], rows of segment s are `offsets[s] .. offsets[s + 1] - 1`. */

/** Segments padded to lengths that many have. */
interface Padded {
  /** Each [segments, length]: row that stands at a place, the segment's first where there is none; and 0, or −1e30 there. */
  readonly classes: readonly { length: number; rows: Int32Array; added: Float32Array }[];
  /** int32 [segments]: place of each among the segments of all classes. */
  readonly place: Int32Array;
}

/** Segment of each row, or what `values` has for it. */
export function ofRows(offsets: Int32Array, values?: Int32Array): Int32Array {
  const rows = new Int32Array(offsets.at(-1)!);
  for (let s = 0; s + 1 < offsets.length; s++) rows.fill(values ? values[s]! : s, offsets[s]!, offsets[s + 1]!);
  return rows;
}

/** Length of all segments; 0 where they differ. */
export function commonLength(offsets: Int32Array): number {
  const length = offsets[1]! - offsets[0]!;
  return offsets.every((begin, s) => begin === s * length) ? length : 0;
}

/** Pads segments to the next power of two, so that less than as many rows again are added. */
export function padded(offsets: Int32Array): Padded {
  const byLength = new Map<number, number[]>();
  for (let s = 0; s + 1 < offsets.length; s++) {
    const length = 2 ** Math.ceil(Math.log2(offsets[s + 1]! - offsets[s]!));
    if (!byLength.get(length)?.push(s)) byLength.set(length, [s]);
  }
  const place = new Int32Array(offsets.length - 1);
  let placed = 0;
  const classes = Array.from(byLength, ([length, segments]) => {
    const rows = new Int32Array(segments.length * length);
    const added = new Float32Array(rows.length).fill(-1e30);
    segments.forEach((s, k) => {
      place[s] = placed++;
      const begin = offsets[s]!;
      for (let i = 0; i < length; i++) {
        const isThere = begin + i < offsets[s + 1]!;
        rows[k * length + i] = isThere ? begin + i : begin;
        if (isThere) added[k * length + i] = 0;
      }
    });
    return { length, rows, added };
  });
  return { classes, place };
}
