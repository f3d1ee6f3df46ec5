import { describe, expect, test } from '@jest/globals';
import {
  type Autoreset,
  LinkQueryBatch,
  LinkQueryEnv,
  type LinkQueryObservation,
  type LinkQueryOptions,
  VectorEnv,
  checkEnv,
  linkQueryWorld,
  makeEnv,
  makeVectorEnv,
} from '../../../envs/index.js';
import { knownAnswers } from '../../../src/embedding/known-answers.js';
import { Graph } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { often } from '../../fixtures/long-tests.js';
import { probability, randomLinks } from '../../fixtures/random-links.js';

const id = 'kgwalk/LinkQuery-v1';

function vectorsOf(graph: Graph, dim: number) {
  const rng = Rng.named(1, 'test/vectors');
  const table = (rows: number) => Float32Array.from({ length: rows * dim }, () => rng.normal());
  return { dim, entities: table(graph.numEntities), relations: table(graph.numRelations) };
}

const { graph, queries } = randomLinks(12, 60);
const known = knownAnswers([queries]);
const variants: [string, LinkQueryOptions][] = [
  ['as it is', { graph, queries }],
  [
    'with everything hidden and vectors',
    { graph, queries, known, hidePairs: true, horizon: 2, vectors: vectorsOf(graph, 4) },
  ],
  [
    'cut, with vectors of odd width',
    { graph, queries, maxEdges: 3, hideQueryEdge: false, vectors: vectorsOf(graph, 3) },
  ],
  ['with terminal shaping', { graph, queries, known, shaping: { kind: 'terminal', weight: 0.5, probability } }],
  [
    'with potential-based shaping',
    { graph, queries, horizon: 2, shaping: { kind: 'potential', weight: 2, gamma: 0.9, probability } },
  ],
];

