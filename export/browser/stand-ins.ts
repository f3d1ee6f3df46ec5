/** Stand-ins for the globals and packages of Node that the bundled agents reach. */

/** Buffers, as far as the table of names uses them. */
class Bytes extends Uint8Array {
  static alloc(length: number): Bytes {
    return new Bytes(length);
  }

  static override from(buffer: unknown, begin?: unknown, length?: unknown): Bytes {
    return new Bytes(buffer as ArrayBuffer, begin as number, length as number);
  }

  override toString(_encoding?: string, begin?: number, end?: number): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.subarray(begin, end));
  }
}

Object.assign(globalThis, {
  Buffer: Bytes,
  process: { constrainedMemory: () => 0 },
  // Hidden from pages without headers; nothing here is shared with a thread.
  SharedArrayBuffer: ArrayBuffer,
});

/** Nothing else waits for its turn. */
export const setImmediate = (): Promise<void> => Promise.resolve();

/** Pages keep no record of what was read. */
export class AsyncLocalStorage {
  getStore(): undefined {}
}

/** The first number of the hash of `0/ask#1`, which orders equal walks of what is asked (`agents/top-paths.ts`). */
const salt = -1_696_535_096;

/** Hashes of contents are for the record of what was read alone, which a page does not keep. */
export function createHash() {
  const hash = { update: () => hash, digest: () => ({ readInt32LE: () => salt, slice: () => '' }) };
  return hash;
}

/** Seeds: for the first weights alone, which those of the checkpoint replace. */
export const hash = () => ({ readInt32LE: () => 1 });

/** Any numbers serve as those. */
export function xoroshiro128plus(seed: number) {
  let state = seed;
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0);
  return { next, getState: () => [state] };
}
