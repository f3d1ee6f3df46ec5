import { describe, expect, test } from '@jest/globals';
import {
  CartPole,
  type DialogueWalkObservation,
  type Env,
  MaskedBandit,
  type MaskedVector,
  type ResetOptions,
  checkEnv,
  makeEnv,
  makeVectorEnv,
} from '../../envs/index.js';
import {
  box,
  dict,
  discrete,
  idPairs,
  ids,
  multiBinary,
  oneOf,
  relationIds,
  sequence,
  text,
  vector,
} from '../../envs/spaces.js';
import { Rng } from '../../src/run/seeds.js';
import { documentationPages, examplesOf } from '../docs/examples.js';
import { importTypeScript } from '../docs/typescript-examples.js';
import { sampleOf, toyTwoHop } from '../fixtures/toy-walks.js';

/** Our environment with one method replaced: what a careless author would have written. */
function broken(change: (env: Env<DialogueWalkObservation>) => Partial<Env<DialogueWalkObservation>>) {
  const env = makeEnv('kgwalk/OpenDialKG-v1', toyTwoHop());
  const bound: Env<DialogueWalkObservation> = {
    spec: env.spec,
    actionSpace: env.actionSpace,
    observationSpace: env.observationSpace,
    reset: (options) => env.reset(options),
    step: (action) => env.step(action),
    render: () => env.render(),
    close: () => env.close(),
  };
  return { ...bound, ...change(bound) };
}

