import { registerReward, rewardKinds } from '../../../envs/dialogue-walk/hits.js';
import { describe, expect, test } from '@jest/globals';
import { checkEnv, embeddingPotential, envIds, makeEnv, registerEnv, shapingReward } from '../../../envs/index.js';
import { envSettings } from '../../../envs/settings.js';
import { unknownId } from '../../../src/kg/graph.js';
import { sampleOf, toyTwoHop } from '../../fixtures/toy-walks.js';

const { graph, samples } = toyTwoHop();
const id = 'kgwalk/OpenDialKG-v1';
const path = { kind: 'path', hit: 1, miss: -1 } as const;
const target = { kind: 'target', hit: 1, miss: 0 } as const;

/** Walks named edges, `stay` for a stay, and returns the last result. */
function walk(env: ReturnType<typeof makeEnv<typeof id>>, sample: number, steps: string[]) {
  let { observation } = env.reset({ options: { sample } });
  let result;
  for (const step of steps) {
    const [relation, tail] = step.split(' ');
    const { relations, tails } = observation;
    const edge = relations.findIndex(
      (r, i) => graph.relationNames[r] === relation && graph.entityNames[tails[i]!] === tail,
    );
    result = env.step(step === 'stay' ? relations.length : edge);
    observation = result.observation;
  }
  return result!;
}

