/** The generator of `src/run/seeds.ts` over a state in memory: 128 bits, low word first. */

/** Draws 32 bits. @source Blackman and Vigna 2018, xoroshiro128+ with the shifts 24, 16, 37; the low half of the sum */
export function uint32(state: usize): u32 {
  const first = load<u64>(state);
  const second = load<u64>(state, 8);
  const mixed = first ^ second;
  store<u64>(state, rotl<u64>(first, 24) ^ mixed ^ (mixed << 16));
  store<u64>(state, rotl<u64>(mixed, 37), 8);
  return <u32>(first + second);
}

/** Uniform in [0, 1). */
export function uniform(state: usize): f64 {
  return <f64>uint32(state) / 4294967296.0;
}

/** Uniform integer in [0, n). */
export function integer(state: usize, n: i32): i32 {
  return <i32>floor<f64>(uniform(state) * <f64>n);
}
