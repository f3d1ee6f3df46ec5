import { describe, expect, test } from '@jest/globals';
import { tripleDistance } from '../../../src/embedding/transe.js';
import type { TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { lossValue } from '../../../trainers/transe/losses.js';
import { type TransESettings, transeSettings } from '../../../trainers/transe/settings.js';
import { createStep } from '../../../trainers/transe/plain.js';
import { createTransE, type TransEState } from '../../../trainers/transe/work.js';
import { createTripleSet, hasTriple } from '../../../trainers/transe/triples.js';

const triples: TripleColumns = {
  heads: Int32Array.of(0, 3),
  relations: Int32Array.of(1, 0),
  tails: Int32Array.of(2, 4),
};

function setUp(over: Partial<TransESettings>) {
  const settings = transeSettings.parse({
    dim: 7,
    margin: 4,
    negatives: 3,
    negativeCutoff: 0,
    temperature: 0,
    ...over,
  });
  const state = createTransE({ numEntities: 9, numRelations: 2, settings, seed: 3 });
  const step = createStep({ state, settings, triples, known: createTripleSet(triples) });
  return { settings, state, step };
}

/** The negatives that the step draws from an equal generator. */
function drawnNegatives(rng: Rng, count: number, known: (entity: number) => boolean): number[] {
  const drawn: number[] = [];
  while (drawn.length < count) {
    const entity = rng.integer(9);
    if (!known(entity)) drawn.push(entity);
  }
  return drawn;
}

function lossOf({ table }: TransEState, settings: TransESettings, negatives: number[], corruptTail: boolean): number {
  const distances = Float64Array.from(negatives, (entity) =>
    corruptTail ? tripleDistance(table, 0, 1, entity) : tripleDistance(table, entity, 1, 2),
  );
  return lossValue(settings, tripleDistance(table, 0, 1, 2), distances, 3, new Float64Array(3));
}

describe('one step of plain gradient descent', () => {
  // At temperature 0 the weights do not depend on the table, so the loss has the derivatives that the step follows.
  const cases = (['margin', 'self-adversarial'] as const).flatMap((loss) =>
    ([1, 2] as const).flatMap((norm) => [true, false].map((corruptTail) => ({ loss, norm, corruptTail }))),
  );
  test.each(cases)(
    'moves against the gradient: $loss, L$norm, corrupt tail $corruptTail',
    ({ corruptTail, ...over }) => {
      const { settings, state, step } = setUp({ ...over, optimizer: 'sgd' });
      const negatives = drawnNegatives(new Rng(11), 3, (entity) => entity === (corruptTail ? 2 : 0));
      const learningRate = 2 ** -6;
      const before = structuredClone(state.table);
      const gradients = (['entities', 'relations'] as const).map((part) =>
        Float64Array.from(before[part], (value, i) => {
          const e = 2 ** -10;
          const at = (moved: number) => {
            state.table[part][i] = moved;
            return lossOf(state, settings, negatives, corruptTail);
          };
          const grad = (at(value + e) - at(value - e)) / (Math.fround(value + e) - Math.fround(value - e));
          state.table[part][i] = value;
          return grad;
        }),
      );
      step.train(0, corruptTail, learningRate, new Rng(11));
      expect(step.lastLoss()).toBeCloseTo(lossOf({ ...state, table: before }, settings, negatives, corruptTail), 5);
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
    const { state, step } = setUp({ negatives: 1 });
    const before = state.table.entities.slice();
    const [negative] = drawnNegatives(new Rng(4), 1, (entity) => entity === 2);
    step.train(0, true, 0.1, new Rng(4));
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
  test('are never true triples, and a triple without any false answer trains without them', () => {
    const all: TripleColumns = {
      heads: Int32Array.from({ length: 9 }, () => 0),
      relations: new Int32Array(9),
      tails: Int32Array.from({ length: 9 }, (_, i) => i),
    };
    const settings = transeSettings.parse({ dim: 4, negatives: 5, loss: 'margin' });
    const state = createTransE({ numEntities: 9, numRelations: 1, settings, seed: 1 });
    const before = state.table.entities.slice();
    const step = createStep({ state, settings, triples: all, known: createTripleSet(all) });
    step.train(4, true, 0.1, new Rng(1));
    expect(state.table.entities).toEqual(before);
    expect(step.lastLoss()).toBe(0);
  });

  test('below the cutoff are left alone', () => {
    const { state, step } = setUp({ negatives: 3, temperature: 50, negativeCutoff: 0.01 });
    const before = state.table.entities.slice();
    step.train(0, true, 0.1, new Rng(11));
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
