/** A seeded subset of a list. */
import { Rng } from './seeds.js';

/**
 * `count` of the items, each as likely as any other, in the order of the list; all of them where there are no more.
 * The first of a larger draw from the same stream are those of a smaller one.
 * @param stream names the draw; seed 0 unless said otherwise, so that a draw is the same for every run
 */
export function drawn<T>(items: readonly T[], count: number, stream: string, seed = 0): T[] {
  if (count >= items.length) return [...items];
  const order = Rng.named(seed, stream).shuffle(Int32Array.from(items.keys()));
  return Array.from(order.subarray(0, count).sort(), (i) => items[i]!);
}
