import { expect, test } from '@jest/globals';
import { freshBilinear, graphQueries } from '../../../../agents/embeddings/bilinear-step.js';
import { memory } from '../../../../agents/readers/embed-kgqa/fitted-table.js';
import { answerRanking, wantedRelations } from '../../../../agents/readers/embed-kgqa/ranking.js';
import { composeQuery } from '../../../../src/embedding/bilinear.js';
import { Graph } from '../../../../src/kg/graph.js';

/** 0 –a→ 1 –b→ 2, 0 –b→ 3 –a→ 2; 4 stands apart. */
const graph = new Graph('five', ['t', 'x', 'y', 'z', 'far'], ['a', 'b', 'c'], {
  heads: Int32Array.of(0, 1, 0, 3, 4),
  relations: Int32Array.of(0, 1, 1, 0, 2),
  tails: Int32Array.of(1, 2, 3, 2, 4),
});
const dim = 8;
const { arena, kernels } = memory();
const { table } = arena.hold(freshBilinear({ model: 'complex', dim }, { numEntities: 5, numRelations: 3, seed: 6 }));
const vector = Float32Array.from({ length: dim }, (_, k) => 30 * Math.cos(k));
const scores = (() => {
  const query = new Float64Array(dim);
  composeQuery({ ...table, relations: vector }, 0, 0, query, 0);
  return Array.from({ length: 5 }, (_, entity) =>
    query.reduce((sum, value, k) => sum + value * table.entities[entity * dim + k]!, 0),
  );
})();
const byScore = (entities: number[], more = (_entity: number) => 0) =>
  [...entities].sort((p, q) => scores[q]! + more(q) - scores[p]! - more(p));
const ranked = (
  settings: { candidates?: 'all' | 'reach'; matching?: number; keep?: number },
  relations = new Float32Array(0),
  hops = 3,
) =>
  answerRanking(
    table,
    graph,
    { candidates: 'all', matching: 0, keep: 1e-9, ...settings },
    hops,
    arena,
    kernels,
  )(vector, relations, 0, [0]);

test('all entities but those that are excluded are ranked by ComplEx', () => {
  expect(ranked({}).entities).toEqual(byScore([1, 2, 3, 4]));
  expect(ranked({}).confidence).toBeCloseTo(1, 6);
});

test('candidates=reach leaves out what the hops do not reach', () => {
  expect(ranked({ candidates: 'reach' }).entities).toEqual(byScore([1, 2, 3]));
  expect(ranked({ candidates: 'reach' }, undefined, 1).entities).toEqual(byScore([1, 3]));
});

test('matching adds for each relation that is wanted on the best shortest path', () => {
  const logits = Float32Array.of(0.1, 2, -1);
  const matches = [0, 1, 2, 1, 0];
  const { entities, wanted } = ranked({ matching: 5 }, logits);
  expect(wanted).toEqual([1, 0]);
  expect(entities).toEqual(byScore([1, 2, 3, 4], (entity) => 5 * matches[entity]!));
  expect(entities[0]).toBe(2);
});

test('entities likely enough relative to the first are answers, too', () => {
  const odds = scores.map((score, entity) => (entity === 0 ? 0 : Math.exp(score)));
  const [first, second] = byScore([1, 2, 3, 4]);
  const ratio = odds[second!]! / odds[first!]!;
  expect(ranked({ keep: 1 }).entities).toEqual([first]);
  expect(ranked({ keep: Math.min(1, ratio * 1.01) }).entities).toEqual([first]);
  expect(ranked({ keep: ratio * 0.99 }).entities.slice(0, 2)).toEqual([first, second]);
  expect(ranked({ keep: 1 }).confidence).toBeCloseTo(odds[first!]! / odds.reduce((sum, one) => sum + one, 0), 5);
});

test('five relations are matched at most, the likeliest', () => {
  expect(wantedRelations(Float32Array.of(1, 2, 3, -1, 4, 5, 6, 0))).toEqual([6, 5, 4, 2, 1]);
});

test('queries of a graph are its edges by head and relation', () => {
  const { givens, relations, offsets, answers } = graphQueries(graph);
  const listed = Array.from(givens, (given, q) => [
    given,
    relations[q],
    [...answers.subarray(offsets[q], offsets[q + 1])],
  ]);
  expect(listed).toEqual([
    [0, 0, [1]],
    [0, 1, [3]],
    [1, 1, [2]],
    [3, 0, [2]],
    [4, 2, [4]],
  ]);
});
