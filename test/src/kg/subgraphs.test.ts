import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Graph, inverseName } from '../../../src/kg/graph.js';
import { bothWays, nearestFacts, pageRanker, subgraphsOf } from '../../../src/kg/subgraphs.js';
import { checkProperty } from '../../fixtures/property.js';
import { type Ids, idsOf, numberedGraph } from '../../fixtures/triple-columns.js';

const size = 9;
const id = fc.integer({ min: 0, max: size - 1 });
const rows = fc.array(fc.tuple(id, fc.integer({ min: 0, max: 1 }), id), { maxLength: 30 });
const topics = fc.uniqueArray(id, { minLength: 1, maxLength: 3 });

/** Two relations, optionally the second as inverse of the first. */
const graphOf = (triples: readonly Ids[], relationNames = ['a', 'b']) => numberedGraph(size, relationNames, triples);

/** Facts in both directions, deduplicated, by name. */
const namedBothWays = (graph: Graph): Ids[] => {
  const { rows: all } = bothWays(graph);
  return Array.from({ length: size }, (_, head) => head).flatMap((head) =>
    Array.from({ length: all.offsets[head + 1]! - all.offsets[head]! }, (_, i): Ids => {
      const edge = all.offsets[head]! + i;
      return [head, all.relations[edge]!, all.tails[edge]!];
    }),
  );
};

/** rank = restart · start + (1 − restart) · Pᵀ rank by dense iteration; mass stays at entities without edges. */
function denseRanks(edges: readonly Ids[], starts: readonly number[], restart: number): number[] {
  const start = Array.from({ length: size }, (_, i) => (starts.includes(i) ? 1 / starts.length : 0));
  const out = Array.from({ length: size }, (_, i) => edges.filter(([head]) => head === i).length);
  // Without edges mass stays: a self-loop, which sums to 1 / restart of the rank.
  let moving = start;
  const rank = new Array<number>(size).fill(0);
  for (let step = 0; step < 400; step++) {
    const next = new Array<number>(size).fill(0);
    moving.forEach((mass, i) => (rank[i]! += out[i] === 0 ? mass : restart * mass));
    for (const [head, , tail] of edges) next[tail]! += ((1 - restart) * moving[head]!) / out[head]!;
    moving = next;
  }
  return rank;
}

describe('PageRank', () => {
  test('is that of a dense matrix, from one topic or several, call after call', () => {
    checkProperty(
      fc.property(rows, fc.array(topics, { minLength: 1, maxLength: 3 }), (triples, calls) => {
        const graph = graphOf(triples);
        const ranker = pageRanker(bothWays(graph).rows, { restart: 0.3, tolerance: 1e-12, leastPush: 0 });
        for (const starts of calls) {
          const expected = denseRanks(namedBothWays(graph), starts, 0.3);
          const { entities, ranks } = ranker(starts, size);
          expect(ranks.reduce((sum, rank) => sum + rank, 0)).toBeCloseTo(1, 9);
          entities.forEach((entity, i) => expect(ranks[i]).toBeCloseTo(expected[entity]!, 9));
          expect([...entities].sort()).toEqual([...expected.keys()].filter((entity) => expected[entity]! > 0));
          expect([...ranks]).toEqual([...ranks].sort((a, b) => b - a));
        }
      }),
    );
  });

  test('gives the highest, equal ones by id, and nothing for topics that the graph lacks', () => {
    // A star: its three points are equal.
    const ranker = pageRanker(bothWays(graphOf(idsOf('4 0 7, 4 0 2, 4 1 5'))).rows);
    expect([...ranker([4], 3).entities]).toEqual([4, 2, 5]);
    expect([...ranker([-1, 4, 4], 9).entities]).toEqual([4, 2, 5, 7]);
    expect(ranker([-1], 3).entities).toHaveLength(0);
  });

  test('gives of many the same highest as in the ranking of all', () => {
    checkProperty(
      fc.property(rows, topics, fc.integer({ min: 1, max: size }), (triples, starts, most) => {
        const ranker = pageRanker(bothWays(graphOf(triples)).rows);
        expect([...ranker(starts, most).entities]).toEqual([...ranker(starts, size).entities].slice(0, most));
      }),
    );
  });

  test('passes no mass on where an edge would get less than the least, and loses none', () => {
    const chain = pageRanker(bothWays(graphOf(idsOf('0 0 1, 1 0 2'))).rows, { restart: 0.8, leastPush: 0.11 });
    // 0.8 stay, 0.2 arrive at 1, whose two edges would get less than 0.11 each.
    const { entities, ranks } = chain([0], 9);
    expect([...entities]).toEqual([0, 1]);
    expect(ranks[0]).toBeCloseTo(0.8, 12);
    expect(ranks[1]).toBeCloseTo(0.2, 12);
  });
});

