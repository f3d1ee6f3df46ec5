/** Room for one computation on a device. */
import type { Scope } from '../executor.js';
import type { Device } from './device.js';
import { type Memory, roomy } from './heap.js';
import { kernels } from './kernels.js';
import type { Lists } from './lists.js';

/** Numbers of the device: [length] from `at` on. */
export interface Span {
  readonly at: number;
  readonly length: number;
  /** Room that it was taken from; absent of what stays. */
  readonly room?: Room;
}

/** Row numbers on the device. */
export interface Index extends Span {
  readonly room: Room;
  /** Numbers that they were copied of. */
  readonly host?: Int32Array;
  /** Entries by their row, once something is added up by rows. */
  lists?: PlacedLists;
  /** Row numbers that these were picked of, and which. */
  readonly picked?: { of: Index; pick: Picked };
}

/** Lists on the device. */
export interface PlacedLists extends Omit<Lists, 'begins' | 'order' | 'rows'> {
  begins: number;
  /** Row of each list; absent where list g is of row g. */
  rows?: Index;
  /** 0, or the place plus 1. */
  order: number;
}

/** Entries that were picked: where each of the held ones stands among them, and the other way round. */
export type Picked = { place: number; source: number; length: number };

interface Piece {
  at: number;
  length: number;
  /** Values handed out. */
  used: number;
  /** Values of the host, of what is copied, and how many of them were sent. */
  host?: Float32Array | Int32Array;
  sent: number;
}

/** Values that are handed out in order and given back all at once. */
class Bump {
  readonly #pieces: Piece[] = [];
  /** Values handed out since the last reset. */
  used = 0;

  /** @param copies whether they are copied from the host */
  constructor(
    readonly device: Device,
    readonly memory: Memory,
    readonly copies = false,
  ) {
    const pieces = this.#pieces;
    const heap = device[memory];
    device.whenGone(this, () => pieces.forEach(({ at, length }) => heap.give(at, length)));
  }

  take(length: number): number {
    const size = roomy(length);
    let piece = this.#pieces.at(-1);
    if (!piece || piece.used + size > piece.length) {
      piece = this.#piece(Math.max(size, 2 * (piece?.length ?? 2 ** 12)));
      this.#pieces.push(piece);
    }
    const at = piece.at + piece.used;
    piece.used += size;
    this.used += size;
    return at;
  }

  /** Takes room for values of the host, which go to the device with the next submit. */
  copy(values: Float32Array | Int32Array): number {
    const at = this.take(values.length);
    const piece = this.#pieces.at(-1)!;
    piece.host!.set(values, at - piece.at);
    this.device.unsent.add(this.#send);
    return at;
  }

  /** The next computation finds one piece with room for all that this one had. */
  reset(): void {
    if (this.#pieces.length > 1) {
      // What is queued may still use them.
      this.device.submit();
      const length = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
      for (const { at, length: room } of this.#pieces.splice(0)) this.device[this.memory].give(at, room);
      this.#pieces.push(this.#piece(length));
    }
    for (const piece of this.#pieces) Object.assign(piece, { used: 0, sent: 0 });
    this.used = 0;
  }

  readonly #send = () => {
    for (const piece of this.#pieces) {
      if (piece.sent < piece.used) {
        this.device.send(this.memory, piece.at + piece.sent, piece.host!.subarray(piece.sent, piece.used));
      }
      piece.sent = piece.used;
    }
  };

  #piece(length: number): Piece {
    const Values = this.memory === 'floats' ? Float32Array : Int32Array;
    const host = this.copies ? new Values(length) : undefined;
    return { at: this.device[this.memory].take(length), length, used: 0, sent: 0, ...(host && { host }) };
  }
}

/** Zeros lie together: those that the computation before had are cleared at once. */
export class Room implements Scope<Span, Index> {
  readonly #values: Bump;
  readonly #zeros: Bump;
  readonly #constants: Bump;
  readonly #ints: Bump;
  /** Row numbers that are made on the device. */
  readonly #places: Bump;
  /** Zeros from the beginning that are cleared, and those that the computation before had. */
  #cleared = 0;
  #expected = 0;
  /** Submit with which the latest copy goes. */
  #serial = -1;

  constructor(readonly device: Device) {
    this.#values = new Bump(device, 'floats');
    this.#zeros = new Bump(device, 'floats');
    this.#constants = new Bump(device, 'floats', true);
    this.#ints = new Bump(device, 'ints', true);
    this.#places = new Bump(device, 'ints');
  }

  begin(): void {
    this.#expected = this.#zeros.used;
    this.#cleared = 0;
    this.#values.reset();
    this.#zeros.reset();
    this.#places.reset();
    if (this.device.keeps) return;
    if (this.#serial === this.device.serial) this.device.submit();
    this.#constants.reset();
    this.#ints.reset();
  }

  take(length: number): Span {
    return { at: this.#values.take(length), length, room: this };
  }

  takeRows(length: number): Index {
    return { at: this.#places.take(length), length, room: this };
  }

  zeros(length: number): Span {
    const before = this.#zeros.used;
    const at = this.#zeros.take(length);
    if (before === 0) {
      this.#cleared = Math.max(this.#expected, length);
      this.device.queue(kernels.fill, this.#cleared, at, 0);
    } else if (this.#zeros.used > this.#cleared) this.device.queue(kernels.fill, length, at, 0);
    return { at, length, room: this };
  }

  copy(values: Float32Array): Span {
    this.#serial = this.device.serial;
    return { at: this.#constants.copy(values), length: values.length, room: this };
  }

  rows(values: Int32Array | Index): Index {
    if (!(values instanceof Int32Array)) return values;
    this.#serial = this.device.serial;
    return { at: this.#ints.copy(values), length: values.length, room: this, host: values };
  }
}
