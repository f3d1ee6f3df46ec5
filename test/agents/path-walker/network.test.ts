import { afterEach, describe, expect, test } from '@jest/globals';
import '@tensorflow/tfjs-core';
import { actionLogProbs } from '../../../trainers/actor.js';
import {
  type BeamActor,
  type BeamOptions,
  type HeadAndRelation,
  type LinkLists,
  linkBeams,
} from '../../../agents/path-walker/beam.js';
import { createLinkCritic, createLinkWalker } from '../../../agents/path-walker/network.js';
import { type LinkActor, type LinkRequest, linkRequestOf } from '../../../agents/path-walker/request.js';
import { linkWalkerSettings, pathEncoders } from '../../../agents/path-walker/settings.js';
import { prefixesOf } from '../../../agents/path-walker/state-network.js';
import { linkQueryId } from '../../../envs/link-query/world.js';
import { makeEnv } from '../../../envs/registry.js';
import { Graph } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { openExecutor } from '../../../src/nn/open-executor.js';
import { checkGradient, expectClose } from '../../fixtures/gradient-check.js';
import { scriptedActor } from '../../fixtures/scripted-link-actor.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';
import { randomize } from '../../fixtures/toy-walker.js';

const { graph, train } = tinyLinkWorld();
const { numEntities, numRelations } = graph;

const { executor } = await openExecutor('simd');

const made: { dispose(): void }[] = [];
afterEach(() => {
  while (made.length > 0) made.pop()!.dispose();
});

const small = { vectorDim: 4, pathDim: 5, width: 6 };

function walker(settings: object = {}, start?: Parameters<typeof createLinkWalker>[2]['start']): LinkActor {
  const parsed = linkWalkerSettings.parse({ ...small, ...settings });
  const actor = createLinkWalker(executor, parsed, { lists: graph, numEntities, numRelations, start }, 1);
  made.push(actor);
  return actor;
}

/** States of a few walks, their first ones included. */
function walkedStates(): LinkRequest[] {
  const env = makeEnv(linkQueryId, { graph, queries: train, horizon: 3 });
  const rng = Rng.named(4, 'test/walks');
  const requests: LinkRequest[] = [];
  for (let sample = 0; sample < 6; sample++) {
    let { observation } = env.reset({ options: { sample: sample * 4 } });
    for (let hop = 0; hop < 3; hop++) {
      requests.push(linkRequestOf(observation));
      const legal = Int32Array.from(observation.actionMask.keys()).filter((i) => observation.actionMask[i] === 1);
      ({ observation } = env.step(legal[rng.integer(legal.length)]!));
    }
  }
  return requests;
}

const states = walkedStates();

describe.each(pathEncoders)('a walker with path encoder %s', (pathEncoder) => {
  test.each([true, false])('has the gradients of finite differences; entities read: %s', async (readEntities) => {
    const { parameters, score } = walker({ pathEncoder, readEntities });
    await randomize(parameters, 2);
    await checkGradient(parameters, () => score(states).logits());
  });

  test('gives a state the same chances alone as among others', async () => {
    const actor = walker({ pathEncoder });
    await randomize(actor.parameters, 2);
    const together = await actionLogProbs(actor, states);
    for (const [i, state] of states.entries()) {
      const alone = await actionLogProbs(actor, [state]);
      expectClose(alone.logProbs, together.logProbs.subarray(together.offsets[i]!, together.offsets[i + 1]!), 1e-6);
    }
  });

  test('knows the way that led to a place', async () => {
    const actor = walker({ pathEncoder });
    await randomize(actor.parameters, 2);
    const here = states.find(({ hop, legal }) => hop === 2 && !legal)!;
    const [relation, entity] = here.path;
    const other = { ...here, path: Int32Array.of((relation! + 1) % numRelations, entity!, ...here.path.slice(2)) };
    const { logProbs, offsets } = await actionLogProbs(actor, [here, other]);
    const [own, changed] = [logProbs.subarray(0, offsets[1]), logProbs.subarray(offsets[1]!)];
    expect(Array.from(own, (value, i) => Math.abs(value - changed[i]!)).some((gap) => gap > 1e-4)).toBe(true);
  });
});

