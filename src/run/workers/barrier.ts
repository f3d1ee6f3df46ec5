/** A place where threads wait for each other. */

/** Looks before a thread goes to sleep: the others are seldom far behind, and waking costs more than looking. */
const looks = 2000;

/** Memory of a barrier, to be shared: how many have arrived, and how often all have. */
export function createBarrierMemory(): Int32Array {
  return new Int32Array(2);
}

/**
 * A function that returns once each of `threads` threads has called its own. What a thread wrote before is then seen by
 * all. Alone it returns at once. A thread that dies leaves the others waiting: whoever started them has to end them.
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
