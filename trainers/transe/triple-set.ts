/** A set of triples in flat memory, for millions of membership tests a second. */
import type { TripleColumns } from '../../src/kg/graph.js';

/** Open addressing over indexes into the columns: 4 bytes a slot, at most half of them taken. */
export interface TripleSet {
  readonly columns: TripleColumns;
  /** int32, length a power of two; index of a triple, or -1. */
  readonly slots: Int32Array;
}

/** Indexes the columns, which must not change afterwards. */
export function createTripleSet(columns: TripleColumns): TripleSet {
  const { heads, relations, tails } = columns;
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(heads.length * 2 + 1))).fill(-1);
  for (let i = 0; i < heads.length; i++) {
    let slot = slotOf(heads[i]!, relations[i]!, tails[i]!) & (slots.length - 1);
    while (slots[slot]! >= 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = i;
  }
  return { columns, slots };
}

/** Whether the set holds the triple. */
export function hasTriple({ columns, slots }: TripleSet, head: number, relation: number, tail: number): boolean {
  const { heads, relations, tails } = columns;
  const mask = slots.length - 1;
  for (let slot = slotOf(head, relation, tail) & mask; ; slot = (slot + 1) & mask) {
    const i = slots[slot]!;
    if (i < 0) return false;
    if (heads[i] === head && relations[i] === relation && tails[i] === tail) return true;
  }
}

/** Mixes three ids so that neighbours scatter. */
function slotOf(head: number, relation: number, tail: number): number {
  let mixed = Math.imul(head, 0x9e3779b1) ^ Math.imul(tail, 0x85ebca6b) ^ Math.imul(relation, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
