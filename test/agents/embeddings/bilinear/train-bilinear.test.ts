import { describe, expect, test } from '@jest/globals';
import { createBilinearStep, createCandidates, queryGroups } from '../../../../agents/embeddings/bilinear/step.js';
import { bilinearRanks, composeQuery } from '../../../../src/embedding/bilinear.js';
import { knownAnswers } from '../../../../src/embedding/known-answers.js';
import { bilinearScorer, sidedLinkMetrics } from '../../../../src/embedding/scorers.js';
import { Rng } from '../../../../src/run/seeds.js';
import { Arena } from '../../../../src/nn/simd/arena.js';
import { openKernels } from '../../../../src/nn/simd/kernels.js';
import { bilinearSettings } from '../../../../agents/embeddings/bilinear/settings.js';
import {
  type BilinearState,
  createBilinear,
  trainBilinear,
} from '../../../../agents/embeddings/bilinear/train-bilinear.js';
import { ranksByScores } from '../../../fixtures/rank-of.js';
import { tinyLinkWorld } from '../../../fixtures/tiny-links.js';
import { columnsOf, idsOf } from '../../../fixtures/triple-columns.js';

const { graph, train, valid, test: tested, known } = tinyLinkWorld();
const { numEntities, numRelations } = graph;
const data = { numEntities, numRelations, train, valid };
const settings = bilinearSettings.parse({ dim: 16, epochs: 12, evalEvery: 4, batchSize: 8, negatives: 6 });

test('queries are both directions of every triple, each once with all its answers', () => {
  const { givens, relations, offsets, answers } = queryGroups(columnsOf(idsOf('3 0 2, 1 1 3, 3 0 1, 3 0 2')), 2);
  const queries = Array.from(givens, (given, q) => [
    given,
    relations[q],
    [...answers.subarray(offsets[q], offsets[q + 1])],
  ]);
  expect(queries).toEqual([
    [1, 1, [3]],
    [1, 2, [3]],
    [2, 2, [3]],
    [3, 0, [1, 2]],
    [3, 3, [1]],
  ]);
});

test('candidates are the answers of the batch and some drawn, each once', () => {
  const groups = queryGroups(train, numRelations / 2);
  const candidates = createCandidates(groups, { numEntities, negatives: 3, batchSize: 4 }, (n) => new Int32Array(n));
  for (let batch = 0; batch < 5; batch++) {
    const queries = Int32Array.of(batch, batch + 5, batch + 9);
    candidates.draw(queries, Rng.named(batch, 'draw'));
    const ids = [...candidates.ids.subarray(0, candidates.count)];
    expect(new Set(ids).size).toBe(ids.length);
    expect(candidates.count).toBeLessThanOrEqual(candidates.most);
    for (const q of queries) {
      const wanted = [...groups.answers.subarray(groups.offsets[q], groups.offsets[q + 1])];
      expect(Array.from(candidates.placesOf(q), (index) => ids[index])).toEqual(wanted);
    }
  }
});

