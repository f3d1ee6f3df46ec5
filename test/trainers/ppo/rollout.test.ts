/** Data of an update of PPO: the order of samples, drawn actions, collected walks and their buffer. */
import { describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../trainers/actor.js';
import type { StateRequest } from '../../../agents/dialogue-walker/features/featurizer.js';
import { walkerActor, walkerValues } from '../../../agents/dialogue-walker/policy.js';
import type { DialogueWalkObservation } from '../../../envs/dialogue-walk/dialogue-walk-env.js';
import { defaultWalkRules } from '../../../envs/dialogue-walk/rules.js';
import type { Env } from '../../../envs/env.js';
import { Grid } from '../../../envs/index.js';
import { makeEnv } from '../../../envs/registry.js';
import { VectorEnv } from '../../../envs/vector-env.js';
import { Rng } from '../../../src/run/seeds.js';
import { AdamW } from '../../../src/nn/adamw.js';
import { SimdParameters, SimdTape } from '../../../src/nn/simd/tape.js';
import { sampleSegment } from '../../../src/nn/categorical.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { ppo } from '../../fixtures/run-trainers.js';
import { actionDraw, collectRollouts, sampleOrder, wholeWalks } from '../../../trainers/rollout.js';
import { RolloutBuffer } from '../../../trainers/rollout-buffer.js';
import { recordedTrees, rowNumbers, tableActor, type TreeRequest } from '../../fixtures/random-walks.js';
import { toyWalker } from '../../fixtures/toy-policy.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

describe('the samples of updates', () => {
  const walkable = Int32Array.of(2, 3, 5, 7, 11, 13, 17);

  test.each([1, 3, 7, 10])('cover every walkable sample once a pass, %i at a time', (count) => {
    const samplesOf = sampleOrder(walkable, count, 4);
    const updates = Array.from({ length: 21 }, (_, update) => samplesOf(update));
    expect(updates.every((samples) => samples.length === count)).toBe(true);
    const drawn = updates.flat();
    for (let pass = 0; (pass + 1) * 7 <= drawn.length; pass++) {
      expect(drawn.slice(pass * 7, (pass + 1) * 7).sort((a, b) => a - b)).toEqual([...walkable]);
    }
  });

  test('are the same in any order of updates', () => {
    const samplesOf = sampleOrder(walkable, 5, 4);
    const backwards = [3, 2, 0, 1, 3].map((update) => samplesOf(update));
    expect(backwards).toEqual([3, 2, 0, 1, 3].map((update) => sampleOrder(walkable, 5, 4)(update)));
  });

  test('come in another order at each pass and seed', () => {
    const orders = [0, 1, 2].map((pass) => sampleOrder(walkable, 7, 4)(pass).join());
    expect(new Set([...orders, sampleOrder(walkable, 7, 5)(0).join()]).size).toBe(4);
  });
});

const policy = [0.7, 0.2, 0.1];
/** The three actions between those of other states. */
const logProbs = Float32Array.from([1, ...policy, 1], Math.log);
const drawn = (rate: number, seed = 1) =>
  actionDraw(Rng.named(seed, 'walk'), { rate, rng: Rng.named(seed, 'dropout') });

/** Chance of each action over all ways to drop some of them. */
function expectedShares(rate: number): number[] {
  const shares = policy.map(() => 0);
  for (let kept = 0; kept < 8; kept++) {
    const keeps = policy.map((_, i) => ((kept >> i) & 1) === 1);
    const chance = keeps.reduce((product, keep) => product * (keep ? 1 - rate : rate), 1);
    const weights = policy.map((p, i) => (keeps[i] ? p : Number.EPSILON));
    const total = weights.reduce((a, b) => a + b);
    weights.forEach((weight, i) => (shares[i]! += (chance * weight) / total));
  }
  return shares;
}

describe('actions are drawn', () => {
  test('as the policy says where nothing is dropped, by the same draws', () => {
    const [rng, plain, own] = [Rng.named(1, 'walk'), drawn(0), actionDraw(Rng.named(1, 'walk'))];
    for (let i = 0; i < 200; i++) {
      const index = sampleSegment(logProbs, 1, 4, rng);
      expect([plain(logProbs, 1, 4), own(logProbs, 1, 4)]).toEqual([index, index]);
    }
  });

  test.each([0.1, 0.5, 0.9, 0.99])('with dropout %d as often as over all ways to drop', (rate) => {
    const [draw, draws] = [drawn(rate), 40_000];
    const counts = [0, 0, 0];
    for (let i = 0; i < draws; i++) counts[draw(logProbs, 1, 4)]!++;
    expectedShares(rate).forEach((share, i) => {
      expect(Math.abs(counts[i]! / draws - share)).toBeLessThan(4.5 * Math.sqrt((share * (1 - share)) / draws));
    });
  });

  test('from long lists, each action dropped as often as another', () => {
    // All but the first action weigh nothing, so the draw shows whether the first was dropped.
    const rate = 0.3;
    const long = new Float32Array(300).fill(-40);
    for (const first of [0, 1, 150, 299]) {
      const sharp = long.slice();
      sharp[first] = 0;
      const draw = drawn(rate, first);
      let kept = 0;
      for (let i = 0; i < 1000; i++) kept += Number(draw(sharp, 0, 300) === first);
      expect(Math.abs(kept / 1000 - (1 - rate))).toBeLessThan(4.5 * Math.sqrt((rate * (1 - rate)) / 1000));
    }
  });

  test('never where the probability is none, and the only action always', () => {
    const none = Float32Array.of(-Infinity, 0, -Infinity);
    const draw = drawn(0.2);
    for (let i = 0; i < 200; i++) expect(draw(Float32Array.of(-5), 0, 1)).toBe(0);
    // Where the middle one is dropped too, the dropped ones share alike.
    const counts = [0, 0, 0];
    for (let i = 0; i < 4000; i++) counts[draw(none, 0, 3)]!++;
    expect(counts[1]! / 4000).toBeGreaterThan(0.8);
  });

  test('equally for equal seeds', () => {
    const draws = (seed: number) => {
      const draw = drawn(0.5, seed);
      return Array.from({ length: 50 }, () => draw(logProbs, 1, 4)).join('');
    };
    expect(draws(1)).toBe(draws(1));
    expect(draws(1)).not.toBe(draws(2));
  });
});

const step = { action: 0, logProb: 0, value: 0, reward: 0, terminated: false, previous: -1 };

/** Samples 10, 20, 30 with two walks of two steps; both walks of a sample share its first state. */
function filled() {
  const buffer = new RolloutBuffer<string>(12);
  let made = 0;
  for (const sample of [10, 20, 30]) {
    for (const walk of [0, 1]) {
      const state = (key: string) => buffer.stateIndex(key, () => (made++, key));
      const previous = buffer.add({ ...step, state: state(`${sample}`), sample, action: walk });
      buffer.add({ ...step, state: state(`${sample}/${walk}`), sample, previous, terminated: true, reward: walk });
    }
  }
  return { buffer, made };
}

describe('RolloutBuffer', () => {
  test('B-ARK-17: stores a state that walks share once', () => {
    const { buffer, made } = filled();
    expect(made).toBe(9);
    expect(buffer.states.slice(0, 3)).toEqual(['10', '10/0', '10/1']);
    expect(buffer.length).toBe(12);
  });

  test('chains the steps of an episode', () => {
    const { rollout, samples } = filled().buffer;
    expect([...rollout.next.subarray(0, 4)]).toEqual([1, -1, 3, -1]);
    expect([...rollout.terminated.subarray(0, 4)]).toEqual([0, 1, 0, 1]);
    expect([...samples.subarray(3, 6)]).toEqual([10, 20, 20]);
  });

  test('a minibatch holds whole samples with their states renumbered', () => {
    const { buffer } = filled();
    buffer.setAdvantages({ advantages: Float32Array.from({ length: 12 }, (_, i) => i), returns: new Float32Array(12) });
    const batches = [...buffer.bySample(2, new Rng(5))];
    expect(batches.map(({ transitions }) => transitions.state.length)).toEqual([8, 4]);
    expect(batches.flatMap(({ transitions }) => [...transitions.advantage]).sort((a, b) => a - b)).toEqual([
      ...Array(12).keys(),
    ]);
    for (const { states, transitions } of batches) {
      const names = [...transitions.state].map((index) => buffer.states[states[index]!]!);
      const rows = [...transitions.advantage];
      expect(names).toEqual(rows.map((row) => buffer.states[[0, 1, 0, 2, 3, 4, 3, 5, 6, 7, 6, 8][row]!]));
      expect(new Set(states).size).toBe(states.length);
    }
  });

  test('equal seeds give equal minibatches, other seeds another order', () => {
    const { buffer } = filled();
    const order = (seed: number) => [...buffer.bySample(1, Rng.named(seed, 'order'))].map(({ states }) => states[0]);
    expect(order(1)).toEqual(order(1));
    expect(new Set(Array.from({ length: 20 }, (_, seed) => order(seed).join())).size).toBeGreaterThan(1);
  });

  test('writing to a minibatch leaves the buffer as it was', () => {
    const { buffer } = filled();
    for (const { transitions } of buffer.bySample(3, new Rng(0))) transitions.advantage.fill(9);
    for (const { transitions } of buffer.bySample(3, new Rng(0))) expect(transitions.advantage[0]).toBe(0);
  });

  test('can be filled again, keeps its bounds and marks cut episodes', () => {
    const { buffer } = filled();
    expect(() => buffer.add({ ...step, state: 0, sample: 1 })).toThrow(/expected at most 12/);
    buffer.clear();
    expect([buffer.length, buffer.states.length]).toEqual([0, 0]);
    const row = buffer.add({ ...step, state: buffer.stateIndex('10', () => 'new'), sample: 10 });
    buffer.truncate(row, 2.5);
    expect(buffer.rollout.bootstrapValues[row]).toBe(2.5);
    expect(buffer.states).toEqual(['new']);
    expect([...buffer.rollout.next]).toEqual([-1]);
  });

  test('B-ARK-13: a log-probability comes back as the same float32', () => {
    const buffer = new RolloutBuffer<number>(1);
    const logProb = Math.fround(-1.2345678);
    buffer.add({ ...step, state: buffer.stateIndex('s', () => 0), sample: 0, logProb });
    const [batch] = buffer.bySample(1, new Rng(0));
    expect(batch!.transitions.oldLogProb[0]).toBe(logProb);
  });
});

test('an episode that the environment cuts is worth what the critic says of the state it was left in', async () => {
  const world = toyTwoHop();
  const toy = await toyWalker(world, defaultWalkRules, { head: 'pa-mlp' });
  const [policy, critic] = [toy.policy(1), toy.critic(1)];
  const left: DialogueWalkObservation[] = [];
  const cutAfterOneStep = (): Env<DialogueWalkObservation> => {
    const env = makeEnv('kgwalk/OpenDialKG-v1', world);
    const step = env.step.bind(env);
    env.step = (action) => {
      const result = step(action);
      left.push(result.observation);
      return { ...result, terminated: false, truncated: true };
    };
    return env;
  };
  const envs = new VectorEnv([cutAfterOneStep(), cutAfterOneStep()]);
  const buffer = new RolloutBuffer<StateRequest>(2);
  const [actor, values] = [walkerActor(policy), walkerValues(critic, policy.featurizer)];
  const figures = await collectRollouts(actor, values, envs, buffer, [0, 4], 1, actionDraw(new Rng(3)));
  const requests = left.map(({ task, start, current, hop, path }) => ({
    task,
    state: { start, current, hop, path, done: false },
    actions: new Int32Array(0),
  }));
  const expected = await critic.values(policy.featurizer.batch(requests)).read();
  expect([figures.length, buffer.length]).toEqual([1, 2]);
  expect([...buffer.rollout.bootstrapValues]).toEqual([...expected]);
  expect(expected.every((value) => value !== 0)).toBe(true);
});

test('an actor without custom keys distinguishes states by the path to them', async () => {
  const kind = { seed: 8, ends: true, cuts: false };
  const collected = async (keyed: boolean) => {
    const { stateKey, ...actor } = tableActor(8, rowNumbers());
    const { envs } = recordedTrees(kind, 60, rowNumbers());
    const buffer = new RolloutBuffer<TreeRequest>(180);
    const draw = actionDraw(new Rng(3));
    const walker = keyed ? { ...actor, stateKey: stateKey! } : actor;
    // Two samples of one number are one.
    await collectRollouts(walker, undefined, envs, buffer, [0, 4, 2, 4], 15, draw);
    actor.dispose();
    const [batch] = buffer.bySample(3, new Rng(1));
    return { states: buffer.states.map(({ state }) => state), batch };
  };
  const own = await collected(false);
  expect(own).toEqual(await collected(true));
  expect(own.states.length).toBeLessThan(own.batch!.transitions.state.length);
  expect(own.states.filter(({ path }) => path === '')).toHaveLength(3);
});

/** Cells of a room of 5 × 5. */
const cells = 25;

type Cell = { task: { id: string }; cell: number };

/** Scores of four moves for every cell; a state is its cell, independent of the path. */
function cellActor(): Actor<Float32Array, Cell> {
  const data = Float32Array.from({ length: cells * 4 }, (_, i) => Math.sin(i) / 4);
  const parameters = new SimdParameters({ scores: { shape: [cells, 4], data } });
  const tape = new SimdTape(parameters);
  return {
    parameters,
    requestOf: (observation) => ({ task: { id: 'grid' }, cell: observation.indexOf(1) }),
    stateKey: (observation) => String(observation.indexOf(1)),
    numScores: () => 4,
    score: (requests) => ({
      offsets: Int32Array.from({ length: requests.length + 1 }, (_, i) => 4 * i),
      logits() {
        tape.begin();
        const index = Int32Array.from(requests, ({ cell }) => cell);
        return tape.outputs([tape.rows(tape.parameter('scores'), index)]);
      },
    }),
    weightsChanged() {},
    dispose: () => parameters.dispose(),
  };
}

const grids = (count: number) => new VectorEnv(Array.from({ length: count }, () => new Grid({ maxSteps: 40 })));

test('a state that comes back in a later step of a walk is stored once, and its actions keep their probabilities', async () => {
  const actor = cellActor();
  const buffer = new RolloutBuffer<Cell>(20 * 40);
  await collectRollouts(actor, undefined, grids(20), buffer, [0], 20, actionDraw(new Rng(5)));
  expect(new Set(buffer.states.map(({ cell }) => cell)).size).toBe(buffer.states.length);
  expect(buffer.length).toBeGreaterThan(4 * buffer.states.length);
  const scores = (await actor.parameters.export()).scores!.data as Float32Array;
  const [batch] = [...buffer.bySample(1, new Rng(0))];
  const { states, transitions } = batch!;
  const expected = Float32Array.from(transitions.state, (state, i) => {
    const { cell } = buffer.states[states[state]!]!;
    const own = [...scores.subarray(4 * cell, 4 * cell + 4)].map(Math.exp);
    return Math.log(own[transitions.action[i]!]! / own.reduce((a, b) => a + b));
  });
  transitions.oldLogProb.forEach((logProb, i) => expect(logProb).toBeCloseTo(expected[i]!, 5));
  actor.dispose();
});

test('PPO over cells finds the shortest walk through the room', async () => {
  const actor = cellActor();
  const optimizer = new AdamW(actor.parameters);
  const settings = ppoSettings.parse({
    ...{ init: 'scratch', updates: 60, samplesPerUpdate: 1, explorations: 32, updateEpochs: 4, klCoef: 0 },
    ...{ learningRate: 0.1, warmupUpdates: 0, lrDecay: 'none', entropyCoef: 0.001, gamma: 0.95 },
  });
  const rewards: number[] = [];
  await ppo({
    ...{ actor, optimizer, collect: wholeWalks(grids(32), Int32Array.of(0)), settings, seed: 2 },
    onUpdate: ({ metrics }) => void rewards.push(metrics['rollout/reward']!),
  });
  optimizer.dispose();
  actor.dispose();
  expect(rewards[0]).toBeLessThan(0.2);
  expect(Math.max(...rewards.slice(-10))).toBeGreaterThan(0.86 - 0.05);
});
