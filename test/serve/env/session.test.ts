import { describe, expect, test } from '@jest/globals';
import { linkQueryId, type LinkQueryObservation } from '../../../envs/link-query/world.js';
import { makeEnv, makeVectorEnv, registerEnv } from '../../../envs/registry.js';
import { dict, discrete, multiBinary, text, vector } from '../../../envs/spaces.js';
import { type Autoreset, VectorEnv } from '../../../envs/vector-env.js';
import { Rng } from '../../../src/run/seeds.js';
import { EnvSession, type ServedEnv } from '../../../serve/env/session.js';
import { type Refused, clientOf, type Reply } from '../../fixtures/env-replies.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';

const { graph, train: queries } = tinyLinkWorld();
const dim = 2;
const rng = new Rng(1);
const table = (rows: number) => Float32Array.from({ length: rows * dim }, () => rng.normal());
const vectors = { dim, entities: table(graph.numEntities), relations: table(graph.numRelations) };
const options = { graph, queries, horizon: 2, vectors };

const links = (numEnvs: number, autoreset: Autoreset = 'disabled'): ServedEnv => ({
  envs: makeVectorEnv(linkQueryId, options, numEnvs, autoreset),
  autoreset,
});
const opened = (served: ServedEnv, asked: object = {}) => {
  const client = clientOf(new EnvSession(served));
  client.hello(asked);
  return client;
};

/** The legal action at a place that goes round. */
function chosen(masks: Reply['masks'], turn: number): number[] {
  return masks!.map((mask, copy) => {
    const legal = [...mask.keys()].filter((action) => mask[action] === 1);
    return legal[(turn * 7 + copy) % legal.length] ?? 0;
  });
}

const all = ['head', 'relation', 'current', 'hop', 'path', 'relations', 'tails', 'vector'] as const;
const rowOf = (observation: LinkQueryObservation) =>
  Object.fromEntries(
    all.map((key) => [key, [observation[key]].flatMap((value) => (typeof value === 'number' ? [value] : [...value]))]),
  );
const rowsOf = ({ observations }: Pick<Reply, 'observations'>) =>
  Object.values(observations)[0]!.map((_, row) =>
    Object.fromEntries(Object.entries(observations).map(([key, rows]) => [key, rows[row]])),
  );

describe('hello', () => {
  test('says what is stepped, and which columns come, as a form', () => {
    expect(clientOf(new EnvSession(links(3))).hello()).toMatchObject({
      protocol: 1,
      spec: { id: linkQueryId, maxSteps: 2 },
      numEnvs: 3,
      autoreset: 'disabled',
      actions: { n: 10, first: 0 },
      maxActions: 10,
      columns: [
        { name: 'head', dtype: 'int32', layout: 'fixed', width: 1, form: { kind: 'discrete', n: 16, first: 0 } },
        { name: 'relation', form: { kind: 'discrete', n: 8, first: 0 } },
        { name: 'current' },
        { name: 'hop', form: { n: 3 } },
        { name: 'vector', dtype: 'float32', layout: 'fixed', width: 6 },
      ],
      available: [...all],
    });
  });

  test.each([
    [{ columns: ['head', 'heads'] }, 'usage', /expected columns of the observation, got "heads"/],
    [{ protocol: 2 }, 'data', /protocol/],
    [{ columns: 'head' }, 'data', /columns/],
  ])('refuses %j', (asked, code, message) => {
    const client = clientOf(new EnvSession(links(1)));
    expect(() => client.hello(asked)).toThrow(message);
    try {
      client.hello(asked);
    } catch (error) {
      expect((error as Refused).refusal.code).toBe(code);
    }
  });

  test('comes before anything else', () => {
    expect(() => clientOf(new EnvSession(links(1))).reset()).toThrow('expected hello first');
  });
});

