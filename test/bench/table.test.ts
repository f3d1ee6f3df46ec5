/** The table of the bench: which lines are compared, and how. */
import { describe, expect, test } from '@jest/globals';
import { comparisons } from '../../bench/comparisons.js';
import { placesOf, programs } from '../../bench/programs.js';
import { markdown, tableOf, type Line } from '../../bench/table.js';

const line = (program: string, round: number, more: Partial<Line>): Line => ({
  program,
  round,
  system: 'someone',
  task: 'link-eval',
  settings: {},
  rate: 100,
  unit: 'queries/s',
  cpu_seconds: 1,
  ...more,
});

describe('the table of the bench', () => {
  test('takes the median of the ratios of rounds, not the ratio of medians', () => {
    const rates = [
      [10, 1],
      [20, 10],
      [30, 30],
    ];
    const lines = rates.flatMap(([ours, theirs], round) => [
      line('rank-l1', round, { rate_per_cpu_second: ours! }),
      line('torch-rank-l1', round, { rate_per_cpu_second: theirs! }),
    ]);
    const row = tableOf(lines).find(({ title, peer }) => title.includes('L1') && peer === 'torch')!;
    expect(row).toMatchObject({ ratio: 2, oursFigure: 20, peerFigure: 10, rounds: 3, target: 1, met: true });
  });

  test('compares only rounds that both sides ran', () => {
    const lines = [
      line('rank-l1', 1, { rate_per_cpu_second: 10 }),
      line('torch-rank-l1', 2, { rate_per_cpu_second: 10 }),
    ];
    const row = tableOf(lines).find(({ title, peer }) => title.includes('L1') && peer === 'torch')!;
    expect(row).toMatchObject({ rounds: 0, oursFigure: 10 });
    expect(row.ratio).toBeUndefined();
    expect(row.met).toBeUndefined();
  });

  test('a latency meets its target from below, and lines are distinguished by their settings', () => {
    const latency = (program: string, batch: number, ms: number, system = 'torch') =>
      line(program, 1, { system, task: 'policy-latency', settings: { batch }, rate: 0.5, quality: { cpu_ms: ms } });
    const rows = tableOf([
      latency('forward', 1, 3, 'kgwalk, simd'),
      latency('forward', 64, 9, 'kgwalk, simd'),
      latency('torch-eager', 1, 1),
      latency('torch-eager', 64, 9),
    ]).filter(({ title, peer, ours }) => title.startsWith('Policy') && peer === 'torch eager' && ours.includes('SIMD'));
    expect(rows.map(({ ratio, met }) => [ratio, met])).toEqual([
      [3, false],
      [1, undefined],
    ]);
  });

  test('every figure is of a program that there is', () => {
    const names = programs.map(({ name }) => name);
    for (const { ours, peer } of comparisons)
      expect(names).toEqual(expect.arrayContaining([ours.program, peer.program]));
    expect(new Set(names).size).toBe(names.length);
  });

  test('a program says which places it needs', () => {
    expect(placesOf(programs.find(({ name }) => name === 'openke-1')!)).toEqual(
      expect.arrayContaining(['python', 'data', 'openke']),
    );
  });

  test('a figure that was not measured is a dash', () => {
    expect(markdown(tableOf([]))).toContain('| – |');
  });
});
