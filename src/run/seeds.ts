/** Randomness: one run seed, named sub-seeds, a generator whose state can be saved. Never `Math.random`. */
import { hash } from 'node:crypto';
import { xoroshiro128plus, xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

/**
 * A 32-bit seed of a named stream, so that a new consumer of randomness never shifts another’s stream.
 * @param name of the stream, such as `clone/shuffle`
 * @param counters positions inside the stream’s purpose, such as the epoch
 */
export function subSeed(seed: number, name: string, ...counters: number[]): number {
  return hash('sha256', JSON.stringify([seed, name, ...counters]), 'buffer').readInt32LE(0);
}

/** A seeded generator (xoroshiro128+). Draws are equal on every machine; `state()` and `fromState` resume it exactly. */
export class Rng {
  #generator: ReturnType<typeof xoroshiro128plus>;
  #spareNormal: number | undefined;

  /** @param seed any integer; it is hashed, since neighbouring raw seeds would begin with nearly equal draws */
  constructor(seed: number) {
    this.#generator = xoroshiro128plus(subSeed(seed, 'rng'));
  }

  static named(seed: number, name: string, ...counters: number[]): Rng {
    return new Rng(subSeed(seed, name, ...counters));
  }

  static fromState(state: readonly number[]): Rng {
    const rng = new Rng(0);
    rng.#generator = xoroshiro128plusFromState(state.slice(0, 4));
    rng.#spareNormal = state[4];
    return rng;
  }

  /** The whole state as plain numbers, for a checkpoint. */
  state(): number[] {
    const state = [...this.#generator.getState()];
    return this.#spareNormal === undefined ? state : [...state, this.#spareNormal];
  }

  /** A uniform 32-bit unsigned integer. */
  uint32(): number {
    return this.#generator.next() >>> 0;
  }

  /** Uniform in [0, 1), 32 bits of resolution. */
  uniform(): number {
    return this.uint32() / 4294967296;
  }

  /** Uniform integer in [0, n). */
  integer(n: number): number {
    return Math.floor(this.uniform() * n);
  }

  normal(): number {
    if (this.#spareNormal !== undefined) {
      const spare = this.#spareNormal;
      this.#spareNormal = undefined;
      return spare;
    }
    for (;;) {
      const u = 2 * this.uniform() - 1;
      const v = 2 * this.uniform() - 1;
      const s = u * u + v * v;
      if (s > 0 && s < 1) {
        const factor = Math.sqrt((-2 * Math.log(s)) / s);
        this.#spareNormal = v * factor;
        return u * factor;
      }
    }
  }

  /** Shuffles in place (Fisher-Yates) and returns its argument. */
  shuffle<T extends ArrayLike<unknown>>(values: T): T {
    const own = values as Record<number, unknown>;
    for (let i = values.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      const swapped = own[i];
      own[i] = own[j];
      own[j] = swapped;
    }
    return values;
  }
}

/**
 * `count` of the items, each as likely as any other, in the order of the list; all of them where there are no more.
 * The first of a larger draw from the same stream are those of a smaller one.
 * @param stream names the draw; seed 0 unless said otherwise, so that a draw is the same for every run
 */
export function sampled<T>(items: readonly T[], count: number, stream: string, seed = 0): T[] {
  if (count >= items.length) return [...items];
  const order = Rng.named(seed, stream).shuffle(Int32Array.from(items.keys()));
  return Array.from(order.subarray(0, count).sort(), (i) => items[i]!);
}

/** Uniform choice. @param values at least one */
export function pick<T>(rng: Rng, values: ArrayLike<T>): T {
  return values[rng.integer(values.length)]!;
}

/** Weighted choice; weights need not sum to 1, but one must be positive. */
export function pickWeighted<T>(rng: Rng, values: readonly T[], weightOf: (value: T) => number): T {
  const weights = values.map(weightOf);
  let left = rng.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < values.length; i++) {
    left -= weights[i]!;
    if (left < 0) return values[i]!;
  }
  return values.at(-1)!;
}