describe('episodes', () => {
  test('are those of single environments with the same seeds, every column of them', () => {
    const client = opened(links(4), { columns: all });
    const singles = Array.from({ length: 4 }, () => makeEnv(linkQueryId, options));
    for (let round = 0; round < 25; round++) {
      let reply = client.reset({ seed: 100 * round });
      const first = singles.map((env, copy) => env.reset({ seed: 100 * round + copy }));
      expect(rowsOf(reply)).toEqual(first.map(({ observation }) => rowOf(observation)));
      expect(reply.infos.begun).toEqual({
        rows: [0, 1, 2, 3],
        values: { sample: first.map(({ info }) => info.sample) },
      });
      for (let step = 0; step < 2; step++) {
        const actions = chosen(reply.masks, round + step);
        const results = singles.map((env, copy) => env.step(actions[copy]!));
        reply = client.step(actions);
        expect(rowsOf(reply)).toEqual(results.map(({ observation }) => rowOf(observation)));
        expect(reply.masks).toEqual(results.map(({ observation }) => [...observation.actionMask]));
        expect(reply.rewards).toEqual(results.map(({ reward }) => reward));
        expect(reply.terminated).toEqual(results.map(({ terminated }) => Number(terminated)));
        if (step === 1) {
          const values = { sample: results.map(({ info }) => info.sample), hit: results.map(({ info }) => info.hit) };
          expect(reply.infos).toEqual({ ended: { rows: [0, 1, 2, 3], values } });
        }
      }
    }
  });

  test.each<Autoreset>(['sameStep', 'nextStep'])('reset by themselves, %s, as the batch does', (autoreset) => {
    const client = opened(links(3, autoreset), { columns: all });
    const batch = makeVectorEnv(linkQueryId, options, 3, autoreset);
    let reply = client.reset({ seed: 5 });
    batch.reset({ seed: 5 });
    let finals = 0;
    let begun = 0;
    for (let step = 0; step < 40; step++) {
      const actions = chosen(reply.masks, step);
      reply = client.step(actions);
      const { observations, infos, rewards, terminated } = batch.step(actions);
      expect(rowsOf(reply)).toEqual(observations.map(rowOf));
      expect([reply.rewards, reply.terminated]).toEqual([[...rewards], [...terminated]]);
      const last = reply.finals.rows.map((row) => infos[row]!.final as { observation: LinkQueryObservation });
      expect(rowsOf(reply.finals.rows.length > 0 ? reply.finals : { observations: { head: [] } })).toEqual(
        last.map(({ observation }) => rowOf(observation)),
      );
      finals += last.length;
      begun += reply.infos.begun?.rows.length ?? 0;
    }
    expect(finals).toBe(autoreset === 'sameStep' ? 60 : 0);
    expect(begun).toBe(autoreset === 'sameStep' ? 60 : 39);
  });

  test('lists come as they are, or padded with -1 to one width', () => {
    const ragged = opened(links(2), { columns: ['tails', 'relations'] }).reset({ seed: 1 });
    const client = clientOf(new EnvSession(links(2)));
    expect(client.hello({ columns: ['tails', 'relations'], padded: true }).columns).toMatchObject([
      { name: 'tails', layout: 'fixed', dtype: 'int32', width: 9 },
      { name: 'relations', layout: 'fixed', dtype: 'int32', width: 9 },
    ]);
    const padded = client.reset({ seed: 1 });
    for (const key of ['tails', 'relations']) {
      expect(padded.observations[key]).toEqual(
        ragged.observations[key]!.map((row) => [...(row as number[]), ...new Array<number>(9 - row.length).fill(-1)]),
      );
    }
  });

  test('a reset chooses the sample of each copy', () => {
    const client = opened(links(2));
    const reply = client.reset({ seed: 1, options: [{ sample: 7 }, { sample: 2 }] });
    expect(reply.infos.begun!.values.sample).toEqual([7, 2]);
    expect(() => client.reset({ options: [{ sample: 7 }] })).toThrow('expected options for 2 copies, got 1');
    const deep = JSON.parse('['.repeat(2000) + ']'.repeat(2000)) as unknown;
    expect(() => client.reset({ options: [{ sample: deep }, {}] })).toThrow('expected at most 32 levels');
    expect(() => client.reset({ options: [{ sample: 0 }, { sample: 99 }] })).toThrow('expected a sample in [0, ');
    // One copy was reset, the other was not.
    expect(() => client.step([0, 0])).toThrow('expected a running episode');
  });
});

describe('a refused step', () => {
  const illegal = (masks: Reply['masks']) => masks!.map((mask, copy) => (copy === 1 ? mask.length : mask.indexOf(1)));

  test.each<[string, ServedEnv]>([
    ['a batch', links(3)],
    [
      'single copies',
      { envs: new VectorEnv([0, 1, 2].map(() => makeEnv(linkQueryId, options))), autoreset: 'disabled' },
    ],
  ])('leaves %s as it was', (_, served) => {
    const client = opened(served, { columns: all });
    const before = client.reset({ seed: 3 });
    expect(() => client.step(illegal(before.masks))).toThrow('that the mask allows for copy 1');
    expect(() => client.step([0])).toThrow('expected 3 actions of 4 bytes, got 4 bytes');
    const actions = chosen(before.masks, 1);
    const again = opened(links(3), { columns: all });
    again.reset({ seed: 3 });
    expect(client.step(actions)).toEqual(again.step(actions));
  });

  test('needs a reset before it and after the end', () => {
    const client = opened(links(1));
    expect(() => client.step([0])).toThrow('expected a running episode');
    let reply = client.reset({ seed: 0 });
    reply = client.step(chosen(reply.masks, 0));
    client.step(chosen(reply.masks, 0));
    expect(() => client.step([0])).toThrow('expected a running episode');
  });

  test('of an environment that throws in the middle asks for a reset', () => {
    let broken = false;
    const plain = () => {
      const space = { action: discrete(2), observation: vector(1) };
      return {
        spec: { id: 'mine/Breaks-v1', maxSteps: 9 },
        actionSpace: space.action,
        observationSpace: space.observation,
        reset: () => ({ observation: new Float32Array(1), info: {} }),
        step() {
          if (broken) throw new TypeError('no such place');
          return { observation: new Float32Array(1), reward: 1, terminated: false, truncated: false, info: {} };
        },
        render: () => '',
        close() {},
      };
    };
    const client = opened({ envs: new VectorEnv([plain(), plain()]), autoreset: 'disabled' });
    client.reset();
    expect(client.step([0, 1]).rewards).toEqual([1, 1]);
    broken = true;
    expect(() => client.step([0, 1])).toThrow('no such place');
    broken = false;
    expect(() => client.step([0, 1])).toThrow('expected a running episode');
    client.reset();
    expect(client.step([0, 1]).rewards).toEqual([1, 1]);
  });
});