test('both ways are the graph’s own rows where it has all inverses, else with the inverses that it lacks', () => {
  const own = graphOf(idsOf('0 0 1, 1 1 0'), ['a', inverseName('a')]);
  expect(bothWays(own).rows.tails).toBe(own.tails);
  const { inverseOf } = bothWays(graphOf([[0, 1, 1]]));
  expect([...inverseOf]).toEqual([2, 3, 0, 1]);
  expect(namedBothWays(graphOf([[0, 1, 1]]))).toEqual(idsOf('0 1 1, 1 3 0'));
});

describe('a subgraph', () => {
  test('holds all facts among its entities, both ways, a loop each and nothing else', () => {
    checkProperty(
      fc.property(rows, topics, fc.integer({ min: 1, max: size }), (triples, starts, most) => {
        const graph = graphOf(triples);
        const subgraphs = subgraphsOf(graph, most);
        subgraphs.around([0]);
        const { entities, offsets, relations, tails } = subgraphs.around(starts);
        expect(subgraphs).toMatchObject({ numRelations: 5, selfLoop: 4 });
        expect([...entities]).toEqual([...pageRanker(bothWays(graph).rows)(starts, most).entities]);
        const found = [...entities].flatMap((head, index) =>
          Array.from({ length: offsets[index + 1]! - offsets[index]! }, (_, i) => {
            const edge = offsets[index]! + i;
            return [head, relations[edge]!, entities[tails[edge]!]!].join();
          }),
        );
        const among = namedBothWays(graph).filter(
          ([head, , tail]) => entities.includes(head) && entities.includes(tail),
        );
        const loops = [...entities].map((entity): Ids => [entity, 4, entity]);
        expect(found.sort()).toEqual([...among, ...loops].map((row) => row.join()).sort());
        expect(offsets.at(-1)).toBe(tails.length);
      }),
    );
  });

  test('holds the nearest where there are more, and is empty around no topic', () => {
    const subgraphs = subgraphsOf(graphOf(idsOf('0 0 1, 1 0 2')), 2);
    const subgraph = subgraphs.around([0]);
    expect([...subgraph.entities]).toEqual([0, 1]);
    expect([...subgraph.tails]).toEqual([1, 0, 0, 1]);
    expect(subgraphs.around([-1])).toMatchObject({ entities: new Int32Array(0), offsets: Int32Array.of(0) });
  });

  test('takes the edges of a hub that is wider than the room it began with', () => {
    const count = 3000;
    const hub = Array.from({ length: count }, (_, i): Ids => [0, 0, i + 1]);
    const graph = numberedGraph(count + 1, ['a'], hub);
    const subgraph = subgraphsOf(graph, count + 1, { leastPush: 0 }).around([0]);
    expect(subgraph.entities).toHaveLength(count + 1);
    // Each fact both ways, and the loops.
    expect(subgraph.tails).toHaveLength(3 * count + 1);
  });
});

describe('facts of a subgraph', () => {
  // 3 — 0 — 1 — 2, and 8 — 0 by the other relation.
  const subgraphs = subgraphsOf(graphOf(idsOf('0 0 1, 1 0 2, 3 0 0, 0 1 8')), size, { leastPush: 0 });
  const subgraph = subgraphs.around([0]);
  const named = (most: number) => {
    const { heads, relations, tails } = nearestFacts(subgraph, [0], subgraphs.selfLoop, most);
    return Array.from(heads, (head, i) => [subgraph.entities[head], relations[i], subgraph.entities[tails[i]!]]);
  };

  test('start at the topic, continue outwards, in both directions and without self-loops', () => {
    const all = named(100);
    expect(all).toHaveLength(8);
    expect(all.slice(0, 3)).toEqual(idsOf('0 0 1, 0 1 8, 0 2 3'));
    // Those of entity 2, two steps away, come last.
    expect(all.at(-1)).toEqual([2, 2, 1]);
    expect(all.filter(([head]) => head === 1)).toEqual(expect.arrayContaining(idsOf('1 0 2, 1 2 0')));
  });

  test('are cut where the memory ends', () => {
    expect(named(4)).toEqual(named(100).slice(0, 4));
  });

  test('that the topics do not lead to are left out', () => {
    expect(nearestFacts(subgraph, [], subgraphs.selfLoop, 9).heads).toHaveLength(0);
  });
});
