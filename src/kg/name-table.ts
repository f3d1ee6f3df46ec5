/**
 * Packed two-way name table: UTF-8 of all names in one array, their end offsets, and a hash table of ids. A Map of strings costs about
 * 100 bytes a name; this costs the name, 4 bytes, and 11 to 23 while names are looked up.
 */
import { WorkbenchError } from '../run/errors.js';

/** Columns of a table, in shared memory if threads need them. */
export interface NameColumns {
  /** Concatenated UTF-8 of all names. */
  bytes: Uint8Array;
  /** uint32 [number of names]: end offset of each name in `bytes`. */
  ends: Uint32Array;
}

/** Load factor at which the hash table doubles. */
const mostFilled = 0.7;
/** Maximum bytes of all names (32-bit offsets). */
const mostBytes = 2 ** 32 - 1;

const encoder = new TextEncoder();

/** Ids are 0, 1, 2 … in insertion order; for duplicates added by `push`, lookup returns the last id. */
export class NameTable {
  #bytes: Buffer;
  #ends: Uint32Array;
  #size: number;
  /** (id, hash) pairs from slot 2 · hash (modulo the length, a power of two) on; id -1 is free. Built on first use. */
  #slots: Int32Array | undefined;
  #scratch = Buffer.alloc(256);
  #hashes = new Int32Array(0);

