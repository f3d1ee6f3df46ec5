/** Generated graphs, and how relations of a graph meet, against sets of its edges. */
import { expect, test } from '@jest/globals';
import { generatedGraph } from '../../../agents/exact-walker/messages/generated-graphs.js';
import { relationGraph } from '../../../agents/exact-walker/messages/relation-graph.js';
import { edgesOf } from '../../../agents/exact-walker/messages/views.js';
import { randomWorld } from '../../fixtures/exact-trainer.js';
import { graphOf } from '../../fixtures/toy-walks.js';

test('generated graphs lack the queries that they are asked, and no two are alike', () => {
  const made = Array.from({ length: 4 }, (_, i) => generatedGraph(1, i));
  for (const [i, { graph, queries, known }] of made.entries()) {
    expect(generatedGraph(1, i).graph.hash).toBe(graph.hash);
    expect(graph.inverseOf).not.toContain(-1);
    expect(queries.heads.length).toBeGreaterThan(5);
    expect(queries.heads.length).toBeLessThan(known!.numEdges / 2);
    queries.heads.forEach((head, query) => {
      const [relation, tail] = [queries.relations[query]!, queries.tails[query]!];
      expect([graph, known!].map((one) => one.edgeIndex(head, relation, tail) >= 0)).toEqual([false, true]);
    });
  }
  expect(new Set(made.map(({ graph }) => graph.hash)).size).toBe(4);
  expect(new Set(made.map(({ graph }) => graph.numRelations)).size).toBeGreaterThan(1);
});

test('relations meet by the share of the one’s heads, tails and pairs that are the other’s', () => {
  const { graph } = randomWorld(5, 12, ['a', 'b', 'c'], 24, ['0 0 1', '0 1 1', '1 2 0']);
  const { graph: meeting, shares } = relationGraph(graph);
  const edges = [...edgesOf(graph).heads.entries()].map(
    ([edge, head]) => [head, graph.relations[edge]!, graph.tails[edge]!] as const,
  );
  const heads = (relation: number) => new Set(edges.filter(([, own]) => own === relation).map(([head]) => head));
  const pairs = (relation: number) =>
    new Set(edges.filter(([, own]) => own === relation).map(([head, , tail]) => `${head} ${tail}`));
  const shareOf = <T>(of: Set<T>, others: Set<T>) => others.intersection(of).size / others.size;
  const back = (relation: number) => graph.inverseOf[relation]!;
  const expected = [
    (a: number, b: number) => shareOf(heads(a), heads(b)),
    (a: number, b: number) => shareOf(heads(a), heads(back(b))),
    (a: number, b: number) => shareOf(heads(back(a)), heads(b)),
    (a: number, b: number) => shareOf(heads(back(a)), heads(back(b))),
    () => 1,
    (a: number, b: number) => shareOf(pairs(a), pairs(b)),
    (a: number, b: number) => shareOf(pairs(b), pairs(a)),
  ];
  const { heads: froms } = edgesOf(meeting);
  expect(froms.length).toBeGreaterThan(100);
  froms.forEach((a, edge) => {
    const [kind, b] = [meeting.relations[edge]!, meeting.tails[edge]!];
    expect([kind, shares[edge]]).toEqual([kind, expect.closeTo(expected[kind]!(a, b), 6)]);
  });
});

test('a graph of too many relations is refused, not run out of memory on', () => {
  const many = graphOf(
    'many',
    Array.from({ length: 2050 }, (_, i) => ['a', `r${i}`, 'b'] as const),
  );
  expect(() => relationGraph(many)).toThrow(/expected at most 1024 relations .*, got 1025/);
});