test('legal actions are scored and no others, in their order, staying last', async () => {
  const actor = walker();
  const masked = states.find(({ legal }) => legal !== undefined)!;
  expect(masked.legal!.length).toBeLessThan(masked.length);
  const { logProbs, offsets } = await actionLogProbs(actor, [masked]);
  expect([...offsets]).toEqual([0, masked.legal!.length]);
  expect(logProbs.reduce((sum, value) => sum + Math.exp(value), 0)).toBeCloseTo(1, 5);
  expect(actor.numScores(masked)).toBe(masked.legal!.length);
  expect(actor.envAction!(masked, masked.legal!.length - 1)).toBe(masked.length - 1);
});

test('edges of one relation are level where entities are not read', async () => {
  const actor = walker({ readEntities: false });
  await randomize(actor.parameters, 2);
  const town = graph.entityNames.indexOf('t0');
  const length = graph.degree(town) + 1;
  const state = { ...states[0]!, head: town, current: town, hop: 0, path: new Int32Array(0), length };
  const { legal: _legal, ...request } = state;
  const { logProbs } = await actionLogProbs(actor, [request]);
  const ofRelation = new Map<number, Set<number>>();
  for (let i = 0; i + 1 < length; i++) {
    const relation = graph.relations[graph.offsets[town]! + i]!;
    ofRelation.set(relation, (ofRelation.get(relation) ?? new Set()).add(logProbs[i]!));
  }
  expect(Array.from(ofRelation.values(), ({ size }) => size)).toEqual(Array.from(ofRelation, () => 1));
  expect(new Set(logProbs).size).toBeGreaterThan(1);
});

test('vectors that are not trained are no parameters, and what they start from shows', async () => {
  const start = (scale: number) => ({
    dim: 3,
    entities: Float32Array.from({ length: 3 * numEntities }, (_, i) => scale * Math.sin(i)),
    relations: Float32Array.from({ length: 3 * numRelations }, (_, i) => Math.cos(i)),
  });
  const settings = { vectors: 'transe', trainVectors: false };
  const [one, other] = [walker(settings, start(1)), walker(settings, start(2))];
  expect(one.parameters.names.filter((name) => name.startsWith('link.'))).toEqual([]);
  await randomize(one.parameters, 2);
  other.parameters.import(await one.parameters.export());
  const [a, b] = await Promise.all([one, other].map(async (actor) => (await actionLogProbs(actor, states)).logProbs));
  expect([...a!]).not.toEqual([...b!]);
  await checkGradient(one.parameters, () => one.score(states).logits());
});

test('a critic has separate gradients and names', async () => {
  const critic = createLinkCritic(executor, linkWalkerSettings.parse(small), { numEntities, numRelations }, 1);
  made.push(critic);
  const { parameters } = walker();
  expect(critic.parameters.names.filter((name) => parameters.names.includes(name))).toEqual([]);
  await randomize(critic.parameters, 2);
  const values = critic.values(states);
  await checkGradient(critic.parameters, () => values());
  const again = createLinkCritic(executor, linkWalkerSettings.parse(small), { numEntities, numRelations }, 2);
  made.push(again);
  again.parameters.import(await critic.parameters.export());
  expect([...(await again.values(states)().read())]).toEqual([...(await values().read())]);
});

const walk = (head: number, ...path: number[]) => ({ head, hop: path.length / 2, path: Int32Array.from(path) });

test('a beginning that walks share is one node', () => {
  const { levels, nodes } = prefixesOf(
    [walk(3), walk(3, 1, 5), walk(3, 1, 5, 0, 2), walk(3, 1, 6), walk(4, 1, 5), walk(3, 1, 5)],
    { numEntities: 9, noStep: 7 },
  );
  expect(levels.map(({ entities }) => [...entities])).toEqual([[3, 4], [5, 6, 5], [2]]);
  expect(levels.map(({ relations }) => [...relations])).toEqual([[7, 7], [1, 1, 1], [0]]);
  expect(levels.map(({ parents }) => [...parents])).toEqual([[], [0, 0, 1], [0]]);
  expect([...nodes]).toEqual([0, 2, 5, 3, 4, 2]);
});

test('walks that differ in a relation alone are two', () => {
  const { levels } = prefixesOf([walk(0, 1, 2), walk(0, 2, 2)], { numEntities: 3, noStep: 4 });
  expect(levels[1]!.entities).toHaveLength(2);
});

describe('the beam of links', () => {
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
    ])(
      'width %i, horizon %i: entities, probabilities and paths are those of brute force',
      async (beamWidth, horizon) => {
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
      },
    );

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
});
