/** Which samples an update sees and how fast it learns: functions of the update's number, so that nothing needs saving. */
import { Rng } from '../../src/run/seeds.js';
import type { PpoSettings } from './settings.js';

/**
 * Samples of any update: the train set in a new seeded order at each pass, cut into equal parts. The order of the pass that was
 * asked for last is remembered, since shuffling a large set takes longer than walking a round.
 * @param indices of the samples; must stay as they are
 * @param count samples an update
 */
export function sampleOrder(indices: Int32Array, count: number, seed: number): (update: number) => number[] {
  let shuffled = -1;
  let order = indices;
  return (update) => {
    const chosen: number[] = [];
    for (let position = update * count; chosen.length < count; position++) {
      const pass = Math.floor(position / indices.length);
      if (pass !== shuffled) order = Rng.named(seed, 'ppo/order', pass).shuffle(indices.slice());
      shuffled = pass;
      chosen.push(order[position % indices.length]!);
    }
    return chosen;
  };
}

/** Linear warm-up, then constant or linear down to a share of the peak. */
export function learningRateAt(
  update: number,
  { learningRate, warmupUpdates, updates, lrDecay, finalLrShare }: PpoSettings,
): number {
  if (update < warmupUpdates) return (learningRate * (update + 1)) / warmupUpdates;
  if (lrDecay === 'none') return learningRate;
  const progress = (update - warmupUpdates) / Math.max(1, updates - warmupUpdates);
  return learningRate * (1 - (1 - finalLrShare) * progress);
}

/** Weight of the entropy bonus: constant, or linear from its setting at the first update towards 0 after the last. */
export function entropyCoefAt(update: number, { entropyCoef, entropyDecay, updates }: PpoSettings): number {
  return entropyDecay === 'none' ? entropyCoef : entropyCoef * (1 - update / updates);
}
