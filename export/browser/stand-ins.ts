/** What the bundled code of Node reaches of Node and of packages, where a browser lacks it. */

/** Of buffers: what the table of names uses. */
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

Object.assign(globalThis, { Buffer: Bytes });

/** Nothing else waits for its turn. */
export const setImmediate = (): Promise<void> => Promise.resolve();

/** Pages keep no record of what was read. */
export class AsyncLocalStorage {
  getStore(): undefined {}
}

/** Contents are hashed for that record alone. */
export function createHash() {
  const hash = { update: () => hash, digest: () => '' };
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
