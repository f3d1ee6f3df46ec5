/** One step of TransE by itself: a true triple, its negatives, the closed-form gradient, sparse updates. */
import type { Rng } from '../../src/run/seeds.js';
import { createComparison } from './compare-triple.js';
import type { StepOptions } from './compare-triple.js';
import { addToBoth, followDifferences, followSigns, meanSquare } from './kernels.js';
import { directionSquare, rowSteps, shareOf } from './row-steps.js';

/** Trains one triple at a time. */
export interface Step {
  /**
   * Updates the state with triple `index` and negatives drawn from `rng`. Each row is moved once for each time it is
   * used; all gradients are taken before the first move.
   */
  train(index: number, corruptTail: boolean, learningRate: number, rng: Rng): void;
  /** The loss of the triple that was trained last, before its update. */
  lastLoss(): number;
}

/** Prepares the scratch memory of training; steps allocate nothing. */
export function createStep(options: StepOptions): Step {
  const { state, settings } = options;
  const { norm } = settings;
  const { entities, relations, dim } = state.table;
  const { entitySquares, relationSquares } = state;
  const seen = createComparison(options);
  const { differences, distances, pushes } = seen;
  const stepSize = rowSteps(settings);
  const square1 = directionSquare(settings);
  const gradient = new Float64Array(dim);
  return {
    train(index, corruptTail, learningRate, rng) {
      seen.compare(index, corruptTail, rng);
      gradient.fill(0);
      for (let m = 0; m < pushes.length; m++) {
        const push = pushes[m]!;
        if (push === 0) continue;
        const entity = seen.entities[m]!;
        const share = shareOf(settings, push, distances[m]!);
        const step = stepSize(entitySquares, entity, push * push * square1, learningRate) * share;
        if (norm === 1) followSigns(differences, m * dim, gradient, share, entities, entity * dim, step, dim);
        else followDifferences(differences, m * dim, gradient, share, entities, entity * dim, step, dim);
      }
      const { given, relation, sign } = seen;
      const square = meanSquare(gradient, 0, dim);
      const step = stepSize(entitySquares, given, square, learningRate);
      const relationStep = sign * stepSize(relationSquares, relation, square, learningRate);
      addToBoth(entities, given * dim, -step, relations, relation * dim, -relationStep, gradient, dim);
    },
    lastLoss: () => seen.loss(),
  };
}
