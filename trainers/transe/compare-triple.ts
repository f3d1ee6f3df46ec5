/** A true triple beside its negatives, under the weights as they are: distances and the derivatives of the loss by them. */
import type { TripleColumns } from '../../src/kg/graph.js';
import type { Rng } from '../../src/run/seeds.js';
import { Diverged, firstNotFinite } from '../../src/tensor/diverged.js';
import { absoluteDistance, composeQuery, createDifferences, euclideanDistance } from './kernels.js';
import type { Differences } from './kernels.js';
import { lossGradient, lossValue } from './losses.js';
import type { TransESettings } from './settings.js';
import type { TransEState } from './transe-state.js';
import { hasTriple } from './triple-set.js';
import type { TripleSet } from './triple-set.js';

/** Distances up to here leave room for their differences in float32. */
const largest = 1e38;

/** Draws before a negative is given up because nearly every entity is a true answer. */
const maxDraws = 100;

/** The weights, the triples, and those that are never negatives. */
export interface StepOptions {
  state: Pick<TransEState, 'table' | 'entitySquares' | 'relationSquares'>;
  settings: TransESettings;
  triples: TripleColumns;
  /** Never drawn as negatives. */
  known: TripleSet;
}

/** The triple that was compared last. Its arrays hold the answer first, then the negatives: `negatives + 1` in all. */
export interface Comparison {
  /**
   * Compares triple `index` with negatives drawn from `rng`; moves nothing.
   * @throws Diverged for distances or derivatives that are not finite, or beyond float32
   */
  compare(index: number, corruptTail: boolean, rng: Rng): void;
  /** Draws what `compare` draws, and nothing else: to come to what a later triple draws. */
  skip(index: number, corruptTail: boolean, rng: Rng): void;
  /** The entity that is kept, to which the relation is added (`sign` 1) or from which it is taken (−1). */
  given: number;
  relation: number;
  sign: number;
  /** int32: what the query was compared with. */
  readonly entities: Int32Array;
  readonly differences: Differences;
  readonly distances: Float64Array;
  /** float64: the derivative of the loss by each distance; 0 where it is too small to follow, or there is no entity. */
  readonly pushes: Float64Array;
  /** Of the weights it was compared under. */
  loss(): number;
}

/** Prepares the scratch memory; comparing allocates nothing. */
export function createComparison({ state, settings, triples, known }: StepOptions): Comparison {
  const { norm, negatives, negativeCutoff } = settings;
  const { entities: rows, relations, dim, numEntities } = state.table;
  const entities = new Int32Array(negatives + 1);
  const distances = new Float64Array(negatives + 1);
  const pushes = new Float64Array(negatives + 1);
  const differences = createDifferences(negatives + 1, dim);
  const ofNegatives = distances.subarray(1);
  const weights = new Float64Array(negatives);
  const query = new Float64Array(dim);
  const distance = norm === 1 ? absoluteDistance : euclideanDistance;
  let count = 0;

  function drawNegatives(index: number, corruptTail: boolean, rng: Rng): void {
    const head = triples.heads[index]!;
    const relation = triples.relations[index]!;
    const tail = triples.tails[index]!;
    count = 0;
    for (let j = 0; j < negatives; j++) {
      for (let draw = 0; draw < maxDraws; draw++) {
        const entity = rng.integer(numEntities);
        if (hasTriple(known, corruptTail ? head : entity, relation, corruptTail ? entity : tail)) continue;
        entities[++count] = entity;
        break;
      }
    }
  }

  function diverged(pull: number, total: number): Diverged {
    const first =
      firstNotFinite('entities', rows) ??
      firstNotFinite('relations', relations) ??
      firstNotFinite('distances', distances.subarray(0, count + 1)) ??
      firstNotFinite('derivatives by distance', [pull, ...weights.subarray(0, count)]);
    const beyond = { tensor: 'distances in float32', index: 0, value: total };
    const loss = lossValue(settings, distances[0]!, ofNegatives, count, weights);
    return new Diverged({ first: first ?? beyond, loss });
  }

  const comparison: Comparison = {
    skip: drawNegatives,
    given: 0,
    relation: 0,
    sign: 1,
    entities,
    differences,
    distances,
    pushes,
    compare(index, corruptTail, rng) {
      const head = triples.heads[index]!;
      const relation = triples.relations[index]!;
      const tail = triples.tails[index]!;
      drawNegatives(index, corruptTail, rng);
      // head + relation is compared with tails, tail − relation with heads: the same distance from either side.
      const sign = corruptTail ? 1 : -1;
      const given = corruptTail ? head : tail;
      entities[0] = corruptTail ? tail : head;
      composeQuery(query, rows, given * dim, relations, relation * dim, sign, dim);
      for (let m = 0; m <= count; m++) {
        distances[m] = distance(query, rows, entities[m]! * dim, differences, m * dim, dim);
      }
      const pull = lossGradient(settings, distances[0]!, ofNegatives, count, weights);
      let strongest = 0;
      let total = distances[0]! + pull;
      for (let j = 0; j < count; j++) {
        total += ofNegatives[j]! + weights[j]!;
        if (weights[j]! > strongest) strongest = weights[j]!;
      }
      if (!(total < largest)) throw diverged(pull, total);
      const least = strongest * negativeCutoff;
      pushes.fill(0);
      if (pull > 0) pushes[0] = pull;
      for (let j = 0; j < count; j++) {
        const push = weights[j]!;
        if (push > 0 && push >= least) pushes[j + 1] = -push;
      }
      comparison.given = given;
      comparison.relation = relation;
      comparison.sign = sign;
    },
    loss: () => lossValue(settings, distances[0]!, ofNegatives, count, weights),
  };
  return comparison;
}
