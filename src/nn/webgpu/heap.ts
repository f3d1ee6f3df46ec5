/** Memory of a device, one buffer: kernels find their numbers by where they begin, so that all share one binding. */
import { WorkbenchError } from '../../run/errors.js';

/** Numbers of 4 bytes. */
export type Memory = 'floats' | 'ints';

/** Free runs, in ascending order with a gap between any two. */
type Free = { at: number; length: number };

/** Values that a heap begins with. */
const least = 2 ** 18;

/** Hands out runs of values; grows by doubling, up to what the device can bind. */
export class Heap {
  buffer: GPUBuffer;
  readonly #free: Free[] = [];
  #capacity = 0;

  /** @param most bytes of it @param grown makes a larger buffer with the contents of the one before */
  constructor(
    readonly most: number,
    readonly grown: (bytes: number, before?: GPUBuffer) => GPUBuffer,
  ) {
    this.buffer = grown(4 * least);
    this.give(0, least);
    this.#capacity = least;
  }

  /** Place of [length] values of any kind, at a multiple of 4, with room up to the next. @throws WorkbenchError `native` beyond what the device binds */
  take(length: number): number {
    const size = roomy(length);
    let place = this.#free.findIndex((free) => free.length >= size);
    if (place < 0) {
      this.#grow(size);
      place = this.#free.length - 1;
    }
    const { at, length: room } = this.#free[place]!;
    if (room === size) this.#free.splice(place, 1);
    else this.#free[place] = { at: at + size, length: room - size };
    return at;
  }

  /** Gives back what `take` gave for this length. */
  give(at: number, length: number): void {
    const size = roomy(length);
    const place = this.#free.findIndex((free) => free.at > at);
    this.#free.splice(place < 0 ? this.#free.length : place, 0, { at, length: size });
    for (let i = this.#free.length - 2; i >= 0; i--) {
      const [one, next] = [this.#free[i]!, this.#free[i + 1]!];
      if (one.at + one.length === next.at) this.#free.splice(i, 2, { at: one.at, length: one.length + next.length });
    }
  }

  #grow(size: number): void {
    const before = this.#capacity;
    const limit = Math.floor(this.most / 16) * 4;
    const wanted = Math.min(limit, Math.max(2 * before, before + size));
    if (wanted < before + size) {
      const [needs, has] = [before + size, limit].map((values) => `${Math.ceil((4 * values) / 2 ** 20)} MiB`);
      throw new WorkbenchError('native', `expected the card to bind ${needs} at once, got at most ${has}`, {
        hint: 'Smaller batches, or `--backend simd`, which has the memory of the processor.',
      });
    }
    this.buffer = this.grown(4 * wanted, this.buffer);
    this.#capacity = wanted;
    this.give(before, wanted - before);
  }
}

/** Values that a run of this length takes: whole vectors of 4. */
export const roomy = (length: number) => Math.max(4, Math.ceil(length / 4) * 4);
