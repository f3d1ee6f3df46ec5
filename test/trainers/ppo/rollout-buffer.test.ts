import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { RolloutBuffer } from '../../../trainers/rollout.js';

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
    const batches = [...buffer.minibatches(2, new Rng(5))];
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
    const order = (seed: number) => [...buffer.minibatches(1, Rng.named(seed, 'order'))].map(({ states }) => states[0]);
    expect(order(1)).toEqual(order(1));
    expect(new Set(Array.from({ length: 20 }, (_, seed) => order(seed).join())).size).toBeGreaterThan(1);
  });

  test('writing to a minibatch leaves the buffer as it was', () => {
    const { buffer } = filled();
    for (const { transitions } of buffer.minibatches(3, new Rng(0))) transitions.advantage.fill(9);
    for (const { transitions } of buffer.minibatches(3, new Rng(0))) expect(transitions.advantage[0]).toBe(0);
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
    const [batch] = buffer.minibatches(1, new Rng(0));
    expect(batch!.transitions.oldLogProb[0]).toBe(logProb);
  });
});
