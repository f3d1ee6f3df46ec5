/** LLM-ARK's bugs in walking and in PPO, by their ids in the catalogue: what each would break here. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { actionLogProbs, type Actor, type ValueNetwork } from '../../trainers/actor.js';
import { walkCollector } from '../../agents/top-paths.js';
import { beamSearch } from '../../agents/dialogue-walker/agent.js';
import type { StateRequest } from '../../agents/dialogue-walker/features/featurizer.js';
import { type Policy, walkerActor, walkerValues } from '../../agents/dialogue-walker/policy.js';
import type { StateBatch } from '../../agents/dialogue-walker/heads/head.js';
import { makeEnv, makeVectorEnv } from '../../envs/registry.js';
import { actionOf, defaultWalkRules, initialState, numActions } from '../../envs/dialogue-walk/rules.js';
import type { DialogueWalkObservation } from '../../envs/dialogue-walk/dialogue-walk-env.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { Rng, subSeed } from '../../src/run/seeds.js';
import { AdamW } from '../../src/nn/adamw.js';
import { segmentLogSoftmax } from '../../src/nn/categorical.js';
import { generalizedAdvantages, rewardsToGo } from '../../trainers/advantages.js';
import { actionDraw, collectRollouts, wholeWalks } from '../../trainers/rollout.js';
import { RolloutBuffer } from '../../trainers/rollout-buffer.js';
import { ppo } from '../fixtures/run-trainers.js';
import { ppoSettings } from '../../trainers/ppo-settings.js';
import { reachableStates, toyFeaturizer } from '../fixtures/toy-walker.js';
import { graphOf, sampleOf, toyTwoHop, type ToyWorld } from '../fixtures/toy-walks.js';
import { toyWalker } from '../fixtures/toy-policy.js';

type WalkActor = Actor<DialogueWalkObservation, StateRequest>;

/** Logits that hang on the action alone, and look like noise. */
const noise = {
  infer: async ({ relations, tails }: StateBatch) =>
    Float32Array.from(tails, (tail, i) => subSeed(0, 'logit', relations[i]!, tail) / 2 ** 30),
} as Policy['head'];

/** Walks every sample along its gold, and keeps what it was asked to score. */
function goldActor({ graph, samples }: ToyWorld) {
  const asked: StateRequest[] = [];
  const actor = {
    requestOf: ({ task, start, current, hop, path }) => ({ task, state: { start, current, hop, path, done: false } }),
    stateKey: ({ path }) => JSON.stringify(path),
    numScores: ({ state }) => numActions(graph, state, defaultWalkRules),
    score(requests) {
      asked.push(...requests);
      const offsets = new Int32Array(requests.length + 1);
      const parts = requests.flatMap(({ task, state }, i) => {
        const { path } = samples.find((sample) => sample.task === task)!.gold;
        const step = path[state.hop] ?? ([state.current, graph.equalRelation, state.current] as const);
        const size = numActions(graph, state, defaultWalkRules);
        offsets[i + 1] = offsets[i]! + size;
        const gold = actionOf(graph, state, step, defaultWalkRules);
        return Array.from({ length: size }, (_, action) => (action === gold ? 0 : -Infinity));
      });
      return { offsets, infer: () => Promise.resolve(Float32Array.from(parts)) } as ReturnType<WalkActor['score']>;
    },
  } as WalkActor;
  return { actor, asked };
}

/** A round of walks on a world, all samples walked `explorations` times. */
async function round(world: ToyWorld, actor: WalkActor, explorations: number, critic?: ValueNetwork<StateRequest>) {
  const count = world.samples.length * explorations;
  const buffer = new RolloutBuffer<StateRequest>(2 * count);
  const envs = makeVectorEnv('kgwalk/OpenDialKG-v1', world, count);
  const samples = [...world.samples.keys()];
  const figures = await collectRollouts(actor, critic, envs, buffer, samples, explorations, actionDraw(new Rng(3)));
  return { buffer, figures };
}