describe('kgwalk/OpenDialKG-v1', () => {
  test('keeps the promises of an environment', () => {
    checkEnv(makeEnv(id, { graph, samples }));
    checkEnv(makeEnv(id, { graph, samples, rules: { horizon: 3, equalAtStep1: true } }), { seed: 7 });
  });

  test('pays for the gold path at the end and nothing before', () => {
    const env = makeEnv(id, { graph, samples, reward: path });
    expect(walk(env, 0, ['directed_by nolan'])).toMatchObject({ reward: 0, terminated: false });
    expect(walk(env, 0, ['directed_by nolan', 'directed tenet'])).toMatchObject({ reward: 1, terminated: true });
    expect(walk(env, 0, ['directed_by nolan', 'wrote tenet'])).toMatchObject({ reward: -1, info: { hit: false } });
    expect(walk(env, 1, ['written_by nolan', 'stay'])).toMatchObject({ reward: 1, info: { hit: true } });
    expect(walk(env, 1, ['directed_by nolan', 'stay']).reward).toBe(-1);
  });

  test('pays for any way to the target when asked to', () => {
    const env = makeEnv(id, { graph, samples, reward: target });
    expect(walk(env, 0, ['written_by nolan', 'wrote tenet']).reward).toBe(1);
    expect(walk(env, 0, ['written_by nolan', 'born_in london']).reward).toBe(0);
  });

  test('pays for the end of the first hop when asked to, which the last hop of the gold is not', () => {
    const reward = { kind: 'first-hop', hit: 1, miss: -1 } as const;
    const env = makeEnv(id, { graph, samples, reward, rules: { horizon: 1, equalAtStep1: false } });
    expect(walk(env, 0, ['written_by nolan'])).toMatchObject({ reward: 1, terminated: true, info: { hit: true } });
    expect(walk(env, 0, ['genre heist'])).toMatchObject({ reward: -1, terminated: true, info: { hit: false } });
    // The target of this one is Halifax, and no gold of one hop leads there.
    expect(walk(env, 2, ['starring page']).reward).toBe(1);
  });

  test('never pays for a gold outside the graph', () => {
    const outside = [
      sampleOf(graph, 'x', 'hi', 'film', [['film', 'genre', 'atlantis']]),
      sampleOf(graph, 'y', 'hi', 'film', [['film', 'starring', 'heist']]),
    ];
    expect(outside.map((sample) => sample.gold.target)).toEqual([unknownId, graph.entityId('heist')]);
    for (const reward of [path, target]) {
      const env = makeEnv(id, { graph, samples: outside, reward });
      for (const sample of [0, 1]) expect(walk(env, sample, ['genre heist', 'stay']).reward).toBe(reward.miss);
    }
  });

  test('shows the task and never the gold', () => {
    const { observation, info } = makeEnv(id, { graph, samples }).reset({ options: { sample: 0 } });
    expect(observation.task).toBe(samples[0]!.task);
    expect(JSON.stringify({ observation, info })).not.toContain('gold');
  });

  test('gives the edges as views of the graph', () => {
    const { observation } = makeEnv(id, { graph, samples }).reset({ options: { sample: 0 } });
    expect(observation.tails.buffer).toBe(graph.tails.buffer);
    expect(observation.actionMask.length).toBe(graph.degree(graph.entityId('film')));
  });

  test('renders what does not change first', () => {
    const earlierPaths = [[[graph.entityId('film'), graph.relationId('genre'), unknownId] as const]];
    const task = { ...samples[0]!.task, earlierPaths };
    const env = makeEnv(id, { graph, samples: [{ ...samples[0]!, task }] });
    env.reset();
    const before = env.render();
    env.step(0);
    const after = env.render();
    const fields =
      'Conversation:\nuser: another film by its director\nEarlier paths:\n- film -[genre]-> (not in the graph)\nNext speaker: assistant\n';
    expect(before).toContain(`${fields}Walk: film\nStep 1 at film\n`);
    expect(after).toContain(`${fields}Walk: film -[directed_by]-> nolan\nStep 2 at nolan\n`);
    expect(after.slice(0, after.indexOf('Walk:'))).toBe(before.slice(0, before.indexOf('Walk:')));
  });

  test('draws walkable samples only, but gives any that is asked for', () => {
    const stuck = sampleOf(graph, 'x', 'hi', 'atlantis', [['film', 'genre', 'heist']]);
    const env = makeEnv(id, { graph, samples: [stuck, samples[0]!] });
    for (let seed = 0; seed < 20; seed++) expect(env.reset({ seed }).info).toEqual({ sample: 1, done: false });
    const { observation, info } = env.reset({ options: { sample: 0 } });
    expect(info).toEqual({ sample: 0, done: true });
    expect(observation.actionMask.length).toBe(0);
    expect(observation.currentEntity).toBe('atlantis');
    expect(() => env.step(0)).toThrow('expected a running episode');
    expect(() => makeEnv(id, { graph, samples: [stuck] })).toThrow('expected a sample whose start has edges');
  });

  test('refuses a sample that is not there', () => {
    const env = makeEnv(id, { graph, samples });
    for (const sample of [-1, 5, 0.5, '0'])
      expect(() => env.reset({ options: { sample } })).toThrow(/expected a sample/);
  });

  test('shaping adds up to minus the potential of the start, for any walk', () => {
    const potential = (state: { current: number }) => 0.1 * state.current + 0.3;
    const plain = makeEnv(id, { graph, samples });
    const shaped = makeEnv(id, { graph, samples, potential });
    for (const steps of [
      ['directed_by nolan', 'directed tenet'],
      ['starring page', 'stay'],
    ]) {
      const total = (env: typeof plain) => walk(env, 0, steps.slice(0, 1)).reward + walk(env, 0, steps).reward;
      expect(total(shaped) - total(plain)).toBeCloseTo(-potential({ current: samples[0]!.task.start }), 12);
    }
  });

  test('shaping discounts the next potential', () => {
    const at = (current: number, done: boolean) => ({ start: 0, current, hop: 1, path: [], done });
    const potential = (state: { current: number }) => state.current;
    expect(shapingReward(potential, samples[0]!, at(2, false), at(5, false), 0.5)).toBe(0.5);
    expect(shapingReward(potential, samples[0]!, at(2, false), at(5, true), 0.5)).toBe(-2);
  });

  test('the embedding potential is the cosine to the target', () => {
    const vectors = new Float32Array(graph.numEntities * 2).fill(1);
    vectors.set([3, 0], 2 * samples[0]!.gold.target);
    const potential = embeddingPotential(vectors, 2);
    const state = { start: 0, current: 0, hop: 0, path: [], done: false };
    expect(potential(state, samples[0]!)).toBeCloseTo(Math.SQRT1_2, 12);
    expect(potential({ ...state, current: unknownId }, samples[0]!)).toBe(0);
  });
});

describe('the registry of environments', () => {
  test('knows ours and says so where an id is unknown', () => {
    expect(envIds()).toContain(id);
    expect(() => makeEnv('kgwalk/Nowhere-v1' as typeof id, { graph, samples })).toThrow(/expected a known environment/);
    expect(() => registerEnv('nowhere', () => () => makeEnv(id, { graph, samples }))).toThrow(/expected an id/);
  });

  test('the settings have the defaults of the published walkers', () => {
    expect(envSettings.parse({})).toEqual({
      id,
      horizon: 2,
      equalAtStep1: false,
      edgePolicy: 'full',
      maxOut: 50,
      reward: { kind: 'path', hit: 1, miss: 0 },
      shaping: 'none',
    });
  });
});

test('a reward has a name that no other has', () => {
  registerReward('test/never', () => false);
  expect(rewardKinds()).toEqual(['target', 'path', 'first-hop', 'test/never']);
  for (const kind of ['path', 'test/never'])
    expect(() => registerReward(kind, () => true)).toThrow(`got "${kind}", which is registered already`);
});
