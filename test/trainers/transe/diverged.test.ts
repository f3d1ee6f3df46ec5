import { expect, test } from '@jest/globals';
import type { TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { Diverged } from '../../../src/tensor/diverged.js';
import { transeSettings } from '../../../trainers/transe/settings.js';
import { trainTransE } from '../../../trainers/transe/train-transe.js';
import { createTransE } from '../../../trainers/transe/work.js';

const rng = new Rng(5);
const column = (n: number) => Int32Array.from({ length: 80 }, () => rng.integer(n));
const train: TripleColumns = { heads: column(20), relations: column(3), tails: column(20) };

test.each([1, 4])(
  'training stops before weights follow a batch of %i whose numbers are not finite',
  async (batchSize) => {
    const settings = transeSettings.parse({ dim: 6, margin: 4, negatives: 2, epochs: 3, batchSize });
    // Most entities have no triple: they are drawn as negatives, some time.
    const options = { numEntities: 120, numRelations: 3, train, settings, seed: 1 };
    const poisoned = createTransE(options);
    const index = poisoned.table.entities.length - 1;
    poisoned.table.entities[index] = Infinity;
    const error = await trainTransE({ ...options, resumeFrom: poisoned }).catch((cause: Diverged) => cause);
    expect(error).toBeInstanceOf(Diverged);
    const { first, place } = (error as Diverged).step;
    // The first of the table that is not finite: no row before it has followed.
    expect(first).toEqual({ tensor: 'entities', index, value: Infinity });
    expect(place.triple).toBeGreaterThan(batchSize);
  },
);
