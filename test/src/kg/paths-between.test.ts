import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Graph } from '../../../src/kg/graph.js';
import { pathsBetween, ShortestPaths, SimplePaths } from '../../../src/kg/paths-between.js';
import { Rng } from '../../../src/run/seeds.js';
import { checkProperty } from '../../fixtures/property.js';
import { type Ids, idsOf, numberedGraph } from '../../fixtures/triple-columns.js';

const graphOf = (numEntities: number, triples: readonly Ids[]) =>
  numberedGraph(numEntities, ['r0', 'r1', 'r2'], triples);

/** All simple paths by brute force, shortest first, then by ids. */
function bruteForce(graph: Graph, head: number, tail: number, horizon: number, hidden?: number): number[][] {
  if (head === tail) return [[]];
  const found: number[][] = [];
  const walk = (at: number, path: number[], seen: readonly number[]) => {
    if (at === tail) return void found.push(path);
    if (path.length === 2 * horizon) return;
    for (let edge = graph.offsets[at]!; edge < graph.offsets[at + 1]!; edge++) {
      const [relation, to] = [graph.relations[edge]!, graph.tails[edge]!];
      const isHidden = at === head && to === tail && relation === hidden;
      if (!seen.includes(to) && !isHidden) walk(to, [...path, relation, to], [...seen, to]);
    }
  };
  walk(head, [], [head]);
  const order = (a: number[], b: number[]) => a.length - b.length || a.find((x, i) => x !== b[i])! - differs(b, a);
  return found.sort(order);
}

const differs = (a: readonly number[], b: readonly number[]) => a.find((x, i) => x !== b[i])!;

const problem = fc.integer({ min: 2, max: 7 }).chain((numEntities) => {
  const entity = fc.nat(numEntities - 1);
  return fc.record({
    numEntities: fc.constant(numEntities),
    triples: fc.array(fc.tuple(entity, fc.nat(2), entity), { maxLength: 24 }),
    head: entity,
    tail: entity,
    horizon: fc.integer({ min: 1, max: 5 }),
    hidden: fc.option(fc.nat(2), { nil: undefined }),
  });
});

describe('paths between two entities', () => {
  test('are all simple ones, as by trying every edge', () => {
    checkProperty(
      fc.property(problem, ({ numEntities, triples, head, tail, horizon, hidden }) => {
        const graph = graphOf(numEntities, triples);
        const limits = { kind: 'simple', horizon, hidden, most: 1e6 } as const;
        const { paths, complete } = pathsBetween(graph, head, tail, limits);
        expect(paths.map((path) => [...path])).toEqual(bruteForce(graph, head, tail, horizon, hidden));
        expect(complete).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test('are the shortest of those, and the first where fewer are wanted', () => {
    checkProperty(
      fc.property(problem, fc.integer({ min: 1, max: 4 }), (given, most) => {
        const { numEntities, triples, head, tail, horizon, hidden } = given;
        const graph = graphOf(numEntities, triples);
        const all = bruteForce(graph, head, tail, horizon, hidden);
        const shortest = all.filter(({ length }) => length === all[0]!.length);
        const { paths, complete } = pathsBetween(graph, head, tail, { kind: 'shortest', horizon, hidden, most });
        expect(paths.map((path) => [...path])).toEqual(shortest.slice(0, most));
        expect(complete).toBe(shortest.length <= most);
      }),
      { numRuns: 400 },
    );
  });

  test('found one after another in the same room are those found alone', () => {
    const rng = Rng.named(1, 'test/paths');
    const triples = Array.from({ length: 40 }, (): Ids => [rng.integer(9), rng.integer(3), rng.integer(9)]);
    const graph = graphOf(9, triples);
    const [shortest, simple] = [new ShortestPaths(graph), new SimplePaths(graph)];
    for (let pair = 0; pair < 81; pair++) {
      const [head, tail] = [Math.floor(pair / 9), pair % 9];
      const limits = { horizon: 3, most: 1e6, hidden: pair % 4 };
      expect(shortest.between(head, tail, limits)).toEqual(
        pathsBetween(graph, head, tail, { ...limits, kind: 'shortest' }).paths,
      );
      let count = 0;
      simple.each(head, tail, limits, () => void count++);
      expect(count).toBe(pathsBetween(graph, head, tail, { ...limits, kind: 'simple' }).paths.length);
    }
  });

  test('that are drawn are different ones, each as often as any other, and the same for the same seed', () => {
    // Twelve paths of two edges: relations 0 and 1 to each of three entities, and two on from there.
    const triples = [1, 2, 3].flatMap((middle) => idsOf(`0 0 ${middle}, 0 1 ${middle}, ${middle} 0 4, ${middle} 2 4`));
    const paths = new ShortestPaths(graphOf(5, triples));
    const rng = Rng.named(3, 'test/draw');
    const seen = new Map<string, number>();
    const draws = 1200;
    for (let i = 0; i < draws; i++) {
      const drawn = paths.between(0, 4, { horizon: 3, most: 3, rng }).map(String);
      expect(new Set(drawn).size).toBe(3);
      for (const path of drawn) seen.set(path, (seen.get(path) ?? 0) + 1);
    }
    expect(seen.size).toBe(12);
    // Each in a quarter of the draws: 300, standard deviation 15.
    for (const count of seen.values()) expect(Math.abs(count - draws / 4)).toBeLessThan(75);
    const draw = (seed: number) => paths.between(0, 4, { horizon: 3, most: 3, rng: Rng.named(seed, 'test/again') });
    expect(draw(5)).toEqual(draw(5));
  });

  test('go around all edges between the two where all are hidden', () => {
    const paths = new ShortestPaths(graphOf(3, idsOf('0 0 1, 0 1 1, 0 0 2, 2 1 1, 1 0 0')));
    const found = (hidden?: number | 'all') =>
      paths.between(0, 1, { horizon: 3, most: 9, hidden }).map((path) => [...path]);
    expect([found(), found(0), found('all')]).toEqual([[[0, 1], [1, 1]], [[1, 1]], [[0, 2, 1, 1]]]); // prettier-ignore
  });

  test('end when the visitor has seen enough', () => {
    const graph = graphOf(5, idsOf('0 0 1, 1 0 4, 0 0 2, 2 0 4, 0 0 3, 3 0 4'));
    const { paths, complete } = pathsBetween(graph, 0, 4, { kind: 'simple', horizon: 2, most: 2 });
    expect([paths.length, complete]).toEqual([2, false]);
    const search = new SimplePaths(graph);
    let count = 0;
    search.each(0, 4, { horizon: 2 }, () => ++count === 1);
    expect(count).toBe(1);
    search.each(0, 4, { horizon: 2 }, () => void count++);
    expect(count).toBe(1 + 3);
  });

  test.each([0, 1.5, 300])('are refused for a horizon of %p', (horizon) => {
    const graph = graphOf(2, [[0, 0, 1]]);
    for (const kind of ['shortest', 'simple'] as const) {
      expect(() => pathsBetween(graph, 0, 1, { kind, horizon, most: 1 })).toThrow(
        /expected a horizon of 1 to \d+ edges/,
      );
    }
  });
});
