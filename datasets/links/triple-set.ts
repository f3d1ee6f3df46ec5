/** Triples by id in the order of adding, each once. */
import type { TripleColumns } from '../../src/kg/graph.js';

/** Share of the hash table that is filled before it doubles. */
const mostFilled = 0.6;

/** A set that keeps its order: 12 bytes a triple and 7 to 13 to find it, twice that while it grows. */
export class TripleSet {
  #heads = new Int32Array(64);
  #relations = new Int32Array(64);
  #tails = new Int32Array(64);
  #size = 0;
  /** Places in the columns plus one, 0 is free; its length is a power of two. */
  #slots = new Int32Array(128);

  /** Number of triples. */
  get size(): number {
    return this.#size;
  }

  /** @returns whether it is new */
  add(head: number, relation: number, tail: number): boolean {
    const slot = this.#slotOf(head, relation, tail);
    if (this.#slots[slot] !== 0) return false;
    if (this.#size === this.#heads.length) {
      this.#heads = doubled(this.#heads);
      this.#relations = doubled(this.#relations);
      this.#tails = doubled(this.#tails);
    }
    this.#heads[this.#size] = head;
    this.#relations[this.#size] = relation;
    this.#tails[this.#size] = tail;
    this.#slots[slot] = ++this.#size;
    if (this.#size > mostFilled * this.#slots.length) this.#index(2 * this.#slots.length);
    return true;
  }

  /** Whether a triple is among them. */
  has(head: number, relation: number, tail: number): boolean {
    return this.#slots[this.#slotOf(head, relation, tail)] !== 0;
  }

  /** All of them, in order; a copy. */
  columns(): TripleColumns {
    const [heads, relations, tails] = [this.#heads, this.#relations, this.#tails].map((c) => c.slice(0, this.#size));
    return { heads: heads!, relations: relations!, tails: tails! };
  }

  #slotOf(head: number, relation: number, tail: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hashOf(head, relation, tail) & mask; ; slot = (slot + 1) & mask) {
      const at = slots[slot]! - 1;
      if (at < 0) return slot;
      if (this.#heads[at] === head && this.#relations[at] === relation && this.#tails[at] === tail) return slot;
    }
  }

  #index(length: number): void {
    this.#slots = new Int32Array(length);
    for (let at = 0; at < this.#size; at++) {
      this.#slots[this.#slotOf(this.#heads[at]!, this.#relations[at]!, this.#tails[at]!)] = at + 1;
    }
  }
}

function doubled(column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * column.length);
  larger.set(column);
  return larger;
}

/** Three rounds of multiplying and stirring: ids are small and close together. */
function hashOf(head: number, relation: number, tail: number): number {
  let hash = 0;
  for (let i = 0; i < 3; i++) {
    hash = Math.imul(hash ^ (i === 0 ? head : i === 1 ? relation : tail), 0x2c1b3c6d);
    hash ^= hash >>> 15;
  }
  return hash;
}