describe('a round of walks', () => {
  const world = toyTwoHop();

  test('B-ARK-1: every step has one reward, one value and one advantage, and the value is of its state', async () => {
    // V(s) = current entity / 16, exact in float32: no two states of a walk share it.
    const critic = {
      values: (requests: readonly StateRequest[]) => () => ({
        read: () => Promise.resolve(Float32Array.from(requests, ({ state }) => state.current / 16)),
      }),
    } as unknown as ValueNetwork<StateRequest>;
    const { buffer } = await round(world, goldActor(world).actor, 3, critic);
    const { rewards, values, next } = buffer.rollout;
    const { advantages, returns } = generalizedAdvantages(buffer.rollout, 1, 0);
    const steps = 5 * 3 * 2;
    expect([rewards, values, next, advantages, returns].map(({ length }) => length)).toEqual(Array(5).fill(steps));
    const [batch] = buffer.bySample(5, new Rng(1));
    expect(Object.values(batch!.transitions).map(({ length }) => length)).toEqual(Array(6).fill(steps));
    for (let t = 0; t < steps; t++) {
      const last = next[t]! < 0;
      const nextValue = last ? 0 : values[next[t]!]!;
      expect(advantages[t]).toBeCloseTo((last ? 1 : 0) + nextValue - values[t]!, 6);
    }
    const first = buffer.states.slice(0, 5).map(({ state }) => state.current / 16);
    expect([...values.subarray(0, 15)]).toEqual(first.flatMap((value) => [value, value, value]));
  });

  test('B-ARK-11: the reward comes at the end alone, so the return is discounted once', async () => {
    const { buffer, figures } = await round(world, goldActor(world).actor, 1);
    expect(figures).toEqual({ reward: 1, hits: 1, length: 2 });
    expect([...buffer.rollout.rewards]).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    const toGo = rewardsToGo(buffer.rollout, 0.5);
    expect([...toGo]).toEqual([0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1]);
  });

  test.each([
    ['hits', 0, 1],
    ['misses', 1, -1],
  ])('B-ARK-11: a walk that %s under the paper’s γ and λ is discounted once', async (_, sample, reward) => {
    // The gold actor goes to Tenet; in the second world the gold is elsewhere.
    const elsewhere = { ...world.samples[0]!, gold: world.samples[2]!.gold };
    const samples = [sample === 0 ? world.samples[0]! : elsewhere];
    const rewarded = { ...world, samples, reward: { kind: 'path', hit: 1, miss: -1 } } as ToyWorld;
    const { buffer } = await round(rewarded, goldActor(world).actor, 1);
    expect([...buffer.rollout.rewards]).toEqual([0, reward]);
    const toGo = rewardsToGo(buffer.rollout, 0.95);
    expect(toGo[0]).toBeCloseTo(0.95 * reward, 6);
    expect(toGo[1]).toBe(reward);
    // Values are 0 without a critic: the advantage of the first step is γλ times that of the last, its return too.
    const { advantages, returns } = generalizedAdvantages(buffer.rollout, 0.95, 0.95);
    expect([...advantages, ...returns].map((value) => value.toFixed(6))).toEqual(
      [0.95 * 0.95 * reward, reward, 0.95 * 0.95 * reward, reward].map((value) => value.toFixed(6)),
    );
  });

  test('B-ARK-17: a state that copies of a walk share is scored once, and a walk that is over never', async () => {
    const { actor, asked } = goldActor(world);
    const { buffer } = await round(world, actor, 8);
    // Five starts and five middles, however many copies; nothing after the second step.
    expect(asked.map(({ state }) => state.hop)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    expect([buffer.length, buffer.states.length]).toEqual([80, 10]);
  });

  test.each([
    ['no stay at the first step', { horizon: 2, equalAtStep1: false }],
    ['a stay at the first step', { horizon: 2, equalAtStep1: true }],
  ])('B-ARK-2: is learned from over the very actions it was drawn from: %s', async (_, rules) => {
    const toy = await toyWalker(world, rules);
    const policy = toy.policy(1);
    const actor = walkerActor(policy);
    const { buffer } = await round({ ...world, rules } as ToyWorld, actor, 4);
    const env = makeEnv('kgwalk/OpenDialKG-v1', { ...world, rules });
    for (const { states, transitions } of buffer.bySample(5, new Rng(1))) {
      const requests = Array.from(states, (state) => buffer.states[state]!);
      const { offsets, logits } = actor.score(requests);
      const logProbs = segmentLogSoftmax(await logits().read(), offsets);
      requests.forEach(({ task, state }, s) => {
        let { observation } = env.reset({
          options: { sample: world.samples.findIndex((sample) => sample.task === task) },
        });
        for (const step of state.path) {
          const at = { ...state, current: observation.current, hop: observation.hop, path: observation.path };
          ({ observation } = env.step(actionOf(world.graph, at, step, rules)));
        }
        const legal = observation.actionMask.reduce((sum, one) => sum + one, 0);
        expect(offsets[s + 1]! - offsets[s]!).toBe(legal);
      });
      transitions.oldLogProb.forEach((logProb, t) => {
        const now = logProbs[offsets[transitions.state[t]!]! + transitions.action[t]!]!;
        expect(Math.abs(Math.exp(now - logProb) - 1)).toBeLessThanOrEqual(1e-6);
      });
    }
    policy.head.dispose();
  });
});

test('B-ARK-1, B-MIN-1: the critic learns the return of each start', async () => {
  const rules = { horizon: 1, equalAtStep1: false };
  const graph = graphOf('two hubs', [
    ['sure', 'to', 'prize'],
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((arm) => ['hub', 'to', arm] as const),
  ]);
  const samples = [
    sampleOf(graph, 'sure', 'the only way', 'sure', [['sure', 'to', 'prize']]),
    sampleOf(graph, 'hub', 'one of six', 'hub', [['hub', 'to', 'c']]),
  ];
  const world = { graph, samples };
  const toy = await toyWalker(world, rules, { head: 'pa-mlp' });
  const [policy, critic] = [toy.policy(1), toy.critic(1)];
  const settings = ppoSettings.parse({
    ...{ baseline: 'critic', klCoef: 0, lrDecay: 'none', warmupUpdates: 0, learningRate: 0.01 },
    ...{ updates: 20, samplesPerUpdate: 2, minibatchSamples: 2, explorations: 32, updateEpochs: 4 },
  });
  // The policy is fixed, so that returns of starts are, too.
  const still = { zeroGrad() {}, step: () => Promise.resolve(0) } as unknown as AdamW;
  await ppo({
    ...{ actor: walkerActor(policy), optimizer: still, settings, seed: 1 },
    critic: { network: walkerValues(critic, policy.featurizer), optimizer: new AdamW(critic.parameters) },
    collect: wholeWalks(makeVectorEnv('kgwalk/OpenDialKG-v1', { ...world, rules }, 64), Int32Array.of(0, 1)),
  });
  const starts = samples.map(({ task }) => ({ task, state: initialState(graph, task.start, rules) }));
  const { logProbs } = await actionLogProbs(walkerActor(policy), starts);
  const golds = [0, 1 + actionOf(graph, starts[1]!.state, samples[1]!.gold.path[0]!, rules)];
  const values = await critic.values(policy.featurizer.batch(starts)).read();
  golds.forEach((gold, i) => expect(Math.abs(values[i]! - Math.exp(logProbs[gold]!))).toBeLessThan(0.1));
});

test('B-ARK-3: only edges and a legal stay have a probability, for any size of the graph', async () => {
  const sized = fc
    .record({ entities: fc.integer({ min: 1, max: 60 }), relations: fc.integer({ min: 1, max: 9 }) })
    .chain(({ entities, relations }) =>
      fc.array(fc.tuple(fc.nat(entities - 1), fc.nat(relations - 1), fc.nat(entities - 1)), {
        minLength: 1,
        maxLength: 80,
      }),
    );
  await fc.assert(
    fc.asyncProperty(sized, fc.boolean(), async (triples, equalAtStep1) => {
      const graph = graphOf(
        'random',
        triples.map(([h, r, t]) => [`e${h}`, `r${r}`, `e${t}`]),
      );
      const rules = { horizon: 2, equalAtStep1 };
      const samples = graph.entityNames.map((name) => sampleOf(graph, name, 'a message', name, [[name, 'r0', name]]));
      const featurizer = await toyFeaturizer({ graph, samples }, { rules, edgeFeatures: false });
      const requests = reachableStates({ graph, samples: samples.slice(0, 12) }, rules);
      const { logProbs, offsets } = await actionLogProbs(walkerActor({ head: noise, featurizer }), requests);
      const { relations, tails } = featurizer.batch(requests);
      expect([relations.length, tails.length, offsets.length]).toEqual([
        logProbs.length,
        logProbs.length,
        requests.length + 1,
      ]);
      requests.forEach(({ state }, s) => {
        const [begin, end] = [offsets[s]!, offsets[s + 1]!];
        const listed = Array.from({ length: end - begin }, (_, i) => `${relations[begin + i]} ${tails[begin + i]}`);
        const { entityNames, relationNames } = graph;
        const out = triples
          .filter(([head]) => `e${head}` === entityNames[state.current])
          .map(([, r, t]) => `${relationNames.indexOf(`r${r}`)} ${entityNames.indexOf(`e${t}`)}`);
        const stay = state.hop > 0 || equalAtStep1 ? [`${relationNames.length} ${state.current}`] : [];
        expect(listed.sort()).toEqual([...new Set(out), ...stay].sort());
        const mass = logProbs.subarray(begin, end).reduce((sum, logProb) => sum + Math.exp(logProb), 0);
        expect(mass).toBeCloseTo(1, 5);
      });
    }),
    { numRuns: 30 },
  );
});

test('B-ARK-7, B-MIN-1: no edge of a hub is lost, in training, in evaluation or between two readings of the file', async () => {
  const build = () => {
    const builder = new GraphBuilder();
    for (let i = 0; i < 300; i++) builder.add('hub', `r${i % 7}`, `arm ${i}`);
    return builder.build('hub');
  };
  const graph = build();
  expect(build().hash).toBe(graph.hash);
  const rules = { horizon: 1, equalAtStep1: false };
  const gold = [['hub', 'r5', 'arm 299']] as const;
  const samples = [sampleOf(graph, 'q', 'the last arm', 'hub', gold)];
  const featurizer = await toyFeaturizer({ graph, samples }, { rules, edgeFeatures: false });
  const [request] = reachableStates({ graph, samples }, rules);
  const { tails, relations } = featurizer.batch([request!]);
  const trained = Array.from(tails, (tail, i) => `${relations[i]} ${tail}`);
  expect(new Set(trained).size).toBe(300);
  const env = makeEnv('kgwalk/OpenDialKG-v1', { graph, samples, rules });
  const { observation } = env.reset({ options: { sample: 0 } });
  expect(Array.from(observation.tails, (tail, i) => `${observation.relations[i]} ${tail}`)).toEqual(trained);
  const collector = walkCollector(graph, { beamWidth: 400 });
  const [ranking] = await beamSearch({ head: noise, featurizer }, [samples[0]!.task], 25, collector);
  expect(ranking!.paths.map(({ path: [step] }) => `${step![1]} ${step![2]}`).sort()).toEqual([...trained].sort());
});

test('B-ARK-10: what a state shows depends on the state alone, the whole dialogue at every step', () => {
  const { graph, samples } = toyTwoHop();
  const said = ['hello', 'which film', 'the one about dreams', 'who made it'];
  const messages = said.map((text, i) => ({ sender: i % 2 ? ('assistant' as const) : ('user' as const), text }));
  const talks = samples.map((sample) => ({ ...sample, task: { ...sample.task, messages } }));
  const env = makeEnv('kgwalk/OpenDialKG-v1', { graph, samples: talks });
  const shown = (sample: number, actions: readonly number[]) => {
    env.reset({ options: { sample } });
    for (const action of actions) env.step(action);
    return env.render();
  };
  const once = shown(0, [1]);
  // Other walks in between, of this sample and of others, leave no trace.
  for (const [sample, action] of [
    [0, 0],
    [2, 3],
    [4, 1],
  ] as const) {
    shown(sample, [action]);
  }
  expect(shown(0, [1])).toBe(once);
  for (const text of said) expect(once).toContain(text);
  expect(shown(0, [0])).not.toBe(once);
});