describe('kgwalk/LinkQuery-v1', () => {
  test.each(variants)('keeps the promises of an environment, %s', (_, options) => {
    checkEnv(makeEnv(id, options), { refusals: true, episodes: often(5, 12) });
  });

  test('hides the edge that is asked for, in both directions, and nothing else of that kind', () => {
    const triples = { heads: Int32Array.of(0, 0, 0), relations: Int32Array.of(0, 0, 1), tails: Int32Array.of(1, 2, 1) };
    const small = new Graph('small', ['x', 'y', 'z'], ['r', 's', '~r', '~s'], {
      heads: Int32Array.of(0, 0, 0, 1, 2, 1),
      relations: Int32Array.of(0, 0, 1, 2, 2, 3),
      tails: Int32Array.of(1, 2, 1, 0, 0, 0),
    });
    const env = makeEnv(id, { graph: small, queries: triples });
    // Edges of x: (r, y), (r, z), (s, y); of y: (~r, x), (~s, x).
    expect([...env.reset({ options: { sample: 0 } }).observation.actionMask]).toEqual([0, 1, 1, 1]);
    expect([...env.step(2).observation.actionMask]).toEqual([0, 1, 1]);
    expect([...env.reset({ options: { sample: 2 } }).observation.actionMask]).toEqual([1, 1, 0, 1]);
    expect([...env.step(0).observation.actionMask]).toEqual([1, 0, 1]);
    const seen = makeEnv(id, { graph: small, queries: triples, hideQueryEdge: false });
    expect([...seen.reset({ options: { sample: 0 } }).observation.actionMask]).toEqual([1, 1, 1, 1]);
    const pairs = makeEnv(id, { graph: small, queries: triples, hidePairs: true });
    expect([...pairs.reset({ options: { sample: 0 } }).observation.actionMask]).toEqual([0, 1, 0, 1]);
    expect([...pairs.step(1).observation.actionMask]).toEqual([1, 1]);
    expect([...pairs.step(0).observation.actionMask]).toEqual([0, 1, 0, 1]);
    expect([...pairs.reset({ options: { sample: 1 } }).observation.actionMask]).toEqual([1, 0, 1, 1]);
    expect([...pairs.step(0).observation.actionMask]).toEqual([1, 1, 1]);
    const others = knownAnswers([triples]);
    const strict = makeEnv(id, { graph: small, queries: triples, known: others, horizon: 1 });
    // (x, r, ?) has y and z; at the last step the query for y allows no edge to z, though staying.
    expect([...strict.reset({ options: { sample: 0 } }).observation.actionMask]).toEqual([0, 0, 1, 1]);
    expect(strict.step(2)).toMatchObject({ reward: 1, terminated: true, info: { hit: true, done: true } });
  });

  test('takes all steps, stays included, and pays for the answer at the end alone', () => {
    const env = makeEnv(id, { graph, queries, hideQueryEdge: false });
    const { observation } = env.reset({ options: { sample: 4 } });
    const edge = observation.relations.findIndex(
      (relation, i) => relation === queries.relations[4] && observation.tails[i] === queries.tails[4],
    );
    const there = env.step(edge);
    expect(there).toMatchObject({ reward: 0, terminated: false, observation: { current: queries.tails[4], hop: 1 } });
    const stay = there.observation.actionMask.length - 1;
    expect(env.step(stay)).toMatchObject({ reward: 0, terminated: false });
    expect(env.step(stay)).toMatchObject({ reward: 1, terminated: true, info: { sample: 4, hit: true } });
    expect(env.render()).toContain('step 3 of 3');
  });

  test('shows the relation and the entity of each step taken', () => {
    const env = makeEnv(id, { graph, queries, hideQueryEdge: false });
    const start = env.reset({ options: { sample: 4 } }).observation;
    const there = env.step(1).observation;
    const end = env.step(there.actionMask.length - 1).observation;
    expect([...start.path]).toEqual([]);
    // Earlier observations stay unchanged in later steps.
    expect([...there.path]).toEqual([start.relations[1], start.tails[1]]);
    expect([...end.path]).toEqual([...there.path, graph.numRelations, there.current]);
    expect([...env.reset().observation.path]).toEqual([]);
    expect([...end.path.subarray(0, 2)]).toEqual([...there.path]);
  });

  test('shows the vectors of head, relation and where the walk stands', () => {
    const vectors = vectorsOf(graph, 4);
    const env = makeEnv(id, { graph, queries, vectors, hideQueryEdge: false });
    env.reset({ seed: 3 });
    const { head, relation, current, vector } = env.step(0).observation;
    const row = (table: Float32Array, i: number) => [...table.subarray(4 * i, 4 * i + 4)];
    expect([...vector]).toEqual([
      ...row(vectors.entities, head),
      ...row(vectors.relations, relation),
      ...row(vectors.entities, current),
    ]);
  });

  test('keeps at most the edges of the cut, an equal choice for an equal seed', () => {
    const world = (cutSeed: number) => linkQueryWorld({ graph, queries, maxEdges: 3, cutSeed });
    expect(world(1).maxActions).toBe(4);
    expect(world(1).tails).toEqual(world(1).tails);
    expect(world(1).tails).not.toEqual(world(2).tails);
    for (let head = 0; head < graph.numEntities; head++) {
      const [begin, end] = [world(1).offsets[head]!, world(1).offsets[head + 1]!];
      expect(end - begin).toBe(Math.min(3, graph.degree(head)));
      for (let edge = begin; edge < end; edge++) {
        expect(graph.edgeIndex(head, world(1).relations[edge]!, world(1).tails[edge]!)).toBeGreaterThanOrEqual(0);
      }
    }
  });

  test('says what is wrong with what it is given', () => {
    const empty = { heads: new Int32Array(0), relations: new Int32Array(0), tails: new Int32Array(0) };
    const lost = { heads: Int32Array.of(0), relations: Int32Array.of(6), tails: Int32Array.of(12) };
    const vectors = vectorsOf(graph, 4);
    expect(() => linkQueryWorld({ graph, queries: empty })).toThrow(/at least one query, got none/);
    expect(() => linkQueryWorld({ graph, queries: { ...queries, tails: empty.tails } })).toThrow(/one length/);
    expect(() => linkQueryWorld({ graph, queries: lost })).toThrow(/ids below 12 and 6, got \(0, 6, 12\) as query 0/);
    expect(() => linkQueryWorld({ graph, queries, horizon: 0 })).toThrow(/at horizon/);
    expect(() => linkQueryWorld({ graph, queries, maxEdges: 1.5 })).toThrow(/at maxEdges/);
    expect(() => linkQueryWorld({ graph, queries, vectors: { ...vectors, dim: 5 } })).toThrow(/at least 12 rows/);
    vectors.entities[9] = NaN;
    expect(() => linkQueryWorld({ graph, queries, vectors })).toThrow(/finite numbers, got NaN, at row 2 of entities/);
    expect(() => makeEnv(id, { graph, queries }).reset({ options: { sample: 60 } })).toThrow(/sample in \[0, 60\)/);
  });
});

