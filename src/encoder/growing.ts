/** Something with a size that is opened as large as needed so far, and anew when more is needed. */

/** What was opened, and how it is closed. */
export interface Opened<Value> {
  value: Value;
  close(): Promise<void>;
}

/** Lends the one that is open. */
export interface Growing<Value> {
  /**
   * Works with one of at least `size`: with that which is open, or with a larger one in its place. What was replaced closes
   * after its last use.
   */
  use<Result>(size: number, work: (value: Value) => Promise<Result>): Promise<Result>;
}

interface Held<Value> {
  size: number;
  users: number;
  opening: Promise<Opened<Value>>;
}

/** @param open opens one of exactly `size`; what it throws goes to those who asked for it, and the next asks anew */
export function growing<Value>(open: (size: number) => Promise<Opened<Value>>): Growing<Value> {
  let current: Held<Value> | undefined;

  /** What failed to open needs no closing. */
  const close = ({ opening }: Held<Value>) =>
    opening.then(
      (opened) => opened.close(),
      () => {},
    );

  function atLeast(size: number): Held<Value> {
    if (current !== undefined && current.size >= size) return current;
    const before = current;
    // Never both in memory, where nobody is at the smaller one.
    const opening = before?.users === 0 ? close(before).then(() => open(size)) : open(size);
    const held = { size, users: 0, opening };
    opening.catch(() => {
      if (current === held) current = undefined;
    });
    return (current = held);
  }

  return {
    async use(size, work) {
      const held = atLeast(size);
      held.users++;
      try {
        return await work((await held.opening).value);
      } finally {
        if (--held.users === 0 && held !== current) await close(held);
      }
    },
  };
}
