/**
 * TransE in TypeScript, with sums in float64: a true triple beside its negatives, the closed-form gradient, sparse updates.
 * What the SIMD kernels are compared with, and what tells why their numbers are not finite.
 */
import type { TripleColumns } from '../../src/kg/graph.js';
import type { Rng } from '../../src/run/seeds.js';
import { Diverged, firstNotFinite } from '../../src/tensor/diverged.js';
import { lossGradient, lossValue } from './losses.js';
import {
  absoluteDistance,
  addGradient,
  addKept,
  composeQuery,
  createDifferences,
  euclideanDistance,
  followDifferences,
  followSigns,
  keepDifferences,
  keepSigns,
  meanSquare,
  type Differences,
} from './plain-loops.js';
import type { TransESettings } from './settings.js';
import { hasTriple, type TripleSet } from './triples.js';
import {
  corruptsTail,
  lossEvery,
  placeStream,
  type BatchMoves,
  type TransEKernel,
  type TransEState,
  type TransEWork,
} from './work.js';

/** Distances up to here leave room for their differences in float32. */
const largest = 1e38;

/** Draws before a negative is given up because nearly every entity is a true answer. */
const maxDraws = 100;

interface StepOptions {
  state: Pick<TransEState, 'table' | 'entitySquares' | 'relationSquares'>;
  settings: TransESettings;
  triples: TripleColumns;
  /** Never drawn as negatives. */
  known: TripleSet;
}

/** The triple that was compared last. Its arrays hold the answer first, then the negatives: `negatives + 1` in all. */
interface Comparison {
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

/**
 * The step size of row `row`, after counting this gradient among those it has seen.
 * @param squares float64: Adagrad's sums, one a row
 * @param square mean square of the gradient
 */
type RowSteps = (squares: Float64Array, row: number, square: number, learningRate: number) => number;

/** The step of the settings' optimizer: Adagrad divides by the root of a row's summed squares, plain descent by nothing. */
function rowSteps({ optimizer }: Pick<TransESettings, 'optimizer'>): RowSteps {
  const adagrad = optimizer === 'adagrad';
  return (squares, row, square, learningRate) => {
    if (!adagrad || square === 0) return learningRate;
    squares[row]! += square;
    return learningRate / Math.sqrt(squares[row]!);
  };
}

/** Mean square of the derivative of a distance by the row: its entries are ±1 (L1) or a unit vector (L2). */
function directionSquare({ norm, dim }: Pick<TransESettings, 'norm' | 'dim'>): number {
  return norm === 1 ? 1 : 1 / dim;
}

/** The factor of a kept direction for a derivative `push` by the distance: L1 keeps signs, L2 differences. */
function shareOf({ norm }: Pick<TransESettings, 'norm'>, push: number, distance: number): number {
  return norm === 1 ? push : push / Math.max(distance, 1e-12);
}

/** Trains one triple at a time. Prepares the scratch memory; steps allocate nothing. */
export function createStep(options: StepOptions) {
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
    /**
     * Updates the state with triple `index` and negatives drawn from `rng`. Each row is moved once for each time it is used;
     * all gradients are taken before the first move.
     */
    train(index: number, corruptTail: boolean, learningRate: number, rng: Rng): void {
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
      addGradient(entities, given * dim, -step, gradient, 0, dim);
      addGradient(relations, relation * dim, -relationStep, gradient, 0, dim);
    },
    /** The loss of the triple that was trained last, before its update. */
    lastLoss: () => seen.loss(),
  };
}

/** Gradients of a batch, place by place, and then their moves. @param batch where moves are kept; threads share it */
export function createBatchStep(options: StepOptions, batch: BatchMoves) {
  const { state, settings } = options;
  const { entities, relations, dim } = state.table;
  const { entitySquares, relationSquares } = state;
  const seen = createComparison(options);
  const { differences, distances } = seen;
  const stepSize = rowSteps(settings);
  const square1 = directionSquare(settings);
  const keep = settings.norm === 1 ? keepSigns : keepDifferences;
  const { moves, pushes, shares, gradients, directions } = batch;

  /** Moves the entities along the directions of their distances. */
  function follow(place: number, learningRate: number, owner: number, owners: number): void {
    for (let at = place * moves; at < (place + 1) * moves; at++) {
      const push = pushes[at]!;
      if (push === 0) continue;
      const entity = batch.entities[at]!;
      if (entity % owners !== owner) continue;
      const step = stepSize(entitySquares, entity, push * push * square1, learningRate) * shares[at]!;
      addKept(entities, entity * dim, step, directions, at * dim, dim);
    }
  }

  return {
    /** Takes the gradients of triple `index`, with negatives drawn from `rng`; keeps its moves at a place of the batch. */
    gradients(place: number, index: number, corruptTail: boolean, rng: Rng): void {
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
        keep(differences, m * dim, gradients, place * dim, share, directions, at * dim, dim);
      }
    },
    lastLoss: () => seen.loss(),
    /**
     * Makes the moves of the first `size` places, in their order; a row is moved once for each time it is used.
     * @param owner moves only the rows whose number leaves this remainder, divided by `owners`: threads that share the rows
     * so make the same moves of a row in the same order as one thread would
     */
    apply(size: number, learningRate: number, owner: number, owners: number): void {
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

export function plainKernel(work: TransEWork): TransEKernel {
  const { settings, state, train: triples, trainSet: known, order, losses, begun } = work;
  const options: StepOptions = { state, settings, triples, known };
  // Steps are made once a thread: V8 compiles closures with their variables as constants as long as there is one of each,
  // and makes them a quarter faster so.
  const single = createStep(options);
  const batch = createBatchStep(options, work.batch!);
  let streams: Rng[] = [];
  return {
    begin(epoch, { thread, threads }) {
      streams = [];
      for (let place = thread; place < settings.batchSize; place += threads) {
        streams[place] = placeStream(work, epoch, place);
      }
    },
    train(begin, size, learningRate) {
      const rng = streams[0]!;
      for (let i = begin; i < begin + size; i++) {
        begun[0] = i;
        single.train(order[i]!, corruptsTail(work, order[i]!, rng), learningRate, rng);
        if (i === begin) losses[i / lossEvery] = single.lastLoss();
      }
    },
    gradients(begin, size, { thread, threads }) {
      for (let place = thread; place < size; place += threads) {
        const i = begin + place;
        const rng = streams[place]!;
        batch.gradients(place, order[i]!, corruptsTail(work, order[i]!, rng), rng);
        if (i % lossEvery === 0) losses[i / lossEvery] = batch.lastLoss();
      }
    },
    moves: (size, learningRate, { thread, threads }) => batch.apply(size, learningRate, thread, threads),
  };
}