describe('LinkQueryBatch', () => {
  const numEnvs = 5;

  test.each(
    variants.flatMap(([name, options]) =>
      (['disabled', 'nextStep', 'sameStep'] as const).map((autoreset): [string, Autoreset, LinkQueryOptions] => [
        name,
        autoreset,
        options,
      ]),
    ),
  )('walks as single environments do, %s, autoreset %s', (_, autoreset, options) => {
    const batch = makeVectorEnv(id, options, numEnvs, autoreset) as LinkQueryBatch;
    expect(batch).toBeInstanceOf(LinkQueryBatch);
    const world = linkQueryWorld(options);
    const singles = new VectorEnv(
      Array.from({ length: numEnvs }, () => new LinkQueryEnv(world)),
      autoreset,
    );
    const rng = Rng.named(0, 'test/actions');
    let [one, all] = [singles.reset({ seed: 40 }), batch.reset({ seed: 40 })];
    for (let round = 0; round < often(20, 60); round++) {
      expect(copied(all)).toEqual(copied(one));
      if (one.live.length === 0) [one, all] = [singles.reset(), batch.reset()];
      const actions = Int32Array.from(one.observations, ({ actionMask }) => world.actionSpace.sample(rng, actionMask));
      [one, all] = [singles.step(actions), batch.step(actions)];
      for (let i = 0; i < numEnvs; i++) {
        const row = batch.masks.subarray(i * batch.maxActions, (i + 1) * batch.maxActions);
        expect(row.subarray(batch.counts[i]!).every((bit) => bit === 0)).toBe(true);
      }
    }
  });

  test('makes nothing new in a step', () => {
    const batch = new LinkQueryBatch(linkQueryWorld({ graph, queries }), numEnvs, 'sameStep');
    const first = batch.reset({ seed: 1 });
    expect(batch.step(batch.counts.map((count) => count - 1))).toBe(first);
  });

  test('refuses an illegal action before any copy has moved', () => {
    const batch = new LinkQueryBatch(linkQueryWorld({ graph, queries }), 3);
    expect(() => batch.step([0, 0, 0])).toThrow(/expected a running episode/);
    batch.reset({ options: [{ sample: 0 }, { sample: 1 }] });
    const stay = [...batch.counts];
    expect(() => batch.step([stay[0]! - 1])).toThrow(/expected 2 actions, got 1/);
    for (const bad of [-1, 0.5, NaN, stay[1]!, batch.maxActions]) {
      expect(() => batch.step([stay[0]! - 1, bad])).toThrow(/that the mask allows for copy 1, got action/);
    }
    expect([...batch.hops.subarray(0, 2)]).toEqual([0, 0]);
    expect(() => batch.reset({ options: [{}, {}, {}, {}] })).toThrow(/at most 3 copies/);
    expect(() => new LinkQueryBatch(linkQueryWorld({ graph, queries }), 0)).toThrow(/at least one environment/);
  });
});

