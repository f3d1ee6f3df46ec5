import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CheckpointEntry, choosePointers, compareEntries, survivors } from '../../checkpoints/keeper.js';

const clone = (step: number, loss?: number, path1?: number): CheckpointEntry => ({
  phase: 'clone',
  step,
  metrics: { ...(loss !== undefined && { 'eval/loss': loss }), ...(path1 !== undefined && { 'eval/path@1': path1 }) },
});
const ppo = (step: number, path1?: number): CheckpointEntry => ({
  phase: 'ppo',
  step,
  metrics: path1 === undefined ? {} : { 'eval/path@1': path1 },
});

describe('the pointers', () => {
  test('the best has the highest path@1 and a tie goes to the later', () => {
    const entries = [clone(1, 2, 0.29), ppo(10, 0.3), ppo(20, 0.3), ppo(30, 0.1)];
    expect(choosePointers(entries)).toEqual({ best: entries[2], clone: entries[0], last: entries[3] });
  });

  test('epochs of cloning compete by loss, and their winner by path@1', () => {
    const entries = [clone(1, 2.5, 0.31), clone(2, 2.1, 0.3), clone(3, 2.1, 0.4), ppo(10, 0.29)];
    expect(choosePointers(entries)).toEqual({ best: entries[2], clone: entries[2], last: entries[3] });
  });

  test('the loss decides among epochs of cloning, not the score', () => {
    const entries = [clone(1, 2, 0.1), clone(2, 2.5, 0.4)];
    expect(choosePointers(entries).clone).toBe(entries[0]);
  });

  test('are in the order of phases, then of steps', () => {
    const order = [ppo(1), clone(5), ppo(20), clone(1), ppo(3)].sort(compareEntries);
    expect(order).toEqual([clone(1), clone(5), ppo(1), ppo(3), ppo(20)]);
    expect([compareEntries(ppo(7), ppo(7)), Math.sign(compareEntries(ppo(1), clone(9)))]).toEqual([0, 1]);
  });

  test('where no loss is given, epochs of cloning compete by score', () => {
    const entries = [clone(1, undefined, 0.29), clone(2, undefined, 0.31), clone(3, undefined, 0.3), ppo(10, 0.3)];
    expect(choosePointers(entries)).toEqual({ best: entries[1], clone: entries[1], last: entries[3] });
  });

  test('without scores the best is the clone, else the last; an empty run has none', () => {
    const entries = [clone(1), clone(2), ppo(10)];
    expect(choosePointers(entries)).toEqual({ best: entries[1], clone: entries[1], last: entries[2] });
    expect(choosePointers([ppo(10), ppo(20)]).best).toEqual(ppo(20));
    expect(choosePointers([])).toEqual({});
  });
});

describe('the keeper', () => {
  test('keeps best, clone, the newest and every n-th', () => {
    const entries = [
      clone(3, 2, 0.2),
      ppo(10, 0.4),
      ppo(20, 0.1),
      ppo(30, 0.1),
      ppo(40, 0.1),
      ppo(50, 0.1),
      ppo(60, 0.1),
    ];
    const steps = survivors(entries, { keepLast: 2, keepEvery: 20 }).map(({ phase, step }) => `${phase}${step}`);
    expect(steps).toEqual(['clone3', 'ppo10', 'ppo20', 'ppo40', 'ppo50', 'ppo60']);
  });

  test('dropping step by step chooses what the whole history would, however a run goes', () => {
    const score = fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined });
    const runs = fc.tuple(fc.array(fc.tuple(score, score), { maxLength: 6 }), fc.array(score, { maxLength: 12 }));
    const settings = fc.record({ keepLast: fc.integer({ min: 1, max: 3 }), keepEvery: fc.nat(4) });
    fc.assert(
      fc.property(runs, settings, ([clones, updates], keep) => {
        const history = [
          ...clones.map(([loss, hits], i) => clone(i + 1, loss, hits)),
          ...updates.map((hits, i) => ppo(i + 1, hits)),
        ];
        let kept: CheckpointEntry[] = [];
        for (const entry of history) kept = survivors([...kept, entry], keep);
        expect(choosePointers(kept)).toEqual(choosePointers(history));
        expect(kept).toEqual(survivors(history, keep));
        const named = Object.values(choosePointers(history)).length;
        const everies = keep.keepEvery > 0 ? history.filter(({ step }) => step % keep.keepEvery === 0).length : 0;
        expect(kept.length).toBeLessThanOrEqual(named + keep.keepLast + everies);
        expect([...kept].sort(compareEntries)).toEqual(kept);
      }),
    );
  });
});
