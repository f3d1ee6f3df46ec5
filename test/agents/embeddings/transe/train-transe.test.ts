import { describe, expect, test } from '@jest/globals';
import { knownAnswers } from '../../../../src/embedding/known-answers.js';
import { linkMetrics, linkRanks } from '../../../../src/embedding/rank-links.js';
import { withArrays } from '../../../../src/run/worker-pool.js';
import { type TransESettings, transeSettings } from '../../../../agents/embeddings/transe/settings.js';
import { trainTransE } from '../../../../agents/embeddings/transe/train-transe.js';
import type { TransEState } from '../../../../agents/embeddings/transe/work.js';
import { columnsOf, type Ids } from '../../../fixtures/triple-columns.js';

/** A grid of 6 by 5: `right` and `down` are translations, so TransE can fit them exactly. */
const train = columnsOf(
  Array.from({ length: 30 }, (_, at) => at).flatMap((at): Ids[] => [
    ...(at < 25 ? [[at, 0, at + 5] as const] : []),
    ...(at % 5 < 4 ? [[at, 1, at + 1] as const] : []),
  ]),
);

const sizes = { numEntities: 30, numRelations: 2 };
const settingsOf = (over: Partial<TransESettings> = {}) =>
  transeSettings.parse({ dim: 16, negatives: 8, epochs: 6, evalEvery: 2, patience: 5, ...over });

describe('training', () => {
  test.each([
    { loss: 'self-adversarial', margin: 4 },
    { loss: 'margin', margin: 1 },
    { loss: 'self-adversarial', margin: 2, norm: 2 },
    { loss: 'self-adversarial', margin: 4, batchSize: 8 },
  ] as const)('learns a small world to MRR 1: %o', async (over) => {
    const settings = settingsOf({ ...over, epochs: 300 });
    const { table } = await trainTransE({ ...sizes, train, settings, seed: 1 });
    expect(linkMetrics(linkRanks(table, train, knownAnswers([train]))).mrr).toBe(1);
  });

  test('is the same for the same seed, and another for another', async () => {
    const run = async (seed: number) =>
      (await trainTransE({ ...sizes, train, settings: settingsOf(), seed })).table.entities;
    expect(await run(5)).toEqual(await run(5));
    expect(await run(5)).not.toEqual(await run(6));
  });

  test.each([1, 8])('resumes from any epoch to the same bytes, in batches of %i', async (batchSize) => {
    const options = { ...sizes, train, valid: train, settings: settingsOf({ batchSize }), seed: 2 };
    let kept: TransEState | undefined;
    const whole = await trainTransE({
      ...options,
      onEpoch: ({ epoch }, state) => {
        if (epoch === 3) kept = withArrays(state, (numbers) => numbers.slice());
      },
    });
    expect(kept!.epoch).toBe(3);
    const resumed = await trainTransE({ ...options, resumeFrom: kept! });
    expect(resumed.state).toEqual(whole.state);
    expect(resumed.table).toEqual(whole.table);
  });

  test('B-EMB-1: stops without a gain and returns the best weights', async () => {
    const { state, table, metrics, stopped } = await trainTransE({
      ...sizes,
      train,
      valid: train,
      // Far too long steps: validation does not keep rising.
      settings: settingsOf({ epochs: 400, evalEvery: 1, patience: 3, learningRate: 3, schedule: 'constant' }),
      seed: 1,
    });
    expect(stopped).toBe(false);
    expect(state.epoch).toBe(state.best!.epoch + 3);
    expect(linkMetrics(linkRanks(table, train, knownAnswers([train])))).toEqual(metrics);
  });

  test('reports a falling loss and a falling learning rate', async () => {
    const losses: number[] = [];
    const rates: number[] = [];
    await trainTransE({
      ...sizes,
      train,
      settings: settingsOf({ epochs: 40 }),
      seed: 1,
      onEpoch: ({ loss, learningRate }) => {
        losses.push(loss);
        rates.push(learningRate);
      },
    });
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 2);
    expect(rates[0]).toBe(0.1);
    expect(rates.at(-1)!).toBeCloseTo(0.1 / 40);
  });
});
