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
import { trainTransE } from '../../../trainers/transe/train-transe.js';
import { openShare } from '../../../trainers/transe/crew.js';

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

describe('an epoch by SIMD', () => {
  test.each(kinds)('is that of the plain kernel, up to rounding: %o', (kind) => {
    const trained = (['simd', 'plain'] as const).map((kernel) => {
      const work = workOf({ ...kind, kernel, learningRate: 0.02, bernoulli: kind.dim === 7 });
      for (const _ of openShare(work).train({ thread: 0, threads: 1 }, 0, 0.02));
      return work;
    });
    const [simd, plain] = trained.map(weights) as [number[], number[]];
    const begun = weights(workOf({ ...kind, kernel: 'plain' }));
    expect(Math.max(...plain.map((value, i) => Math.abs(value - begun[i]!)))).toBeGreaterThan(0.01);
    simd.forEach((value, i) => expect(value).toBeCloseTo(plain[i]!, 4));
    trained[0]!.losses.forEach((loss, i) => expect(loss).toBeCloseTo(trained[1]!.losses[i]!, 4));
  });

  test.each([1, 2] as const)('moves the same rows to the same bits whoever owns them, L%i', (norm) => {
    const [alone, shared] = [1, 3].map((threads) => {
      const work = workOf({ norm, batchSize: 16 }, threads);
      const { byteOffset } = work.order;
      work.simd!.streams.forEach((_, i, all) => (all[i] = i + 1));
      const kernels = Array.from({ length: threads }, (_, thread) => openTransEKernels(work, thread));
      kernels.forEach((one, thread) => expect(one.transeGradients(byteOffset, 16, thread, threads)).toBe(16));
      for (const owner of [...kernels.keys()].reverse()) kernels[owner]!.transeMoves(16, 0.1, owner, threads);
      return work;
    }) as [TransEWork, TransEWork];
    expect(weights(shared)).toEqual(weights(alone));
    expect(weights(alone)).not.toEqual(weights(workOf({ norm, batchSize: 16 })));
  });

  test.each([1, 16])('draws what the generator of TypeScript draws, in batches of %i', (batchSize) => {
    const work = workOf({ kernel: 'simd', batchSize });
    for (const _ of openShare(work).train({ thread: 0, threads: 1 }, 0, 0.1));
    const plain = workOf({ kernel: 'plain', batchSize });
    for (const _ of openShare(plain).train({ thread: 0, threads: 1 }, 0, 0.1));
    // A row is moved, and its squares grow, where it was drawn and nowhere else.
    const touched = ({ state }: TransEWork) => Array.from(state.entitySquares, (square) => square > 0);
    expect(touched(work)).toEqual(touched(plain));
  });

  test('leaves a positive without any false answer alone', () => {
    const all = { heads: new Int32Array(9), relations: new Int32Array(9), tails: Int32Array.from(Array(9).keys()) };
    const settings = transeSettings.parse({ dim: 4, negatives: 5, loss: 'margin', kernel: 'simd' });
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