describe('checkEnv', () => {
  test('accepts an environment that keeps its promises', () => {
    expect(() =>
      checkEnv(
        broken(() => ({})),
        { refusals: true },
      ),
    ).not.toThrow();
  });

  test('notices randomness that the seed does not reach', () => {
    let count = 0;
    const env = broken(({ step }) => ({ step: (action) => ({ ...step(action), reward: count++ }) }));
    expect(() => checkEnv(env)).toThrow(/expected equal episodes/);
  });

  test('notices actions that are taken although the mask forbids them', () => {
    const env = broken(({ step }) => ({ step: (action) => step(action === -1 ? 0 : action) }));
    expect(() => checkEnv(env)).not.toThrow();
    expect(() => checkEnv(env, { refusals: true })).toThrow(/InvalidAction for illegal action -1, got no error/);
  });

  test('notices a mask that allows too much', () => {
    const longer = ({ actionMask }: DialogueWalkObservation) => new Uint8Array(actionMask.length + 1).fill(1);
    const env = broken(({ reset }) => ({
      reset(options) {
        const { observation, info } = reset(options);
        return { observation: { ...observation, actionMask: longer(observation) }, info };
      },
    }));
    expect(() => checkEnv(env, { episodes: 20 })).toThrow(/got action|observationSpace/);
  });

  test('notices an episode that never ends, a step after the end and two ends at once', () => {
    const endless = broken(({ step }) => ({ spec: { id: 'a/B-v1', maxSteps: 1 }, step }));
    expect(() => checkEnv(endless)).toThrow(/an end within 1 steps/);
    const both = broken(({ step }) => ({ step: (action) => ({ ...step(action), terminated: true, truncated: true }) }));
    expect(() => checkEnv(both)).toThrow(/terminated or truncated or neither/);
    const eternal = broken(({ reset, step }) => ({
      step(action) {
        try {
          return step(action);
        } catch {
          reset();
          return step(0);
        }
      },
    }));
    expect(() => checkEnv(eternal, { refusals: true })).toThrow(/ResetNeeded/);
  });

  test('notices vectors that do not fit, and says which', () => {
    class Wide extends CartPole {
      override readonly observationSpace = box([-1, -1, -1], [1, 1, 1]);
    }
    expect(() => checkEnv(new Wide())).toThrow(/got another: Float32Array\(4\) \[/);
  });

  test('notices an action beyond the space that is taken where there is no mask', () => {
    class Lenient extends CartPole {
      override step(action: number) {
        return super.step(action === 2 ? 1 : action);
      }
    }
    expect(() => checkEnv(new Lenient())).not.toThrow();
    expect(() => checkEnv(new Lenient(), { refusals: true })).toThrow(
      /InvalidAction for illegal action 2, got no error/,
    );
  });

  test.each([
    ['nothing', () => undefined, /an environment, got undefined/],
    ['a Promise', () => Promise.resolve(new CartPole()), /an environment, got a Promise/],
    [
      'no reset',
      () => Object.assign(new CartPole(), { reset: undefined }),
      /got reset=undefined \(expected a function\)/,
    ],
    ['no maxSteps', () => Object.assign(new CartPole(), { spec: { id: 'a/B-v1' } }), /got spec.maxSteps=undefined/],
    ['no space', () => Object.assign(new CartPole(), { actionSpace: 2 }), /got actionSpace=2 \(expected object\)/],
    [
      'a bare vector',
      () => Object.assign(new CartPole(), { reset: () => new Float32Array(4) }),
      /got Float32Array\(4\) \[/,
    ],
    [
      'a tuple',
      () => Object.assign(new CartPole(), { step: () => [1, 2] }),
      /an object with an observation, got an array of 2/,
    ],
  ])('names what is missing: %s', (_, made, message) => {
    expect(() => checkEnv(made() as never)).toThrow(message);
  });

  test('accepts every environment of the pages, and takes no other options', async () => {
    const blocks = documentationPages()
      .flatMap(examplesOf)
      .filter(({ text }) => /observationSpace:/.test(text));
    expect(blocks.length).toBeGreaterThan(0);
    for (const { language, text } of blocks) {
      const own = /function (\w+)\(length/.exec(text)?.[1];
      // What the block goes on to train is left out.
      const alone = own === undefined ? text : `${text.split('\nconst { return')[0]!}\nexport { ${own} as make };`;
      const { make, plugin } = await importTypeScript(`${alone}\n`);
      const registered: (() => Env<never>)[] = [];
      plugin?.({
        registerEnv: (_: string, factory: (options: object) => () => Env<never>) => registered.push(factory({})),
      });
      for (const made of make ? [make] : registered) checkEnv(made());
      expect([language, make ? 1 : registered.length]).toEqual([language, 1]);
    }
    expect(() => checkEnv(new CartPole(), { episode: 2 } as never)).toThrow(/unknown episode, did you mean episodes\?/);
  });

  test('notices a mask that is too long or of another type', () => {
    const withMask = (actionMask: unknown) =>
      class extends MaskedBandit {
        override reset(options?: ResetOptions) {
          const { observation, info } = super.reset(options);
          return { observation: { ...observation, actionMask } as MaskedVector, info };
        }
      };
    const Long = withMask(new Uint8Array(11).fill(1));
    expect(() => checkEnv(new Long())).toThrow(
      /expected an actionMask of at most 10 actions, uint8, got Uint8Array\(11\)/,
    );
    const Booleans = withMask(new Array(10).fill(true));
    expect(() => checkEnv(new Booleans())).toThrow(/at most 10 actions, uint8, got an array of 10/);
    const Short = withMask(new Uint8Array(9).fill(1));
    expect(() => checkEnv(new Short())).toThrow(
      /expected an observation of observationSpace, got another: \{ observation/,
    );
  });

  test('notices an observation that is written over by the next step', () => {
    class Thrifty extends CartPole {
      readonly #shown = new Float32Array(4);
      override reset(options?: ResetOptions) {
        const result = super.reset(options);
        this.#shown.set(result.observation);
        return { ...result, observation: this.#shown };
      }
      override step(action: number) {
        const result = super.step(action);
        this.#shown.set(result.observation);
        return { ...result, observation: this.#shown };
      }
    }
    expect(() => checkEnv(new Thrifty())).toThrow(/to stay as it was given, got one that the next step changed/);
  });
});

const { graph, samples } = toyTwoHop();
const id = 'kgwalk/OpenDialKG-v1';

describe('VectorEnv', () => {
  test('seeds copy i with seed + i', () => {
    const vector = makeVectorEnv(id, { graph, samples }, 4);
    const single = makeEnv(id, { graph, samples });
    const { infos } = vector.reset({ seed: 30 });
    infos.forEach((info, i) => expect(info).toEqual(single.reset({ seed: 30 + i }).info));
  });

  test('steps every live copy and leaves finished ones alone', () => {
    const rules = { horizon: 3, equalAtStep1: false };
    const vector = makeVectorEnv(id, { graph, samples, rules }, 2);
    const start = vector.reset({ options: [{ sample: 0 }, { sample: 4 }] });
    expect([...start.live]).toEqual([0, 1]);
    vector.step([0, 0]);
    const stay = graph.degree(graph.entityId('nolan'));
    const second = vector.step([stay, 0]);
    expect([...second.live]).toEqual([1]);
    expect([...second.terminated]).toEqual([1, 0]);
    const third = vector.step([999, 0]);
    expect([...third.terminated]).toEqual([0, 1]);
    expect(third.rewards[0]).toBe(0);
    expect(third.observations[0]).toBe(second.observations[0]);
    expect(third.live.length).toBe(0);
  });

  test('a start without edges is never live, and fewer copies may take part', () => {
    const stuck = sampleOf(graph, 'x', 'hi', 'atlantis', [['film', 'genre', 'heist']]);
    const vector = makeVectorEnv(id, { graph, samples: [stuck, ...samples] }, 3);
    expect([...vector.reset({ options: [{ sample: 1 }, { sample: 0 }] }).live]).toEqual([0]);
    expect(() => vector.step([0])).toThrow(/expected 2 actions/);
    expect(() => vector.reset({ options: [{}, {}, {}, {}] })).toThrow(/at most 3 copies/);
  });

  test('resets on its own only when asked to', () => {
    const vector = makeVectorEnv(id, { graph, samples, rules: { horizon: 1, equalAtStep1: false } }, 1, 'nextStep');
    vector.reset({ seed: 1 });
    const ended = vector.step([0]);
    expect([...ended.terminated]).toEqual([1]);
    const fresh = vector.step([0]);
    expect([...fresh.terminated, ...fresh.rewards]).toEqual([0, 0]);
    expect(fresh.observations[0]!.hop).toBe(0);
  });
});

describe('spaces', () => {
  test('a masked draw takes legal actions only, each of them', () => {
    const rng = new Rng(3);
    const mask = Uint8Array.of(0, 1, 0, 1, 1);
    const drawn = new Set(Array.from({ length: 200 }, () => discrete(9).sample(rng, mask)));
    expect([...drawn].sort()).toEqual([1, 3, 4]);
    expect(() => discrete(2).sample(rng, Uint8Array.of(0, 0))).toThrow('at least one legal action');
  });

  test('contains what it draws, and equal seeds draw equally', () => {
    const space = dict({
      n: discrete(5, -1),
      mask: multiBinary(6),
      list: ids(4, 3),
      path: idPairs(2, 5, 3),
      name: text(),
      who: oneOf('user', 'assistant'),
      items: sequence(discrete(3)),
      box: box([-1, -Infinity, 0, -Infinity], [1, Infinity, Infinity, 0.1]),
      vector: vector(3),
    });
    for (let seed = 0; seed < 50; seed++) {
      const drawn = space.sample(new Rng(seed));
      expect(space.contains(drawn)).toBe(true);
      expect(space.sample(new Rng(seed))).toEqual(drawn);
    }
  });

  test('a form says in plain values what the space holds; fields that only this program can read are left out', () => {
    const space = dict({
      n: discrete(5, -1),
      list: ids(4, 3),
      name: text(),
      items: sequence(discrete(3)),
      at: vector(2),
      within: box([-1, -Infinity], [0.5, Infinity]),
    });
    expect(JSON.parse(JSON.stringify(space.form))).toEqual({
      kind: 'dict',
      fields: {
        n: { kind: 'discrete', n: 5, first: -1 },
        list: { kind: 'list', dtype: 'int32', maxLength: 3, low: 0, high: 3 },
        name: { kind: 'text' },
        at: { kind: 'vector', length: 2 },
        within: { kind: 'vector', length: 2, low: [-1, null], high: [0.5, null] },
      },
    });
    expect(relationIds(65_537, 2).form).toMatchObject({ dtype: 'int32' });
    expect(relationIds(65_536, 2).form).toMatchObject({ dtype: 'uint16' });
  });

  test('refuses what lies outside', () => {
    const bounded = box([0, -Infinity], [0.1, 5]);
    const held = [
      discrete(3, -1).contains(-1),
      idPairs(2, 4, 2).contains(Int32Array.of(1, 3)),
      bounded.contains(Float32Array.of(0.1, -1e9)),
    ];
    const outside = [
      ...[3, 0.5].map((value) => discrete(3).contains(value)),
      multiBinary(2).contains(Uint8Array.of(0, 2)),
      ids(3, 2).contains(Int32Array.of(0, 1, 2)),
      ...[Int32Array.of(2, 3), Int32Array.of(1, 3, 1)].map((pairs) => idPairs(2, 4, 2).contains(pairs)),
      ...[[0.2, 0], [0, -Infinity], [NaN, 0], [0]].map((values) => bounded.contains(Float32Array.from(values))),
      bounded.contains([0, 0]),
      dict({ a: text() }).contains({ a: 'x', b: 1 }),
      sequence(text()).contains(['a', 1]),
    ];
    expect([held, outside]).toEqual([held.map(() => true), outside.map(() => false)]);
    expect(() => box([0, 0], [1])).toThrow('as many lower as upper bounds');
    expect(() => box([2], [1])).toThrow('none above its own');
  });
});
