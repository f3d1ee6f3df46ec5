/** Memory that all threads see. */

/** A typed array of numbers, as work for several threads holds them. */
export type Numbers = Int8Array | Uint8Array | Int16Array | Int32Array | Uint32Array | Float32Array | Float64Array;

/**
 * A copy of plain data (objects, arrays, numbers, texts) in which every typed array lies in shared memory: sent to a
 * worker, those arrays stay the same memory, and everything else is copied. Views of one buffer become separate buffers.
 */
export function inSharedMemory<T>(value: T): T {
  return withArrays(value, (numbers) => {
    const type = numbers.constructor as new (buffer: SharedArrayBuffer) => Numbers;
    return new type(new SharedArrayBuffer(numbers.byteLength));
  });
}

/**
 * A copy of plain data in which every typed array is a copy in an array that `allocate` makes; an array that stands in
 * several places stays one.
 * @param allocate returns an array of the same type and length as its argument
 */
export function withArrays<T>(value: T, allocate: (numbers: Numbers) => Numbers): T {
  const copies = new Map<Numbers, Numbers>();
  const copyOf = (part: unknown): unknown => {
    if (ArrayBuffer.isView(part)) {
      const numbers = part as Numbers;
      const known = copies.get(numbers);
      if (known) return known;
      const copy = allocate(numbers);
      copy.set(numbers);
      copies.set(numbers, copy);
      return copy;
    }
    if (Array.isArray(part)) return part.map(copyOf);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, copyOf(inner)]));
  };
  return copyOf(value) as T;
}

/** Looks before a thread goes to sleep: the others are seldom far behind, and waking costs more than looking. */
const looks = 2000;

/** Memory of a barrier, to be shared: how many have arrived, and how often all have. */
export function createBarrierMemory(): Int32Array {
  return new Int32Array(2);
}

/**
 * Returns once each of `threads` threads has called its own; earlier writes are then seen by all. A thread that dies
 * leaves the others waiting: their parent has to end them.
 */
export function createBarrier(memory: Int32Array, threads: number): () => void {
  if (threads === 1) return () => {};
  return () => {
    const round = Atomics.load(memory, 1);
    if (Atomics.add(memory, 0, 1) === threads - 1) {
      Atomics.store(memory, 0, 0);
      Atomics.add(memory, 1, 1);
      Atomics.notify(memory, 1);
      return;
    }
    for (let look = 0; look < looks; look++) if (Atomics.load(memory, 1) !== round) return;
    while (Atomics.load(memory, 1) === round) Atomics.wait(memory, 1, round);
  };
}