/** Everything a step says, as plain values. */
function copied({ observations, infos, ...columns }: ReturnType<LinkQueryBatch['step']>) {
  const fields = ['head', 'relation', 'current', 'hop', 'path', 'relations', 'tails', 'actionMask', 'vector'] as const;
  const plain = (from: (typeof observations)[number]) =>
    Object.fromEntries(fields.map((field) => [field, structuredClone(from[field])]));
  return {
    ...structuredClone(columns),
    observations: observations.map(plain),
    infos: infos.map(({ sample, done, hit, final }) => {
      const last = final as { observation: (typeof observations)[number]; info: object } | undefined;
      return { sample, done, hit, ...(last && { final: { info: { ...last.info }, ...plainEnd(last.observation) } }) };
    }),
  };
}

const plainEnd = ({ current, hop, head, path, vector }: LinkQueryObservation) => ({
  current,
  hop,
  head,
  path: [...path],
  vector: [...vector],
});

describe('rewards of links', () => {
  const id = 'kgwalk/LinkQuery-v1';
  const { graph, queries } = randomLinks(12, 60);

  describe('shaping of link queries', () => {
    const gamma = 0.9;

    /** Every legal walk of a query: its end, its reward in each step, and whether it hit. */
    function walksOf(options: Partial<LinkQueryOptions>, sample: number) {
      const env = makeEnv(id, { graph, queries, horizon: 2, ...options });
      const legal = ({ actionMask }: LinkQueryObservation) => [...actionMask.keys()].filter((i) => actionMask[i]);
      return legal(env.reset({ options: { sample } }).observation).flatMap((first) => {
        env.reset({ options: { sample } });
        return legal(env.step(first).observation).map((second) => {
          env.reset({ options: { sample } });
          const rewards = [env.step(first).reward];
          const end = env.step(second);
          return { end: end.observation.current, hit: end.info.hit, rewards: [...rewards, end.reward] };
        });
      });
    }

    test('terminal: pays a miss by the probability of the triple that it claims, and a hit as ever', () => {
      const walks = walksOf({ shaping: { kind: 'terminal', weight: 0.5, probability } }, 4);
      const [head, relation] = [queries.heads[4]!, queries.relations[4]!];
      expect(new Set(walks.map(({ hit }) => hit))).toEqual(new Set([true, false]));
      for (const { end, hit, rewards } of walks) {
        expect(hit).toBe(end === queries.tails[4]);
        expect(rewards).toEqual([0, hit ? 1 : 0.5 * probability(head, relation, end)]);
      }
    });

    test('potential: shifts the return of all walks of a query alike, so that the best stay the best', () => {
      const shaping = { kind: 'potential', weight: 2, gamma, probability } as const;
      for (const sample of [4, 9, 30]) {
        const start = 2 * probability(queries.heads[sample]!, queries.relations[sample]!, queries.heads[sample]!);
        const [plain, shaped] = [walksOf({}, sample), walksOf({ shaping }, sample)];
        expect(shaped.map(({ hit }) => hit)).toEqual(plain.map(({ hit }) => hit));
        const discounted = ({ rewards }: { rewards: number[] }) => rewards[0]! + gamma * rewards[1]!;
        shaped.forEach((walk, i) => expect(discounted(walk)).toBeCloseTo(discounted(plain[i]!) - start, 12));
        expect(new Set(shaped.map(({ rewards }) => rewards[0])).size).toBeGreaterThan(2);
      }
    });

    test('says what is wrong with it', () => {
      const shaping = { kind: 'terminal', weight: 1, probability } as const;
      const world = (more: object) => linkQueryWorld({ graph, queries, shaping: { ...shaping, ...more } });
      expect(() => world({ weight: -1 })).toThrow(/at least 0, got -1, at shaping.weight/);
      expect(() => world({ weight: Infinity })).toThrow(/got Infinity/);
      expect(() => world({ gamma: 1.1 })).toThrow(/from 0 to 1, got 1.1, at shaping.gamma/);
      const raw = { ...shaping, weight: 1, probability: () => 1.5 };
      const walk = () => walksOf({ shaping: raw }, 4);
      expect(walk).toThrow(/expected a probability from 0 to 1, got 1.5, at shaping of \(\d+, \d+, \d+\)/);
    });
  });
});
