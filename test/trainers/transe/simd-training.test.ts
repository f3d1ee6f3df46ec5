import { describe, expect, test } from '@jest/globals';
import type { TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { type TransESettings, transeSettings } from '../../../trainers/transe/settings.js';
import {
  createTransE,
  createWork,
  openTransEKernels,
  orderEpoch,
  type TransEWork,
} from '../../../trainers/transe/work.js';
import { trainTransE, openShare } from '../../../trainers/transe/train-transe.js';
import { lossOf, trainEpochPlainly } from '../../fixtures/transe-oracle.js';

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

const kinds = (['self-adversarial', 'margin'] as const).flatMap((loss) =>
  ([1, 2] as const).flatMap((norm) =>
    (['adagrad', 'sgd'] as const).flatMap((optimizer) =>
      [7, 40].flatMap((dim) => [1, 16].map((batchSize) => ({ loss, norm, optimizer, dim, batchSize }))),
    ),
  ),
);

function trainedBySimd(over: Partial<TransESettings>, learningRate: number): TransEWork {
  const work = workOf(over);
  for (const _ of openShare(work).train({ thread: 0, threads: 1 }, 0, learningRate));
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
    expect(Math.max(...expected.map((value, i) => Math.abs(value - begun[i]!)))).toBeGreaterThan(0.01);
    weights(simd).forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 4));
    simd.losses.forEach((loss, i) => expect(loss).toBeCloseTo(plain.losses[i]!, 4));
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
    for (const _ of openShare(work).train({ thread: 0, threads: 1 }, 0, 0.1));
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
