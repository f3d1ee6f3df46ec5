import { describe, expect, test } from '@jest/globals';
import { type Draws, trialCount, trialSettings, parseSpace } from '../../plans/space.js';

const draws = (grid: string[], sample: string[] = [], more: Partial<Draws> = {}): Draws => ({
  dimensions: parseSpace(grid, sample),
  seed: 0,
  ...more,
});
const settings = (space: Draws, count: number) => Array.from({ length: count }, (_, i) => trialSettings(space, i + 1));

test('a grid is its full product, the last key changing first', () => {
  const space = draws(['a=1,2', 'b=x,y,z']);
  expect(trialCount(space, undefined)).toBe(6);
  expect(settings(space, 6).map(({ a, b }) => `${String(a)}${String(b)}`)).toEqual([
    '1x',
    '1y',
    '1z',
    '2x',
    '2y',
    '2z',
  ]);
});

describe('draws', () => {
  const ranges = ['lr=log:1e-4..1e-2', 'clip=uniform:0..1', 'n=int:1..4', 'how=choice:p,q'];

  test('stay in their ranges and use all of them', () => {
    const drawn = settings(draws([], ranges), 400);
    const lrs = drawn.map(({ lr }) => lr as number);
    expect(Math.min(...lrs)).toBeGreaterThanOrEqual(1e-4);
    expect(Math.max(...lrs)).toBeLessThanOrEqual(1e-2);
    // Uniform in the logarithm: half of them below the middle, 1e-3, within four standard deviations.
    expect(Math.abs(lrs.filter((lr) => lr < 1e-3).length - 200)).toBeLessThan(40);
    for (const n of [1, 2, 3, 4]) expect(Math.abs(drawn.filter((one) => one.n === n).length - 100)).toBeLessThan(36);
    expect(new Set(drawn.map(({ how }) => how))).toEqual(new Set(['p', 'q']));
  });

  test('a trial follows from the seed and its number alone', () => {
    const space = draws(['g=1,2'], ranges, { seed: 5 });
    expect(trialSettings(space, 17)).toEqual(settings(space, 20)[16]);
    expect(trialSettings({ ...space, seed: 6 }, 17)).not.toEqual(trialSettings(space, 17));
  });

  test('another key does not shift what a key draws', () => {
    const alone = settings(draws([], ['lr=log:1e-4..1e-2']), 10).map(({ lr }) => lr);
    expect(settings(draws([], ranges), 10).map(({ lr }) => lr)).toEqual(alone);
  });

  test('points of a grid take turns, each with separate draws', () => {
    const drawn = settings(draws(['g=1,2,3'], ['clip=uniform:0..1']), 24);
    expect(drawn.map(({ g }) => g)).toEqual(Array.from({ length: 24 }, (_, i) => (i % 3) + 1));
    expect(new Set(drawn.map(({ clip }) => clip)).size).toBe(24);
  });
});

describe('the number of trials', () => {
  const both = draws(['g=1,2,3'], ['clip=uniform:0..1']);

  test('is given where something is drawn', () => expect(trialCount(both, 7)).toBe(7));

  test.each<[Draws, number | undefined, string]>([
    [both, undefined, 'expected --trials with --sample, got none'],
    [both, 2, 'expected at least 3 trials, one a point of the grid, got 2, at --trials'],
    [draws(['g=1,2,3']), 4, 'expected 3 trials, one a point of the grid, got 4, at --trials'],
  ])('%#: is refused', (space, asked, message) => expect(() => trialCount(space, asked)).toThrow(message));
});
