import { describe, expect, test } from '@jest/globals';
import { makeEnv, makeVectorEnv } from '../../envs/index.js';
import { sampleOf, toyTwoHop } from '../fixtures/toy-walks.js';

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
