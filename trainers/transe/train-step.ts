/** One step of TransE: a true triple, its negatives, the closed-form gradient, sparse updates. */
import type { TripleColumns } from '../../src/kg/graph.js';
import type { Rng } from '../../src/run/seeds.js';
import {
  absoluteDistance,
  addDifferences,
  addRow,
  addSigns,
  composeQuery,
  createDifferences,
  euclideanDistance,
  meanSquare,
} from './kernels.js';
import { lossGradient, lossValue } from './losses.js';
import type { TransESettings } from './settings.js';
import type { TransEState } from './transe-state.js';
import { hasTriple } from './triple-set.js';
import type { TripleSet } from './triple-set.js';

/** Draws before a negative is given up because nearly every entity is a true answer. */
const maxDraws = 100;

export interface StepOptions {
  state: TransEState;
  settings: TransESettings;
  triples: TripleColumns;
  /** Never drawn as negatives. */
  known: TripleSet;
}

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
export function createStep({ state, settings, triples, known }: StepOptions): Step {
  const { norm, negatives, negativeCutoff } = settings;
  const { entities, relations, dim, numEntities } = state.table;
  const { entitySquares, relationSquares } = state;
  const adagrad = settings.optimizer === 'adagrad';
  const differences = createDifferences(negatives + 1, dim);
  const positiveAt = negatives * dim;
  const query = new Float64Array(dim);
  const gradient = new Float64Array(dim);
  const candidates = new Int32Array(negatives);
  const distances = new Float64Array(negatives);
  const pushes = new Float64Array(negatives);
  /** Mean square of the derivative of a distance by the row: its entries are ±1 (L1) or a unit vector (L2). */
  const directionSquare = norm === 1 ? 1 : 1 / dim;
  const distance = norm === 1 ? absoluteDistance : euclideanDistance;
  let count = 0;
  let positive = 0;

  function stepSize(squares: Float64Array, row: number, square: number, learningRate: number): number {
    if (!adagrad || square === 0) return learningRate;
    squares[row]! += square;
    return learningRate / Math.sqrt(squares[row]!);
  }

  function drawNegatives(head: number, relation: number, tail: number, corruptTail: boolean, rng: Rng): void {
    count = 0;
    for (let j = 0; j < negatives; j++) {
      for (let draw = 0; draw < maxDraws; draw++) {
        const entity = rng.integer(numEntities);
        if (hasTriple(known, corruptTail ? head : entity, relation, corruptTail ? entity : tail)) continue;
        candidates[count++] = entity;
        break;
      }
    }
  }

  /** Moves `entity` along the direction of its distance by `-push` and takes the query's share. */
  function follow(entity: number, at: number, push: number, length: number, learningRate: number): void {
    const size = stepSize(entitySquares, entity, push * push * directionSquare, learningRate);
    if (norm === 1) addSigns(differences, at, gradient, push, entities, entity * dim, size * push, dim);
    else {
      const share = push / Math.max(length, 1e-12);
      addDifferences(differences, at, gradient, share, entities, entity * dim, size * share, dim);
    }
  }

  return {
    train(index, corruptTail, learningRate, rng) {
      const head = triples.heads[index]!;
      const relation = triples.relations[index]!;
      const tail = triples.tails[index]!;
      drawNegatives(head, relation, tail, corruptTail, rng);
      // head + relation is compared with tails, tail − relation with heads: the same distance from either side.
      const sign = corruptTail ? 1 : -1;
      const given = corruptTail ? head : tail;
      const answer = corruptTail ? tail : head;
      composeQuery(query, entities, given * dim, relations, relation * dim, sign, dim);
      positive = distance(query, entities, answer * dim, differences, positiveAt, dim);
      for (let j = 0; j < count; j++) {
        distances[j] = distance(query, entities, candidates[j]! * dim, differences, j * dim, dim);
      }
      const pull = lossGradient(settings, positive, distances, count, pushes);
      let strongest = 0;
      for (let j = 0; j < count; j++) if (pushes[j]! > strongest) strongest = pushes[j]!;
      const least = strongest * negativeCutoff;

      gradient.fill(0);
      if (pull > 0) follow(answer, positiveAt, pull, positive, learningRate);
      for (let j = 0; j < count; j++) {
        const push = pushes[j]!;
        if (push > 0 && push >= least) follow(candidates[j]!, j * dim, -push, distances[j]!, learningRate);
      }
      const square = meanSquare(gradient, dim);
      addRow(entities, given * dim, -stepSize(entitySquares, given, square, learningRate), gradient, dim);
      addRow(
        relations,
        relation * dim,
        -sign * stepSize(relationSquares, relation, square, learningRate),
        gradient,
        dim,
      );
    },
    lastLoss: () => lossValue(settings, positive, distances, count, pushes),
  };
}
