/** A set of triples in flat memory, for millions of membership tests a second. */
import type { TripleColumns } from '../../src/kg/graph.js';

/** Open addressing over indexes into the columns: 4 bytes a slot, at most half of them taken. */
export interface TripleSet {
  readonly columns: TripleColumns;
  /** int32, length a power of two; index of a triple, or -1. */
  readonly slots: Int32Array;
  /**
   * int32, length a power of two: a bit is set for each triple, at least eight bits a triple. Most triples that are not in
   * the set meet a zero here, in a fraction of the memory of `slots`, which then stays nearer to the processor.
   */
  readonly filter: Int32Array;
}

/** Least bits of the filter a triple. */
const filterBits = 8;

/** Indexes the columns, which must not change afterwards. */
export function createTripleSet(columns: TripleColumns): TripleSet {
  const { heads, relations, tails } = columns;
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(heads.length * 2 + 1))).fill(-1);
  const filter = new Int32Array(2 ** Math.max(0, Math.ceil(Math.log2((heads.length * filterBits) / 32))));
  const shift = filterShift(filter);
  for (let i = 0; i < heads.length; i++) {
    const mixed = mix(heads[i]!, relations[i]!, tails[i]!);
    const bit = mixed >>> shift;
    filter[bit >>> 5]! |= 1 << bit;
    let slot = mixed & (slots.length - 1);
    while (slots[slot]! >= 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = i;
  }
  return { columns, slots, filter };
}

/** Whether the set holds the triple. */
export function hasTriple(
  { columns, slots, filter }: TripleSet,
  head: number,
  relation: number,
  tail: number,
): boolean {
  const mixed = mix(head, relation, tail);
  const bit = mixed >>> filterShift(filter);
  if (((filter[bit >>> 5]! >>> bit) & 1) === 0) return false;
  const { heads, relations, tails } = columns;
  const mask = slots.length - 1;
  for (let slot = mixed & mask; ; slot = (slot + 1) & mask) {
    const i = slots[slot]!;
    if (i < 0) return false;
    if (heads[i] === head && relations[i] === relation && tails[i] === tail) return true;
  }
}

/** How far a mix is shifted for its bit of the filter: to as many high bits as number its bits. Low bits choose the slot. */
function filterShift({ length }: Int32Array): number {
  return Math.clz32(length) - 4;
}

/** Mixes three ids so that neighbours scatter. */
function mix(head: number, relation: number, tail: number): number {
  let mixed = Math.imul(head, 0x9e3779b1) ^ Math.imul(tail, 0x85ebca6b) ^ Math.imul(relation, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
