import { describe, expect, test } from '@jest/globals';
import { spreadOut } from '../../../reports/plots/config.js';
import {
  courseOf,
  largest,
  movingMean,
  paceOf,
  plotsOf,
  seriesOfPhase,
  windowOf,
} from '../../../reports/plots/series.js';
import type { RunLog } from '../../../reports/plots/series.js';
import type { MetricRecord } from '../../../src/run/records.js';

describe('series', () => {
  test('are taken by phase and key, and a step that was logged again counts once', () => {
    const records: MetricRecord[] = [
      { phase: 'clone', step: 1, metrics: { a: 9 } },
      { phase: 'ppo', step: 1, metrics: { a: 1, b: 2 } },
      { phase: 'ppo', step: 2, metrics: { a: 3 } },
      { phase: 'ppo', step: 2, metrics: { a: 4 } },
    ];
    const series = seriesOfPhase(records, 'ppo');
    expect([...series.get('a')!]).toEqual([
      [1, 1],
      [2, 4],
    ]);
    expect([...series.keys()]).toEqual(['a', 'b']);
  });

  test('the moving mean is centred, cut at the ends and passes over what is not a number', () => {
    expect(movingMean([1, 2, 6, 4], 3)).toEqual([1.5, 3, 4, 5]);
    expect(movingMean([1, NaN, 3], 3)).toEqual([1, 2, 3]);
    expect(movingMean([5, 7], 1)).toEqual([5, 7]);
  });
});

test('the pace of a phase leaves out its first record, unless it is the only one, and repeated steps', () => {
  const timed = (phase: string, step: number, seconds: number) => ({ phase, step, seconds });
  const records = [
    timed('clone', 1, 9),
    timed('ppo', 1, 50),
    timed('ppo', 2, 3),
    timed('ppo', 2, 30),
    timed('ppo', 4, 5),
  ];
  expect(paceOf(records, 'ppo')).toEqual({ steps: 3, seconds: 8 });
  expect(paceOf(records.slice(0, 2), 'ppo')).toEqual({ steps: 1, seconds: 50 });
  expect(paceOf(records, 'fit')).toEqual({ steps: 0, seconds: 0 });
});

test('the largest of half a million values, and of none', () => {
  expect(largest(Array.from({ length: 500_000 }, (_, i) => i % 7))).toBe(6);
  expect(largest([])).toBe(-Infinity);
});

describe('the course of a line', () => {
  const seeds = [1, 2, 6].map((value) => [value, 2 * value]);

  test('is the mean with the t interval of three seeds', () => {
    const { mean, high } = courseOf({ seeds }, 1);
    expect(mean).toEqual([3, 6]);
    // Deviation of 1, 2, 6 is √7; t of 2 degrees of freedom is 4.303.
    expect(high![0]).toBeCloseTo(3 + (4.303 * Math.sqrt(7)) / Math.sqrt(3), 6);
  });

  test('has no interval below three seeds, and the seeds themselves', () => {
    expect(courseOf({ seeds: seeds.slice(0, 2) }, 1)).toEqual({ seeds: seeds.slice(0, 2), mean: [1.5, 3] });
  });
});

test('a line is smoothed where it is long and logged in training, never where it is evaluated', () => {
  expect(windowOf('train/loss', 120)).toBe(7);
  expect(windowOf('train/loss', 120, 0.2)).toBe(25);
  expect(windowOf('train/loss', 120, 0)).toBe(1);
  expect(windowOf('eval/path@1', 120)).toBe(1);
  expect(windowOf('train/loss', 39)).toBe(1);
});

