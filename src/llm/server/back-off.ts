/** How long to wait before a request is tried again. */
import { setTimeout } from 'node:timers/promises';
import type { Rng } from '../../run/seeds.js';

/** Waits; ends early without an error when the signal is aborted. */
export type Delay = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

const first = 500;
const longest = 30_000;

/**
 * Exponential, 0.5 s doubling to 30 s, of which a random half to whole, so that requests that failed together do not
 * come back together; never less than the server asks for. Milliseconds.
 * @param tries failed so far, 1 or more
 */
export function backOff(tries: number, asked: number | undefined, rng: Rng): number {
  const whole = Math.min(longest, first * 2 ** (tries - 1));
  return Math.round(Math.max(asked ?? 0, whole * (0.5 + rng.uniform() / 2)));
}

/** By the machine's clock. */
export const realDelay: Delay = async (ms, signal) => {
  await setTimeout(ms, undefined, signal && { signal }).catch(() => {});
};
