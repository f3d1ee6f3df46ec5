import { describe, expect, test } from '@jest/globals';
import { scoreTriple } from '../../../src/embedding/transe.js';
import type { TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { withArrays } from '../../../src/run/shared-memory.js';
import { openShare } from '../../../trainers/transe/train-transe.js';
import { type TransESettings, transeSettings } from '../../../trainers/transe/settings.js';
import { createTripleSet, hasTriple } from '../../../trainers/transe/triples.js';
import { createTransE, createWork, placeStream, type TransEState } from '../../../trainers/transe/work.js';
import { lossOf } from '../../fixtures/transe-oracle.js';

const triples: TripleColumns = { heads: Int32Array.of(0), relations: Int32Array.of(1), tails: Int32Array.of(2) };

/** One step on the triple (0, 1, 2) of nine entities, and the entities that it draws. */
function setUp(over: Partial<TransESettings>, corruptTail = true) {
  const settings = transeSettings.parse({
    dim: 7,
    margin: 4,
    negatives: 3,
    negativeCutoff: 0,
    temperature: 0,
    ...over,
  });
  const state = createTransE({ numEntities: 9, numRelations: 2, settings, seed: 3 });
  const work = createWork({ settings, seed: 3, state, train: triples }, 1);
  work.tailChance.fill(Number(corruptTail));
  const rng = placeStream(work, 0, 0);
  rng.uniform();
  const negatives: number[] = [];
  while (negatives.length < settings.negatives) {
    const entity = rng.integer(9);
    if (entity !== (corruptTail ? 2 : 0)) negatives.push(entity);
  }
  const step = (learningRate: number) => {
    for (const _ of openShare(work).train({ thread: 0, threads: 1 }, 0, learningRate));
  };
  return { settings, state: work.state, losses: work.losses, negatives, step };
}

function lossUnder(
  { table }: TransEState,
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
      const { settings, state, losses, negatives, step } = setUp({ ...over, optimizer: 'sgd' }, corruptTail);
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
      step(learningRate);
      expect(losses[0]).toBeCloseTo(lossUnder({ ...state, table: before }, settings, negatives, corruptTail), 5);
      (['entities', 'relations'] as const).forEach((part, p) => {
        before[part].forEach((value, i) => {
          expect((value - state.table[part][i]!) / learningRate).toBeCloseTo(gradients[p]![i]!, 3);
        });
      });
    },
  );
});

describe('Adagrad', () => {
  test('first moves a row by the learning rate along the sign under L1, with one accumulator a row', () => {
    const { state, step, negatives } = setUp({ negatives: 1 });
    const [negative] = negatives;
    const before = state.table.entities.slice();
    step(0.1);
    for (const entity of [2, negative!].filter((row) => row !== 0)) {
      for (let k = 0; k < 7; k++) {
        expect(Math.abs(state.table.entities[entity * 7 + k]! - before[entity * 7 + k]!)).toBeCloseTo(0.1, 5);
      }
      expect(state.entitySquares[entity]!).toBeGreaterThan(0);
    }
    expect(state.entitySquares.filter((square) => square > 0).length).toBeLessThanOrEqual(3);
  });
});

describe('negatives', () => {
  test('below the cutoff are left alone', () => {
    const { state, step } = setUp({ negatives: 3, temperature: 1000, negativeCutoff: 0.01 });
    const before = state.table.entities.slice();
    step(0.1);
    const moved = [...Array(9).keys()].filter((row) => state.table.entities[row * 7] !== before[row * 7]);
    expect(moved.length).toBeLessThanOrEqual(3);
  });
});

test('the set of triples holds what it was given and nothing else', () => {
  const rng = new Rng(2);
  const column = () => Int32Array.from({ length: 500 }, () => rng.integer(20));
  const columns = { heads: column(), relations: column(), tails: column() };
  const set = createTripleSet(columns);
  const keys = new Set(columns.heads.map((_, i) => i));
  const names = new Set([...keys].map((i) => `${columns.heads[i]},${columns.relations[i]},${columns.tails[i]}`));
  for (let h = 0; h < 20; h++)
    for (let r = 0; r < 20; r++)
      for (let t = 0; t < 20; t++) expect(hasTriple(set, h, r, t)).toBe(names.has(`${h},${r},${t}`));
});