describe.each(['complex', 'distmult'] as const)('a step of %s', (model) => {
  /** The loss of all queries against all entities, regularisation included, a true triple. */
  function lossOf({ table }: Pick<BilinearState, 'table'>, regularization: number): number {
    const groups = queryGroups(train, numRelations / 2);
    const scorer = bilinearScorer(table);
    const scores = new Float64Array(numEntities);
    let loss = 0;
    groups.givens.forEach((given, q) => {
      const relation = groups.relations[q]!;
      scorer.scoreTails(given, relation, scores);
      const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
      const cubes = (rows: Float32Array, row: number) => {
        let sum = 0;
        for (let k = 0; k < table.dim; k++) {
          const at = row * table.dim + k;
          const half = table.dim / 2;
          if (model === 'distmult') sum += Math.abs(rows[at]!) ** 3;
          else if (k < half) sum += Math.hypot(rows[at]!, rows[at + half]!) ** 3;
        }
        return regularization * sum;
      };
      for (let a = groups.offsets[q]!; a < groups.offsets[q + 1]!; a++) {
        const answer = groups.answers[a]!;
        loss += total - scores[answer]! + cubes(table.entities, given) + cubes(table.relations, relation);
        loss += cubes(table.entities, answer);
      }
    });
    return loss / groups.answers.length;
  }

  test('moves each number by the learning rate against its gradient, at first', () => {
    const regularization = 0.05;
    const one = { ...settings, model, dim: 8, negatives: 1000, batchSize: 1000, regularization };
    const arena = new Arena();
    const fresh = createBilinear(one, { numEntities, numRelations, seed: 7 });
    fresh.table.entities.forEach((value, i) => (fresh.table.entities[i] = 10 * value));
    fresh.table.relations.forEach((value, i) => (fresh.table.relations[i] = 10 * value));
    const state = arena.hold(fresh);
    const groups = queryGroups(train, numRelations / 2);
    const step = createBilinearStep({ arena, kernels: openKernels(arena.memory), state, groups, settings: one });
    const plain = lossOf(fresh, 0);
    const loss = step.train(Int32Array.from(groups.givens.keys()), 0.01, Rng.named(0, 'unused'));
    expect(loss).toBeCloseTo(plain, 4);
    // Adagrad's first squares are those of the gradient itself: what it was is read there, with the sign of the move.
    for (const part of ['entities', 'relations'] as const) {
      const squares = part === 'entities' ? state.entitySquares : state.relationSquares;
      const values = fresh.table[part];
      for (let i = 0; i < values.length; i += 3) {
        const value = values[i]!;
        values[i] = value + 1 / 64;
        const above = lossOf(fresh, regularization);
        values[i] = value - 1 / 64;
        const below = lossOf(fresh, regularization);
        values[i] = value;
        const grad = (above - below) * 32;
        const gradient = Math.sqrt(squares[i]!) * -Math.sign(state.table[part][i]! - value);
        expect(gradient).toBeCloseTo(grad, 3);
      }
    }
  });
});

describe('training', () => {
  test('learns what train says', async () => {
    const all = { ...settings, negatives: 1000, regularization: 0, epochs: 60, patience: 100 };
    const { table } = await trainBilinear({ ...data, valid: train, settings: all, seed: 1 });
    expect(sidedLinkMetrics(bilinearRanks(table, train, knownAnswers([train]))).both.mrr).toBeGreaterThan(0.95);
  });

  test('gives equal bytes from equal seeds, and others from another', async () => {
    const once = await trainBilinear({ ...data, settings, seed: 5 });
    const again = await trainBilinear({ ...data, settings, seed: 5 });
    const other = await trainBilinear({ ...data, settings, seed: 6 });
    expect(again.table.entities).toEqual(once.table.entities);
    expect(again.metrics).toEqual(once.metrics);
    expect(other.table.entities).not.toEqual(once.table.entities);
  });

  test('stops when validations gain nothing, with the best weights', async () => {
    const epochs: number[] = [];
    const { metrics, state } = await trainBilinear({
      ...{ ...data, settings: { ...settings, learningRate: 1e-9, patience: 2 }, seed: 5 },
      onEpoch: ({ epoch }) => epochs.push(epoch),
    });
    expect(epochs.at(-1)).toBe(12);
    expect(state.best?.epoch).toBe(4);
    expect(metrics).toEqual(state.best?.metrics);
  });

  test('stops at a loss that is not finite', async () => {
    const resumeFrom = createBilinear(settings, { numEntities, numRelations, seed: 0 });
    resumeFrom.table.entities[3] = NaN;
    await expect(trainBilinear({ ...data, settings, seed: 0, resumeFrom })).rejects.toThrow(
      'expected finite entities, got NaN at index 3',
    );
  });
});

test('ranks by kernels are those of scores one by one', () => {
  const { table } = createBilinear({ model: 'complex', dim: 16 }, { numEntities, numRelations, seed: 3 });
  // Whole numbers have the same sums in float32 and float64; two entities tie.
  for (const rows of [table.entities, table.relations]) rows.forEach((v, i) => (rows[i] = Math.round(v * 30)));
  table.entities.copyWithin(0, 16, 32);
  const scorer = bilinearScorer(table);
  for (const triples of [tested, train])
    expect(scorer.ranks(triples, known)).toEqual(ranksByScores(scorer, triples, known));
  const query = new Float64Array(16);
  composeQuery(table, 4, 2, query, 0);
  expect(scorer.score(4, 2, 5)).toBe(query.reduce((sum, one, k) => sum + one * table.entities[5 * 16 + k]!, 0));
});
