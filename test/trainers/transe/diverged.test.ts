import { expect, test } from '@jest/globals';
import type { TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { transeSettings } from '../../../trainers/transe/settings.js';
import { trainTransE } from '../../../trainers/transe/train-transe.js';
import { createTransE } from '../../../trainers/transe/work.js';

const rng = new Rng(5);
const column = (n: number) => Int32Array.from({ length: 80 }, () => rng.integer(n));
const train: TripleColumns = { heads: column(20), relations: column(3), tails: column(20) };

test.each([1, 4])('training stops at a batch of %i with numbers that are not finite', async (batchSize) => {
  const settings = transeSettings.parse({ dim: 6, margin: 4, negatives: 2, epochs: 3, batchSize });
  // Most entities have no triple: they are drawn as negatives, some time.
  const options = { numEntities: 120, numRelations: 3, train, settings, seed: 1 };
  const poisoned = createTransE(options);
  const index = poisoned.table.entities.length - 1;
  poisoned.table.entities[index] = Infinity;
  await expect(trainTransE({ ...options, resumeFrom: poisoned })).rejects.toMatchObject({
    message: expect.stringMatching(/^expected finite distances in float32, got NaN at index 0, at transe epoch [123]$/),
    hint: expect.stringMatching(/^Lower transe\.learningRate or transe\.margin\./),
  });
});
