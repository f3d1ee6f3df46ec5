/** A step of TransE over a batch: the gradients of all triples under the same weights, then the moves of their rows. */
import type { Rng } from '../../src/run/seeds.js';
import type { BatchMoves } from './batch-moves.js';
import { createComparison } from './compare-triple.js';
import type { StepOptions } from './compare-triple.js';
import { addDifferences, addGradient, addSigns, keepDifferences, keepSigns, meanSquare } from './kernels.js';
import { directionSquare, rowSteps, shareOf } from './row-steps.js';

/** Gradients of a batch, place by place, and then their moves. */
export interface BatchStep {
  /** Takes the gradients of triple `index`, with negatives drawn from `rng`, and keeps its moves at a place of the batch. */
  gradients(place: number, index: number, corruptTail: boolean, rng: Rng): void;
  /** The loss of the triple whose gradients were taken last. */
  lastLoss(): number;
  /**
   * Makes the moves of the first `size` places, in their order; a row is moved once for each time it is used.
   * @param owner moves only the rows whose number leaves this remainder, divided by `owners`: threads that share the rows
   * so make the same moves of a row in the same order as one thread would
   */
  apply(size: number, learningRate: number, owner: number, owners: number): void;
}

/** @param batch where moves are kept; threads share it */
export function createBatchStep(options: StepOptions, batch: BatchMoves): BatchStep {
  const { state, settings } = options;
  const { norm } = settings;
  const { entities, relations, dim } = state.table;
  const { entitySquares, relationSquares } = state;
  const seen = createComparison(options);
  const { differences, distances } = seen;
  const stepSize = rowSteps(settings);
  const square1 = directionSquare(settings);
  const { moves, pushes, shares, gradients } = batch;

  /** Moves the entities along the directions of their distances. */
  function follow(place: number, learningRate: number, owner: number, owners: number): void {
    for (let at = place * moves; at < (place + 1) * moves; at++) {
      const push = pushes[at]!;
      if (push === 0) continue;
      const entity = batch.entities[at]!;
      if (entity % owners !== owner) continue;
      const step = stepSize(entitySquares, entity, push * push * square1, learningRate) * shares[at]!;
      if (norm === 1) addSigns(entities, entity * dim, step, batch.signs, at * dim, dim);
      else addDifferences(entities, entity * dim, step, batch.differences, at * dim, dim);
    }
  }

  return {
    gradients(place, index, corruptTail, rng) {
      seen.compare(index, corruptTail, rng);
      batch.givens[place] = seen.given;
      batch.relations[place] = seen.relation;
      batch.relationSigns[place] = seen.sign;
      gradients.fill(0, place * dim, (place + 1) * dim);
      for (let m = 0; m < moves; m++) {
        const at = place * moves + m;
        const push = seen.pushes[m]!;
        pushes[at] = push;
        if (push === 0) continue;
        const share = shareOf(settings, push, distances[m]!);
        batch.entities[at] = seen.entities[m]!;
        shares[at] = share;
        if (norm === 1) keepSigns(differences, m * dim, gradients, place * dim, share, batch.signs, at * dim, dim);
        else keepDifferences(differences, m * dim, gradients, place * dim, share, batch.differences, at * dim, dim);
      }
    },
    lastLoss: () => seen.loss(),
    apply(size, learningRate, owner, owners) {
      for (let place = 0; place < size; place++) {
        follow(place, learningRate, owner, owners);
        const given = batch.givens[place]!;
        const relation = batch.relations[place]!;
        const movesGiven = given % owners === owner;
        const movesRelation = relation % owners === owner;
        if (!movesGiven && !movesRelation) continue;
        const from = place * dim;
        const square = meanSquare(gradients, from, dim);
        if (movesGiven) {
          const step = stepSize(entitySquares, given, square, learningRate);
          addGradient(entities, given * dim, -step, gradients, from, dim);
        }
        if (movesRelation) {
          const step = batch.relationSigns[place]! * stepSize(relationSquares, relation, square, learningRate);
          addGradient(relations, relation * dim, -step, gradients, from, dim);
        }
      }
    },
  };
}
