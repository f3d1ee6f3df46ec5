import { describe, expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../agents/actor.js';
import {
  type BeamActor,
  type BeamOptions,
  type HeadAndRelation,
  linkBeams,
  type LinkLists,
} from '../../../agents/link-walker/beam.js';
import { Graph } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { scriptedActor } from '../../fixtures/scripted-link-actor.js';

/** A random graph with inverses, parallel edges and an entity without edges. */
function randomGraph(numEntities: number, numTriples: number): Graph {
  const rng = Rng.named(3, 'test/beam');
  const draw = (n: number) => Int32Array.from({ length: numTriples }, () => rng.integer(n));
  const [heads, relations, tails] = [draw(numEntities - 1), draw(2), draw(numEntities - 1)];
  return new Graph(
    'toy',
    Array.from({ length: numEntities }, (_, i) => `e${i}`),
    ['a', 'b', '~a', '~b'],
    {
      heads: Int32Array.of(...heads, ...tails),
      relations: Int32Array.of(...relations, ...relations.map((r) => r + 2)),
      tails: Int32Array.of(...tails, ...heads),
    },
  );
}

/** Scores from a whole request, its path included. */
const scripted = scriptedActor(({ head, relation, current, hop, path, length }) => {
  const rng = Rng.named(1, [head, relation, current, hop, ...path].join(' '));
  return Array.from({ length }, () => 2 * rng.normal());
});

interface Walk {
  path: number[];
  current: number;
  logProb: number;
}

/** All walks one step longer, in order. */
async function extended(
  actor: BeamActor,
  { head, relation }: HeadAndRelation,
  walks: Walk[],
  hop: number,
): Promise<Walk[]> {
  const longer: Walk[] = [];
  for (const { path, current, logProb } of walks) {
    const length = graph.degree(current) + 1;
    const request = { task: { id: '' }, head, relation, current, hop, path: Int32Array.from(path), length };
    const { logProbs } = await actionLogProbs(actor, [request]);
    for (let action = 0; action < length; action++) {
      const edge = graph.offsets[current]! + action;
      const stays = action === length - 1;
      const [by, to] = stays ? [graph.numRelations, current] : [graph.relations[edge]!, graph.tails[edge]!];
      longer.push({ path: [...path, by, to], current: to, logProb: logProb + logProbs[action]! });
    }
  }
  return longer;
}

/** The same by lists and sorting. */
async function bruteForce(actor: BeamActor, query: HeadAndRelation, { beamWidth, horizon }: BeamOptions) {
  let walks: Walk[] = [{ path: [], current: query.head, logProb: 0 }];
  for (let hop = 0; hop < horizon; hop++) {
    walks = await extended(actor, query, walks, hop);
    if (hop < horizon - 1) walks = walks.sort((a, b) => b.logProb - a.logProb).slice(0, beamWidth);
  }
  const reached = new Map<number, { best: Walk; sum: number }>();
  for (const walk of walks) {
    const found = reached.get(walk.current);
    if (!found) reached.set(walk.current, { best: walk, sum: Math.exp(walk.logProb) });
    else {
      found.sum += Math.exp(walk.logProb);
      if (walk.logProb > found.best.logProb) found.best = walk;
    }
  }
  return [...reached].sort(([a, { best: x }], [b, { best: y }]) => y.logProb - x.logProb || a - b);
}

const graph = randomGraph(12, 40);
const queries = [
  { head: 0, relation: 0 },
  { head: 3, relation: 3 },
  { head: 11, relation: 1 },
  { head: 5, relation: 2 },
];

describe('linkBeams', () => {
  test.each([
    [1, 3],
    [4, 3],
    [5, 2],
    [3, 1],
    [7, 4],
    [10_000, 3],
  ])('width %i, horizon %i: entities, probabilities and paths are those of brute force', async (beamWidth, horizon) => {
    const found = await linkBeams(scripted, graph, queries, { beamWidth, horizon });
    expect(found).toHaveLength(queries.length);
    for (const [q, query] of queries.entries()) {
      const wanted = await bruteForce(scripted, query, { beamWidth, horizon });
      const { entities, best, sum, order, path } = found[q]!;
      const indices = order(best);
      expect(Array.from(indices, (i) => entities[i])).toEqual(wanted.map(([entity]) => entity));
      wanted.forEach(([, walk], rank) => {
        const i = indices[rank]!;
        expect(best[i]).toBeCloseTo(walk.best.logProb, 10);
        expect(sum[i]).toBeCloseTo(Math.log(walk.sum), 10);
        expect([...path(i)]).toEqual(walk.best.path);
      });
      expect([...order(best, 3)]).toEqual([...indices.subarray(0, 3)]);
      const sums = Array.from(order(sum), (i) => sum[i]!);
      expect(sums).toEqual([...sums].sort((a, b) => b - a));
    }
  });

  test('of equal walks the first continue, after any walk', async () => {
    const even = scriptedActor(({ length }) => new Float32Array(length));
    for (const beamWidth of [1, 2, 3, 5, 8]) {
      const found = await linkBeams(even, graph, queries, { beamWidth, horizon: 3 });
      for (const [q, query] of queries.entries()) {
        const wanted = await bruteForce(even, query, { beamWidth, horizon: 3 });
        const reached = new Map(Array.from(found[q]!.entities, (entity, i) => [entity, [...found[q]!.path(i)]]));
        expect(reached).toEqual(new Map(wanted.map(([entity, { best }]) => [entity, best.path])));
      }
    }
  });

  test('every probability is met where nothing is pruned: they sum to 1', async () => {
    const [reached] = await linkBeams(scripted, graph, [queries[0]!], { beamWidth: 10_000, horizon: 3 });
    expect(reached!.sum.reduce((total, logProb) => total + Math.exp(logProb), 0)).toBeCloseTo(1, 6);
  });

  test('from an entity without edges only staying is left', async () => {
    const [reached] = await linkBeams(scripted, graph, [{ head: 11, relation: 0 }], { beamWidth: 4, horizon: 2 });
    expect([...reached!.entities]).toEqual([11]);
    expect([...reached!.path(0)]).toEqual([4, 11, 4, 11]);
  });

  test('equal walks: the entity of lower id first, by the walk met first', async () => {
    const level = scriptedActor(({ length }) => new Float32Array(length));
    const lists: LinkLists = {
      numRelations: 2,
      offsets: Int32Array.of(0, 3, 3, 3),
      relations: Uint16Array.of(0, 0, 1),
      tails: Int32Array.of(1, 2, 1),
    };
    const [reached] = await linkBeams(level, lists, [{ head: 0, relation: 0 }], { beamWidth: 4, horizon: 1 });
    const { entities, best, sum, order, path } = reached!;
    const indices = order(best);
    expect(Array.from(indices, (i) => entities[i])).toEqual([0, 1, 2]);
    expect([...path(indices[1]!)]).toEqual([0, 1]);
    expect(sum[indices[1]!]).toBeCloseTo(Math.log(2) + Math.fround(-Math.log(4)), 12);
    expect(Array.from(order(sum), (i) => entities[i])).toEqual([1, 0, 2]);
  });

  test('many states go to the actor in several calls, and nothing changes by it', async () => {
    const lists: LinkLists = {
      numRelations: 1,
      offsets: Int32Array.of(0, 400_000, 800_000),
      relations: new Uint16Array(800_000),
      tails: Int32Array.from({ length: 800_000 }, (_, i) => i % 2),
    };
    const sizes: number[] = [];
    const level = scriptedActor(({ length }) => new Float32Array(length));
    const counted: typeof level = {
      ...level,
      score: (requests) => {
        sizes.push(requests.length);
        return level.score(requests);
      },
    };
    const [reached] = await linkBeams(counted, lists, [{ head: 0, relation: 0 }], { beamWidth: 4, horizon: 2 });
    expect(sizes).toEqual([1, 2, 2]);
    expect(reached!.sum[0]).toBeCloseTo(Math.log((4 * 200_000.5) / 400_001 ** 2), 4);
  });
});
