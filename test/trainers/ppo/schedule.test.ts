import { describe, expect, test } from '@jest/globals';
import { entropyCoefAt } from '../../../trainers/ppo.js';
import { sampleOrder } from '../../../trainers/rollout.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';

describe('the samples of updates', () => {
  const walkable = Int32Array.of(2, 3, 5, 7, 11, 13, 17);

  test.each([1, 3, 7, 10])('cover every walkable sample once a pass, %i at a time', (count) => {
    const samplesOf = sampleOrder(walkable, count, 4);
    const updates = Array.from({ length: 21 }, (_, update) => samplesOf(update));
    expect(updates.every((samples) => samples.length === count)).toBe(true);
    const drawn = updates.flat();
    for (let pass = 0; (pass + 1) * 7 <= drawn.length; pass++) {
      expect(drawn.slice(pass * 7, (pass + 1) * 7).sort((a, b) => a - b)).toEqual([...walkable]);
    }
  });

  test('are the same in any order of updates', () => {
    const samplesOf = sampleOrder(walkable, 5, 4);
    const backwards = [3, 2, 0, 1, 3].map((update) => samplesOf(update));
    expect(backwards).toEqual([3, 2, 0, 1, 3].map((update) => sampleOrder(walkable, 5, 4)(update)));
  });

  test('come in another order at each pass and seed', () => {
    const orders = [0, 1, 2].map((pass) => sampleOrder(walkable, 7, 4)(pass).join());
    expect(new Set([...orders, sampleOrder(walkable, 7, 5)(0).join()]).size).toBe(4);
  });
});

test('the entropy bonus stays, or falls linearly towards 0 after the last update', () => {
  const weights = (entropyDecay: 'none' | 'linear') => {
    const settings = ppoSettings.parse({ entropyCoef: 0.02, entropyDecay, updates: 4 });
    return [0, 1, 2, 3].map((update) => entropyCoefAt(update, settings));
  };
  expect(weights('none')).toEqual([0.02, 0.02, 0.02, 0.02]);
  weights('linear').forEach((weight, i) => expect(weight).toBeCloseTo([0.02, 0.015, 0.01, 0.005][i]!, 12));
});