  /** @param columns initial content; never modified */
  constructor({ bytes, ends }: NameColumns = { bytes: new Uint8Array(1024), ends: new Uint32Array(0) }) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#ends = ends;
    this.#size = ends.length;
  }

  /** @param names by id */
  static of(names: Iterable<string>): NameTable {
    const table = new NameTable();
    for (const name of names) table.push(name);
    return table;
  }

  get size(): number {
    return this.#size;
  }

  /** Name of an id, decoded at each call; undefined if unknown. */
  name(id: number): string | undefined {
    if (!(id >= 0 && id < this.#size)) return undefined;
    return this.#bytes.toString('utf8', this.#start(id), this.#ends[id]);
  }

  /** All names by id, decoded lazily. */
  *names(): Generator<string> {
    let start = 0;
    for (let id = 0; id < this.#size; id++) {
      const end = this.#ends[id]!;
      yield this.#bytes.toString('utf8', start, end);
      start = end;
    }
  }

  /** Id of an exact name, or -1. */
  id(name: string): number {
    const length = this.#encode(name);
    return this.#find(this.#scratch, 0, length, hashOf(this.#scratch, 0, length));
  }

  /** Id of a name, added if missing. */
  add(name: string): number {
    const length = this.#encode(name);
    return this.addBytes(this.#scratch, 0, length);
  }

  /** Like `add`, for valid UTF-8 in `source[from, to)`. */
  addBytes(source: Uint8Array, from: number, to: number): number {
    return this.#addHashed(source, from, to, hashOf(source, from, to));
  }

  /**
   * Like `addBytes` for many names, several times faster once the table exceeds the CPU caches.
   * @param bounds int32 [2 · count]: begin and end of each name in `source`
   * @param ids output, int32 [count]
   */
  addAll(source: Uint8Array, bounds: Int32Array, count: number, ids: Int32Array): void {
    if (this.#hashes.length < count) this.#hashes = new Int32Array(count);
    const hashes = this.#hashes;
    for (let i = 0; i < count; i++) hashes[i] = hashOf(source, bounds[2 * i]!, bounds[2 * i + 1]!);
    this.#touch(hashes, count, ids);
    for (let i = 0; i < count; i++) ids[i] = this.#addHashed(source, bounds[2 * i]!, bounds[2 * i + 1]!, hashes[i]!);
  }

  /** Prefetch: touches all slots without dependencies, so that memory fetches overlap; `ids` only keep the reads from being optimised away. */
  #touch(hashes: Int32Array, count: number, ids: Int32Array): void {
    const slots = (this.#slots ??= this.#indexed());
    const mask = slots.length - 1;
    for (let i = 0; i < count; i++) ids[i] = slots[(2 * hashes[i]!) & mask]!;
    for (let i = 0; i < count; i++) ids[i] = ids[i]! > 0 ? this.#ends[ids[i]! - 1]! : 0;
    for (let i = 0; i < count; i++) ids[i] = this.#bytes[ids[i]! >>> 0]!;
  }

  #addHashed(source: Uint8Array, from: number, to: number, hash: number): number {
    const known = this.#find(source, from, to, hash);
    if (known >= 0) return known;
    const id = this.#append(source, from, to);
    this.#insert(id, hash);
    return id;
  }

  /** Appends a name under the next id, even if it exists already. */
  push(name: string): number {
    // First, since a long name replaces the scratch buffer.
    const length = this.#encode(name);
    const id = this.#append(this.#scratch, 0, length);
    this.#slots = undefined;
    return id;
  }

  /** Copy of the columns in shared memory, trimmed; unaffected by later additions. */
  columns(): NameColumns {
    const length = this.#start(this.#size);
    const bytes = new Uint8Array(new SharedArrayBuffer(length));
    const ends = new Uint32Array(new SharedArrayBuffer(4 * this.#size));
    bytes.set(this.#bytes.subarray(0, length));
    ends.set(this.#ends.subarray(0, this.#size));
    return { bytes, ends };
  }

  #start(id: number): number {
    return id === 0 ? 0 : this.#ends[id - 1]!;
  }

  #encode(name: string): number {
    if (this.#scratch.length < 3 * name.length) this.#scratch = Buffer.alloc(6 * name.length);
    for (let i = 0; i < name.length; i++) {
      const code = name.charCodeAt(i);
      if (code > 0x7f) return encoder.encodeInto(name, this.#scratch).written;
      this.#scratch[i] = code;
    }
    return name.length;
  }

  #append(source: Uint8Array, from: number, to: number): number {
    const start = this.#start(this.#size);
    const end = start + to - from;
    if (end > mostBytes) {
      throw new WorkbenchError('data', `expected names of at most ${mostBytes} bytes in all, got more`, {
        hint: 'Shorten the names, for example by removing a common prefix.',
      });
    }
    if (end > this.#bytes.length) {
      const before = this.#bytes.subarray(0, start);
      this.#bytes = Buffer.alloc(Math.min(mostBytes, Math.max(2 * this.#bytes.length, end)));
      this.#bytes.set(before);
    }
    if (this.#size === this.#ends.length) {
      const before = this.#ends;
      this.#ends = new Uint32Array(Math.max(64, 2 * this.#size));
      this.#ends.set(before);
    }
    for (let i = from, at = start; i < to; i++, at++) this.#bytes[at] = source[i]!;
    this.#ends[this.#size] = end;
    return this.#size++;
  }

  #find(source: Uint8Array, from: number, to: number, hash: number): number {
    const slots = (this.#slots ??= this.#indexed());
    return slots[this.#slotOf(slots, source, from, to, hash)]!;
  }

  /** Slot of the name's id, or the free slot for it. */
  #slotOf(slots: Int32Array, source: Uint8Array, from: number, to: number, hash: number): number {
    const mask = slots.length - 1;
    for (let slot = (2 * hash) & mask; ; slot = (slot + 2) & mask) {
      const id = slots[slot]!;
      if (id < 0 || (slots[slot + 1] === hash && this.#equals(id, source, from, to))) return slot;
    }
  }

  #equals(id: number, source: Uint8Array, from: number, to: number): boolean {
    let at = this.#start(id);
    if (this.#ends[id]! - at !== to - from) return false;
    for (let i = from; i < to; i++, at++) if (this.#bytes[at] !== source[i]) return false;
    return true;
  }

  /** Inserts an id that is not in the hash table. */
  #insert(id: number, hash: number): void {
    if (this.#size > (mostFilled * this.#slots!.length) / 2) this.#slots = doubled(this.#slots!);
    place(this.#slots!, id, hash);
  }

  /** Hash table of all names (last of duplicates), built on first use. */
  #indexed(): Int32Array {
    let count = 16;
    while (this.#size > mostFilled * count) count *= 2;
    const slots = new Int32Array(2 * count).fill(-1);
    for (let id = 0, start = 0; id < this.#size; id++) {
      const end = this.#ends[id]!;
      const hash = hashOf(this.#bytes, start, end);
      const slot = this.#slotOf(slots, this.#bytes, start, end, hash);
      slots[slot] = id;
      slots[slot + 1] = hash;
      start = end;
    }
    return slots;
  }
}

function doubled(slots: Int32Array): Int32Array {
  const larger = new Int32Array(2 * slots.length).fill(-1);
  for (let i = 0; i < slots.length; i += 2) if (slots[i]! >= 0) place(larger, slots[i]!, slots[i + 1]!);
  return larger;
}

function place(slots: Int32Array, id: number, hash: number): void {
  const mask = slots.length - 1;
  let slot = (2 * hash) & mask;
  while (slots[slot]! >= 0) slot = (slot + 2) & mask;
  slots[slot] = id;
  slots[slot + 1] = hash;
}

/** FNV-1a with the high bits mixed into the low ones that select the slot. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
