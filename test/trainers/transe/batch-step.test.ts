import { describe, expect, test } from '@jest/globals';
import type { TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { createBatchMoves, createTransE } from '../../../trainers/transe/work.js';
import { createBatchStep, createStep } from '../../../trainers/transe/plain.js';
import { type TransESettings, transeSettings } from '../../../trainers/transe/settings.js';
import { createTripleSet } from '../../../trainers/transe/triples.js';

/** Twelve triples over nine entities: rows are used several times in a batch. */
const rng = new Rng(8);
const column = (n: number) => Int32Array.from({ length: 12 }, () => rng.integer(n));
const triples: TripleColumns = { heads: column(9), relations: column(2), tails: column(9) };
const places = [...triples.heads.keys()];

function setUp(over: Partial<TransESettings>) {
  const settings = transeSettings.parse({ dim: 7, margin: 4, negatives: 3, ...over });
  const state = createTransE({ numEntities: 9, numRelations: 2, settings, seed: 3 });
  const options = { state, settings, triples, known: createTripleSet(triples) };
  const batch = createBatchMoves(12, { ...settings, batchSize: 12 });
  const arrays = () => [state.table.entities, state.table.relations, state.entitySquares, state.relationSquares];
  return { options, batch, arrays };
}

/** Takes the gradients of all twelve; each place draws from a generator of its own. */
function gradientsOfAll(step: ReturnType<typeof createBatchStep>): void {
  for (const place of places) step.gradients(place, place, place % 3 === 0, new Rng(place));
}

const kinds = (['self-adversarial', 'margin'] as const).flatMap((loss) =>
  ([1, 2] as const).flatMap((norm) => (['adagrad', 'sgd'] as const).map((optimizer) => ({ loss, norm, optimizer }))),
);

describe.each(kinds)('a batch step, $loss, L$norm, $optimizer', (kind) => {
  test('of one triple is the step of that triple, to the bit', () => {
    const [alone, batched] = [setUp(kind), setUp(kind)];
    const one = createStep(alone.options);
    const many = createBatchStep(batched.options, batched.batch);
    for (const place of places) {
      one.train(place, place % 2 === 0, 0.1, new Rng(place));
      many.gradients(0, place, place % 2 === 0, new Rng(place));
      expect(many.lastLoss()).toBe(one.lastLoss());
      many.apply(1, 0.1, 0, 1);
    }
    expect(batched.arrays()).toEqual(alone.arrays());
  });

  test('moves the same rows to the same bits whoever owns them, in whatever order the owners come', () => {
    const [alone, shared] = [setUp(kind), setUp(kind)];
    const whole = createBatchStep(alone.options, alone.batch);
    const part = createBatchStep(shared.options, shared.batch);
    gradientsOfAll(whole);
    gradientsOfAll(part);
    whole.apply(12, 0.1, 0, 1);
    for (const owner of [2, 0, 1]) part.apply(12, 0.1, owner, 3);
    expect(shared.arrays()).toEqual(alone.arrays());
  });
});

test('a batch step of plain descent adds the moves that each triple would make alone from the same weights', () => {
  const kind = { optimizer: 'sgd', loss: 'margin' } as const;
  const start = setUp(kind).arrays()[0]!;
  const sums = new Float64Array(start.length);
  for (const place of places) {
    const { options, arrays } = setUp(kind);
    createStep(options).train(place, place % 3 === 0, 0.01, new Rng(place));
    arrays()[0]!.forEach((value, i) => (sums[i]! += value - start[i]!));
  }
  const { options, batch, arrays } = setUp(kind);
  const step = createBatchStep(options, batch);
  gradientsOfAll(step);
  step.apply(12, 0.01, 0, 1);
  arrays()[0]!.forEach((value, i) => expect(value - start[i]!).toBeCloseTo(sums[i]!, 5));
});
