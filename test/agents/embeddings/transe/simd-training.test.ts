/** Kernels of TransE, held to finite differences of its loss and, epoch by epoch, to plain TypeScript with sums in float64. */
import { describe, expect, test } from '@jest/globals';
import { scoreTriple } from '../../../../src/embedding/transe.js';
import type { TripleColumns } from '../../../../src/kg/graph.js';
import { Rng } from '../../../../src/run/seeds.js';
import { withArrays } from '../../../../src/run/worker-pool.js';
import { type TransESettings, transeSettings } from '../../../../agents/embeddings/transe/settings.js';
import { openShare, trainTransE } from '../../../../agents/embeddings/transe/train-transe.js';
import { createTripleSet, hasTriple } from '../../../../agents/embeddings/transe/triples.js';
import {
  createTransE,
  createWork,
  lossEvery,
  openTransEKernels,
  orderEpoch,
  placeStream,
  type TransEState,
  type TransEWork,
} from '../../../../agents/embeddings/transe/work.js';
import { columnsOf, type Ids } from '../../../fixtures/triple-columns.js';

/** Seventy triples over thirty entities: rows are used several times in a batch, and some draws are true triples. */
const rng = new Rng(8);
const column = (n: number) => Int32Array.from({ length: 70 }, () => rng.integer(n));
const train: TripleColumns = { heads: column(30), relations: column(2), tails: column(30) };
const sizes = { numEntities: 30, numRelations: 2 };

function workOf(over: Partial<TransESettings>, threads = 1): TransEWork {
  const settings = transeSettings.parse({ dim: 7, margin: 4, negatives: 3, ...over });
  const work = createWork({ settings, seed: 3, state: createTransE({ ...sizes, settings, seed: 3 }), train }, threads);
  orderEpoch(work);
  return work;
}

const weights = ({ state }: TransEWork) => [
  ...state.table.entities,
  ...state.table.relations,
  ...state.entitySquares,
  ...state.relationSquares,
];

