/** How a walk's next action is drawn from the policy. */
import type { Rng } from '../../src/run/seeds.js';
import { sampleSegment } from '../../src/tensor/categorical.js';

/** Draws one of the actions `begin .. end - 1`; returns its place among them. */
export type ActionDraw = (logProbs: Float32Array, begin: number, end: number) => number;

/** What a dropped action weighs: nothing beside one that was kept, an equal share where none was. */
const droppedWeight = Number.EPSILON;

/** Which actions are dropped before one is drawn. */
export interface ActionDropout {
  /** Chance of each action, in [0, 1). */
  rate: number;
  rng: Rng;
}

/**
 * Draws from the policy, or from it with some actions dropped, so that walks do not all follow the first path that paid.
 * Learning reads the policy's own log-probabilities either way.
 * @param rng draws the action
 * @source Lin et al. 2018, arXiv:1808.10568, section 3.4
 */
export function actionDraw(rng: Rng, dropout?: ActionDropout): ActionDraw {
  return dropout && dropout.rate > 0
    ? droppingDraw(rng, dropout)
    : (logProbs, begin, end) => sampleSegment(logProbs, begin, end, rng);
}

function droppingDraw(rng: Rng, { rate, rng: dropping }: ActionDropout): ActionDraw {
  const logKeep = Math.log1p(-rate);
  // From one dropped action to the next there is a geometric number of kept ones: a draw a dropped action, not one each.
  const kept = () => Math.floor(Math.log(1 - dropping.uniform()) / logKeep);
  let weights = new Float64Array(64);
  return (logProbs, begin, end) => {
    const count = end - begin;
    if (weights.length < count) weights = new Float64Array(2 * count);
    let total = 0;
    let dropped = kept();
    for (let i = 0; i < count; i++) {
      const drops = i === dropped;
      if (drops) dropped += 1 + kept();
      weights[i] = drops ? droppedWeight : Math.exp(logProbs[begin + i]!);
      total += weights[i]!;
    }
    let remaining = rng.uniform() * total;
    let last = 0;
    for (let i = 0; i < count; i++) {
      if (weights[i] === 0) continue;
      last = i;
      remaining -= weights[i]!;
      if (remaining < 0) break;
    }
    return last;
  };
}