describe('plots of a phase', () => {
  /** A log of `a` at the given steps, equal to them, each of which took seconds and environment steps. */
  const log = (steps: readonly number[], timed = steps, env = 10_000): RunLog => ({
    metrics: steps.map((step) => ({ phase: 'ppo', step, metrics: { 'eval/a': step / 100, 'train/loss': step } })),
    timings: timed.map((step) => ({ phase: 'ppo', step, seconds: 30, 'time/env_steps': env })),
  });
  const lines = (...runs: RunLog[]) => [{ label: 'one', color: '#0072b2', runs }];

  test('have the metrics in logging order, with titles and units of figures', () => {
    const figures = [{ key: 'a', title: 'A of walks', unit: 'mean' }];
    const plots = plotsOf(lines(log([1, 2])), 'ppo', { figures, axis: 'step' });
    expect([...plots].map(([key, { title, unit }]) => [key, title, unit])).toEqual([
      ['eval/a', 'A of walks on valid', 'mean'],
      ['train/loss', 'loss on train', ''],
    ]);
    expect(plotsOf(lines(log([1, 2])), 'ppo', { axis: 'step' }).get('eval/a')).toMatchObject({
      ...{ title: 'a on valid, %', unit: '%', window: 1 },
    });
    expect(plotsOf(lines(log([1, 2])), 'clone', { axis: 'step' }).size).toBe(0);
  });

  test('have the steps of every seed, so that a stopped seed bends nothing; while runs grow, those of any', () => {
    const runs = lines(log([1, 2, 3]), log([1, 2]));
    const [ended] = plotsOf(runs, 'ppo', { axis: 'step' }).get('train/loss')!.lines;
    expect(ended).toMatchObject({
      label: 'one',
      x: [[1, 2], [1, 2].map((x) => 10 * x), [30, 60]],
      seeds: [
        [1, 2],
        [1, 2],
      ],
    });
    const [growing] = plotsOf(runs, 'ppo', { axis: 'step', growing: true }).get('train/loss')!.lines;
    expect(growing).toMatchObject({
      seeds: [
        [1, 2, 3],
        [1, 2, null],
      ],
    });
    expect(growing!.x[0]).toEqual([1, 2, 3]);
  });

  test('band a share of one seed by the samples that it is a mean of, and the mean of several seeds not', () => {
    const counted = (n: number): RunLog => ({
      ...log([10, 50]),
      metrics: [10, 50].map((step) => ({ phase: 'ppo', step, metrics: { 'eval/a': step / 100, 'eval/n': n } })),
    });
    const plots = plotsOf(lines(counted(100)), 'ppo', { axis: 'step' });
    expect([...plots.keys()]).toEqual(['eval/a']);
    const [line] = plots.get('eval/a')!.lines;
    // Wilson 1927: 50 of 100 lie between 40.4 and 59.6 %.
    expect([line!.low![1], line!.high![1]]).toEqual([expect.closeTo(0.4038, 4), expect.closeTo(0.5962, 4)]);
    expect(
      plotsOf(lines(counted(9), counted(9)), 'ppo', { axis: 'step' }).get('eval/a')!.lines[0]!.low,
    ).toBeUndefined();
    expect(plotsOf(lines(log([10, 50])), 'ppo', { axis: 'step' }).get('eval/a')!.lines[0]!.low).toBeUndefined();
  });

  test('leave out lines of one step next to longer ones, unless runs grow', () => {
    const some = [...lines(log([1, 2])), { label: 'two', color: '#d55e00', runs: [log([1])] }];
    const labels = (growing: boolean) =>
      plotsOf(some, 'ppo', { axis: 'step', growing })
        .get('train/loss')!
        .lines.map(({ label }) => label);
    expect(labels(false)).toEqual(['one']);
    expect(labels(true)).toEqual(['one', 'two']);
  });

  test('have the axes that every line has, the wanted one first, in units of their size', () => {
    const axes = (runs: RunLog[], growing = false) =>
      plotsOf(lines(...runs), 'ppo', { axis: 'time/env_steps', growing }).get('train/loss')!.axes;
    expect(axes([log([1, 2, 3])])).toEqual(['thousands of environment steps', 'updates', 'seconds']);
    expect(axes([log([1, 2, 3, 4, 5], undefined, 10)])).toEqual(['environment steps', 'updates', 'minutes']);
    expect(axes([log([1, 2, 3], [1, 2])])).toEqual(['updates']);
    // What was just logged may not be timed yet.
    expect(axes([log([1, 2, 3], [1, 2])], true)).toEqual(['thousands of environment steps', 'updates', 'seconds']);
    expect(axes([log([1, 2, 3], [1])], true)).toEqual(['updates']);
    const { metrics, timings } = log([1, 2, 3]);
    const read = timings.map((one) => ({ ...one, 'time/asked_tokens': 900 }));
    expect(axes([{ metrics, timings: read }]).at(-1)).toBe('tokens read by the model');
  });
});

test('labels are moved apart, and stay inside the plot', () => {
  expect(spreadOut([50, 52, 90], 10, 0, 100)).toEqual([50, 60, 90]);
  expect(spreadOut([95, 97, 99], 10, 0, 100)).toEqual([80, 90, 100]);
  expect(spreadOut([], 10, 0, 100)).toEqual([]);
});