describe('environments of other kinds', () => {
  test('a vector alone is one column, without a mask', () => {
    const client = clientOf(
      new EnvSession({ envs: makeVectorEnv('kgwalk/Grid-v1', { size: 3 }, 2), autoreset: 'disabled' }),
    );
    expect(client.hello().columns).toEqual([
      {
        name: 'observation',
        whole: true,
        dtype: 'float32',
        layout: 'fixed',
        width: 9,
        form: expect.objectContaining({ kind: 'vector' }),
      },
    ]);
    expect(client.reset()).toMatchObject({
      masks: undefined,
      counts: [4, 4],
      observations: { observation: [[1, 0, 0, 0, 0, 0, 0, 0, 0], expect.anything()] },
    });
    expect(() => client.step([0, 4])).toThrow('for copy 1');
  });

  test('a mask given with a vector is the mask, and no column', () => {
    const client = clientOf(
      new EnvSession({ envs: makeVectorEnv('kgwalk/MaskedBandit-v1', {}, 1), autoreset: 'disabled' }),
    );
    expect(client.hello().available).toEqual(['observation']);
    expect(client.reset({ seed: 1 }).masks![0]).toHaveLength(10);
  });

  test('actions count from the start of the space, and texts are sent in full', () => {
    const say = { contains: () => true, sample: () => 'x' } as never;
    const env = () => ({
      spec: { id: 'mine/Said-v1', maxSteps: 2 },
      actionSpace: discrete(2, 5),
      observationSpace: dict<object>({ said: text(), unknown: say, actionMask: multiBinary(2) } as never),
      reset: () => ({
        observation: { said: 'grüß dich, 世界', unknown: 1, actionMask: Uint8Array.of(0, 1) },
        info: {},
      }),
      step: (action: number) => ({
        observation: { said: `${action}`, unknown: 1, actionMask: Uint8Array.of(0, 0) },
        ...{ reward: action, terminated: true, truncated: false, info: { list: [1], note: 'done' } },
      }),
      render: () => '',
      close() {},
    });
    const client = opened({ envs: new VectorEnv([env()]), autoreset: 'disabled' }, { columns: ['said'] });
    expect(client.reset().observations.said).toEqual(['grüß dich, 世界']);
    expect(() => client.step([5])).toThrow('got action 5');
    expect(client.step([6])).toMatchObject({ rewards: [6], infos: { ended: { values: { note: ['done'] } } } });
  });

  test('vectors computed outside the environment are a further column', () => {
    const write = (observation: unknown, into: Float32Array, at: number) =>
      void (into[at] = (observation as LinkQueryObservation).current);
    const envs = new VectorEnv([makeEnv(linkQueryId, { graph, queries })]);
    const client = opened(
      { envs, autoreset: 'disabled', vectors: { length: 2, write } },
      { columns: ['vector', 'current'] },
    );
    const { vector, current } = client.reset({ seed: 4 }).observations;
    expect(vector).toEqual([[(current![0] as number[])[0], 0]]);
  });

  test('what no other program can read is refused at the beginning', () => {
    const wrong = (change: object) => {
      const env = { ...makeVectorEnv('kgwalk/Grid-v1', {}, 1), ...change } as never;
      return () => new EnvSession({ envs: env, autoreset: 'disabled' });
    };
    const opaque = { contains: () => true, sample: () => 0 };
    expect(wrong({ actionSpace: opaque })).toThrow('expected an environment with discrete actions');
    expect(wrong({ actionSpace: discrete(2), observationSpace: opaque })).toThrow('that other programs can read');
  });

  test('an observation that breaks its space ends in an error, not in the next row', () => {
    registerEnv('mine/Wide-v1', () => () => ({
      spec: { id: 'mine/Wide-v1', maxSteps: 2 },
      ...{ actionSpace: discrete(2), observationSpace: vector(2) },
      reset: () => ({ observation: new Float32Array(3), info: {} }),
      step: () => ({ observation: new Float32Array(2), reward: 0, terminated: true, truncated: false, info: {} }),
      render: () => '',
      close() {},
    }));
    const envs = makeVectorEnv('mine/Wide-v1' as 'kgwalk/Grid-v1', {}, 1);
    expect(() => opened({ envs, autoreset: 'disabled' }).reset()).toThrow('expected 2 numbers, got 3, at observation');
  });
});