/** A true triple and its negatives under the weights of one moment. */
interface Comparison {
  given: number;
  relation: number;
  /** 1 where tails are compared with head + relation, -1 where heads are compared with tail - relation. */
  sign: number;
  /** The answer, then the negatives. */
  entities: number[];
  /** Derivative of the loss by each distance; 0 below the cutoff. */
  derivatives: number[];
  /** Derivative of each distance by the query. */
  directions: number[][];
  loss: number;
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
/** The largest difference of two lists. */
const furthest = (one: ArrayLike<number>, other: ArrayLike<number>) =>
  Math.max(...Array.from(one, (value, i) => Math.abs(value - other[i]!)));
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Loss, and its derivatives by the distances: of the positive, then of each negative. The weights of negatives are held fixed. */
function lossOf(
  { loss, margin, temperature }: Pick<TransEWork['settings'], 'loss' | 'margin' | 'temperature'>,
  positive: number,
  negatives: readonly number[],
): { loss: number; derivatives: number[] } {
  if (loss === 'margin') {
    const count = Math.max(1, negatives.length);
    const hinges = negatives.map((negative) => Math.max(0, margin + positive - negative));
    const shares = hinges.map((hinge) => (hinge > 0 ? -1 / count : 0));
    return { loss: sum(hinges) / count, derivatives: [-sum(shares), ...shares] };
  }
  const nearest = Math.min(...negatives);
  const unscaled = negatives.map((negative) => Math.exp(temperature * (nearest - negative)));
  const weights = unscaled.map((one) => one / sum(unscaled));
  const value = softplus(positive - margin) + sum(negatives.map((d, j) => weights[j]! * softplus(margin - d)));
  const derivatives = negatives.map((d, j) => -0.5 * weights[j]! * sigmoid(margin - d));
  return { loss: value / 2, derivatives: [0.5 * sigmoid(positive - margin), ...derivatives] };
}

function draw({ settings, state, train, tailChance }: TransEWork, index: number, rng: Rng, known: Set<string>) {
  const [head, relation, tail] = [train.heads[index]!, train.relations[index]!, train.tails[index]!];
  const corruptTail = rng.uniform() < tailChance[relation]!;
  const isTrue = (entity: number) =>
    known.has(corruptTail ? `${head} ${relation} ${entity}` : `${entity} ${relation} ${tail}`);
  const negatives: number[] = [];
  for (let j = 0; j < settings.negatives; j++) {
    for (let tries = 0; tries < 100; tries++) {
      const entity = rng.integer(state.table.numEntities);
      if (isTrue(entity)) continue;
      negatives.push(entity);
      break;
    }
  }
  const [answer, given] = corruptTail ? [tail, head] : [head, tail];
  return { given, relation, sign: corruptTail ? 1 : -1, entities: [answer, ...negatives] };
}

function compare(work: TransEWork, index: number, rng: Rng, known: Set<string>): Comparison {
  const { table } = work.state;
  const { dim, norm } = table;
  const drawn = draw(work, index, rng, known);
  const row = (values: Float32Array, at: number) => Array.from(values.subarray(at * dim, (at + 1) * dim));
  const relation = row(table.relations, drawn.relation);
  const query = row(table.entities, drawn.given).map((value, k) => value + drawn.sign * relation[k]!);
  const differences = drawn.entities.map((entity) => row(table.entities, entity).map((value, k) => query[k]! - value));
  const distances = differences.map((all) => (norm === 1 ? sum(all.map(Math.abs)) : Math.hypot(...all)));
  const { loss, derivatives } = lossOf(work.settings, distances[0]!, distances.slice(1));
  const least = Math.max(...derivatives.slice(1).map(Math.abs), 0) * work.settings.negativeCutoff;
  return {
    ...drawn,
    loss,
    derivatives: derivatives.map((value, j) => (j > 0 && Math.abs(value) < least ? 0 : value)),
    directions: differences.map((all, j) =>
      all.map((value) =>
        norm === 1 ? (value < 0 || Object.is(value, -0) ? -1 : 1) : value / Math.max(distances[j]!, 1e-12),
      ),
    ),
  };
}

function move(work: TransEWork, compared: Comparison, learningRate: number): void {
  const { settings, state } = work;
  const { table, entitySquares, relationSquares } = state;
  const { dim, norm } = table;
  const descend = (rows: Float32Array, squares: Float64Array, at: number, gradient: number[], square: number) => {
    let rate = learningRate;
    if (settings.optimizer === 'adagrad' && square > 0) rate /= Math.sqrt((squares[at]! += square));
    gradient.forEach((value, k) => (rows[at * dim + k]! -= rate * value));
  };
  const byQuery = Array<number>(dim).fill(0);
  compared.derivatives.forEach((derivative, j) => {
    if (derivative === 0) return;
    const gradient = compared.directions[j]!.map((value) => derivative * value);
    gradient.forEach((value, k) => (byQuery[k]! += value));
    // The mean square of a direction: signs, or a unit vector.
    const square = derivative ** 2 * (norm === 1 ? 1 : 1 / dim);
    descend(
      table.entities,
      entitySquares,
      compared.entities[j]!,
      gradient.map((value) => -value),
      square,
    );
  });
  const square = sum(byQuery.map((value) => value ** 2)) / dim;
  const { given, relation, sign } = compared;
  descend(table.entities, entitySquares, given, byQuery, square);
  descend(
    table.relations,
    relationSquares,
    relation,
    byQuery.map((value) => sign * value),
    square,
  );
}

/** Trains an epoch in `work.order`: gradients of a batch from the weights before it, then its moves in order. */
function trainEpochPlainly(work: TransEWork, epoch: number, learningRate: number): void {
  const { order, losses, train } = work;
  const { batchSize } = work.settings;
  const known = new Set(Array.from(train.heads, (head, i) => `${head} ${train.relations[i]} ${train.tails[i]}`));
  const streams = Array.from({ length: batchSize }, (_, place) => placeStream(work, epoch, place));
  for (let begin = 0; begin < order.length; begin += batchSize) {
    const batch = Array.from(order.subarray(begin, begin + batchSize), (index, place) =>
      compare(work, index, streams[place]!, known),
    );
    for (const compared of batch) move(work, compared, learningRate);
    batch.forEach(({ loss }, place) => {
      if ((begin + place) % lossEvery === 0) losses[(begin + place) / lossEvery] = loss;
    });
  }
}

const kinds = (['self-adversarial', 'margin'] as const).flatMap((loss) =>
  ([1, 2] as const).flatMap((norm) =>
    (['adagrad', 'sgd'] as const).flatMap((optimizer) =>
      [7, 40].flatMap((dim) => [1, 16].map((batchSize) => ({ loss, norm, optimizer, dim, batchSize }))),
    ),
  ),
);

function trainBySimd(work: TransEWork, learningRate: number): void {
  for (const _ of openShare(work).train({ thread: 0, threads: 1 }, 0, learningRate));
}

function trainedBySimd(over: Partial<TransESettings>, learningRate: number): TransEWork {
  const work = workOf(over);
  trainBySimd(work, learningRate);
  return work;
}

function trainedPlainly(over: Partial<TransESettings>, learningRate: number): TransEWork {
  const work = workOf(over);
  trainEpochPlainly(work, 0, learningRate);
  return work;
}

describe('an epoch by SIMD', () => {
  test.each(kinds)('is that of plain TypeScript, up to rounding: %o', (kind) => {
    const settings = { ...kind, bernoulli: kind.dim === 7 };
    const [simd, plain] = [trainedBySimd(settings, 0.02), trainedPlainly(settings, 0.02)];
    const [begun, expected] = [weights(workOf(settings)), weights(plain)];
    expect(furthest(begun, expected)).toBeGreaterThan(0.01);
    expect(furthest(weights(simd), expected)).toBeLessThan(5e-5);
    expect(furthest(simd.losses, plain.losses)).toBeLessThan(5e-5);
  });

  test.each([1, 2] as const)('moves the same rows to the same bits for any owners, L%i', (norm) => {
    const [alone, shared] = [1, 3].map((threads) => {
      const work = workOf({ norm, batchSize: 16 }, threads);
      const { byteOffset } = work.order;
      work.streams.forEach((_, i, all) => (all[i] = i + 1));
      const kernels = Array.from({ length: threads }, (_, thread) => openTransEKernels(work, thread));
      kernels.forEach((one, thread) => expect(one.transeGradients(byteOffset, 16, thread, threads)).toBe(16));
      for (const owner of [...kernels.keys()].reverse()) kernels[owner]!.transeMoves(16, 0.1, owner, threads);
      return work;
    }) as [TransEWork, TransEWork];
    expect(weights(shared)).toEqual(weights(alone));
    expect(weights(alone)).not.toEqual(weights(workOf({ norm, batchSize: 16 })));
  });

  test.each([1, 16])('draws what the generator of TypeScript draws, in batches of %i', (batchSize) => {
    const [work, plain] = [trainedBySimd({ batchSize }, 0.1), trainedPlainly({ batchSize }, 0.1)];
    // A row is moved, and its squares grow, where it was drawn and nowhere else.
    const touched = ({ state }: TransEWork) => Array.from(state.entitySquares, (square) => square > 0);
    expect(touched(work)).toEqual(touched(plain));
  });

  test('leaves a positive without any false answer alone', () => {
    const all = { heads: new Int32Array(9), relations: new Int32Array(9), tails: Int32Array.from(Array(9).keys()) };
    const settings = transeSettings.parse({ dim: 4, negatives: 5, loss: 'margin' });
    const state = createTransE({ numEntities: 9, numRelations: 1, settings, seed: 1 });
    const work = createWork({ settings, seed: 1, state, train: all }, 1);
    // All tails are corrupted: every answer is true.
    work.tailChance.fill(1);
    trainBySimd(work, 0.1);
    expect(work.state.table.entities).toEqual(state.table.entities);
  });

  test('leaves what it was given as it is, and trains a copy', async () => {
    const settings = transeSettings.parse({ dim: 8, margin: 4, negatives: 2, epochs: 1 });
    const resumeFrom = createTransE({ ...sizes, settings, seed: 1 });
    const { state } = await trainTransE({ ...sizes, train, settings, seed: 1, resumeFrom });
    expect(resumeFrom).toEqual(createTransE({ ...sizes, settings, seed: 1 }));
    expect(state.table.entities).not.toEqual(resumeFrom.table.entities);
  });
});

describe('the loss that it is compared with', () => {
  const negatives = [2.5, 4, 7, 5.5];

  test('is the mean hinge over negatives, or the log-sigmoid loss, by hand', () => {
    // positive 3: 2 + 3 − 2.5 = 2.5, 2 + 3 − 4 = 1, none for 7 and 5.5
    const hinge = lossOf({ loss: 'margin', margin: 2, temperature: 1 }, 3, negatives);
    expect(hinge).toEqual({ loss: (2.5 + 1) / 4, derivatives: [0.5, -0.25, -0.25, -0, -0].map((x) => x || 0) });
    const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
    const one = lossOf({ loss: 'self-adversarial', margin: 4, temperature: 0.7 }, 3, [2.5]);
    expect(one.loss).toBeCloseTo(-(Math.log(sigmoid(4 - 3)) + Math.log(sigmoid(2.5 - 4))) / 2);
  });

  test('pulls the positive alone where there are no negatives', () => {
    const none = lossOf({ loss: 'self-adversarial', margin: 1, temperature: 1 }, 1, []);
    expect(none.loss).toBeCloseTo(Math.log(2) / 2);
    expect(none.derivatives).toEqual([0.25]);
  });
});

/** One step on the triple (0, 1, 2) of nine entities, and the entities that it draws. */
function setUp(over: Partial<TransESettings>, corruptTail: boolean) {
  const settings = transeSettings.parse({
    dim: 7,
    margin: 4,
    negatives: 3,
    negativeCutoff: 0,
    temperature: 0,
    ...over,
  });
  const state = createTransE({ numEntities: 9, numRelations: 2, settings, seed: 3 });
  const work = createWork({ settings, seed: 3, state, train: columnsOf([[0, 1, 2]]) }, 1);
  work.tailChance.fill(Number(corruptTail));
  const rng = placeStream(work, 0, 0);
  rng.uniform();
  const negatives: number[] = [];
  while (negatives.length < settings.negatives) {
    const entity = rng.integer(9);
    if (entity !== (corruptTail ? 2 : 0)) negatives.push(entity);
  }
  return { settings, work, negatives };
}

function lossUnder(
  { table }: Pick<TransEState, 'table'>,
  settings: TransESettings,
  negatives: number[],
  corruptTail: boolean,
): number {
  const distances = negatives.map((entity) =>
    corruptTail ? -scoreTriple(table, 0, 1, entity) : -scoreTriple(table, entity, 1, 2),
  );
  return lossOf(settings, -scoreTriple(table, 0, 1, 2), distances).loss;
}

describe('one step of plain gradient descent', () => {
  // At temperature 0 the weights do not depend on the table, so the loss has the derivatives that the step follows.
  const cases = (['margin', 'self-adversarial'] as const).flatMap((loss) =>
    ([1, 2] as const).flatMap((norm) => [true, false].map((corruptTail) => ({ loss, norm, corruptTail }))),
  );
  test.each(cases)(
    'moves against the gradient: $loss, L$norm, corrupt tail $corruptTail',
    ({ corruptTail, ...over }) => {
      const { settings, work, negatives } = setUp({ ...over, optimizer: 'sgd' }, corruptTail);
      const { state, losses } = work;
      const learningRate = 2 ** -6;
      const before = withArrays(state.table, (numbers) => numbers.slice());
      const gradients = (['entities', 'relations'] as const).map((part) =>
        Float64Array.from(before[part], (value, i) => {
          const e = 2 ** -10;
          const at = (moved: number) => {
            state.table[part][i] = moved;
            return lossUnder(state, settings, negatives, corruptTail);
          };
          const grad = (at(value + e) - at(value - e)) / (Math.fround(value + e) - Math.fround(value - e));
          state.table[part][i] = value;
          return grad;
        }),
      );
      trainBySimd(work, learningRate);
      expect(losses[0]).toBeCloseTo(lossUnder({ table: before }, settings, negatives, corruptTail), 5);
      (['entities', 'relations'] as const).forEach((part, p) => {
        const moved = Array.from(before[part], (value, i) => (value - state.table[part][i]!) / learningRate);
        expect(furthest(moved, gradients[p]!)).toBeLessThan(5e-4);
      });
    },
  );
});

test('the set of triples holds what it was given and nothing else', () => {
  const rng = new Rng(2);
  const triples = Array.from({ length: 500 }, (): Ids => [rng.integer(20), rng.integer(20), rng.integer(20)]);
  const set = createTripleSet(columnsOf(triples));
  const found = new Set<string>();
  for (let h = 0; h < 20; h++)
    for (let r = 0; r < 20; r++) for (let t = 0; t < 20; t++) if (hasTriple(set, h, r, t)) found.add(`${h},${r},${t}`);
  expect(found).toEqual(new Set(triples.map(String)));
});

test.each([1, 4])('training stops at a batch of %i with numbers that are not finite', async (batchSize) => {
  const settings = transeSettings.parse({ dim: 6, margin: 4, negatives: 2, epochs: 3, batchSize });
  // Most entities have no triple: they are drawn as negatives, some time.
  const options = { numEntities: 120, numRelations: 2, train, settings, seed: 1 };
  const resumeFrom = createTransE(options);
  resumeFrom.table.entities[resumeFrom.table.entities.length - 1] = Infinity;
  await expect(trainTransE({ ...options, resumeFrom })).rejects.toMatchObject({
    message: expect.stringMatching(/^expected finite distances in float32, got NaN at index 0, at transe epoch [123]$/),
    hint: expect.stringMatching(/^Lower transe\.learningRate or transe\.margin\./),
  });
});
