import { expect, test } from '@jest/globals';
import type { TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { withArrays } from '../../../src/run/shared-memory.js';
import { Diverged } from '../../../src/tensor/diverged.js';
import { repeatBatch, trainTransE } from '../../../trainers/transe/train-transe.js';
import { transeSettings } from '../../../trainers/transe/settings.js';
import { createTransE, createWork, type TransEState } from '../../../trainers/transe/work.js';

/** Arrays in shared memory are not copied by `structuredClone`. */
const copyOf = (state: TransEState) => withArrays(state, (numbers) => numbers.slice());

const rng = new Rng(5);
const column = (n: number) => Int32Array.from({ length: 80 }, () => rng.integer(n));
const train: TripleColumns = { heads: column(20), relations: column(3), tails: column(20) };

test.each([
  [1, 'simd'],
  [4, 'simd'],
  [1, 'plain'],
  [4, 'plain'],
] as const)(
  'a batch of %i whose numbers are not finite is left undone, and can be made again, %s',
  async (batchSize, kernel) => {
    const settings = transeSettings.parse({ dim: 6, margin: 4, negatives: 2, epochs: 3, batchSize, kernel });
    // Most entities have no triple: they come in as negatives, some time.
    const options = { numEntities: 120, numRelations: 3, train, settings, seed: 1 };
    const poisoned = createTransE(options);
    const index = poisoned.table.entities.length - 1;
    poisoned.table.entities[index] = Infinity;
    let before: TransEState | undefined;
    const onDiverged = (error: Diverged, state: TransEState) => ((before = copyOf(state)), error);
    const error = await trainTransE({ ...options, resumeFrom: poisoned, onDiverged }).then(
      () => undefined,
      (cause: Diverged) => cause,
    );
    expect(error).toBeInstanceOf(Diverged);
    const { first, place, samples, loss } = error!.step;
    expect(first).toEqual({ tensor: 'entities', index, value: Infinity });
    // Nothing has followed it: what was poisoned is all that is not finite.
    const { entities, relations } = before!.table;
    expect([...entities, ...relations].filter((value) => !Number.isFinite(value))).toEqual([Infinity]);
    // Batches before it were trained.
    expect(place.triple).toBeGreaterThan(batchSize);
    expect(entities.subarray(0, 120)).not.toEqual(createTransE(options).table.entities.subarray(0, 120));
    const begin = Math.floor((place.triple! - 1) / batchSize) * batchSize;
    expect(samples).toHaveLength(batchSize);
    expect(samples![place.triple! - 1 - begin]!.loss).toBe(loss);

    const work = createWork({ ...options, state: copyOf(before!) }, 1);
    expect(() => repeatBatch(work, begin)).toThrow(error!.message);
    expect(work.state).toEqual(before);
    // The same batch, its draws included, is finite once the poison is gone.
    work.state.table.entities[index] = 0;
    expect(repeatBatch(work, begin)).toBeGreaterThan(0);
  },
);
