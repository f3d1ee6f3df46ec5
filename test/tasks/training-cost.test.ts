/** Processor time of a run's training, stopped and resumed, and of steps that were made twice. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { cpuFigure, readTimings } from '../../src/run/metric-log.js';
import { type ProgressReporter, silentProgress } from '../../src/run/progress.js';
import { runFiles } from '../../src/run/run-files.js';
import { train } from '../../tasks/train.js';
import { trainingCostOf } from '../../tasks/training-cost.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { stopAt, tinySettings } from '../fixtures/tiny-training.js';

const home = useReleaseHome();
const run = () => join(home(), 'stopped');
const timings = () => readTimings(runFiles(run()).timing);
const stepsOf = (phase: string) => timings().flatMap((one) => (one.phase === phase ? one.step : []));
const cost = (phase: string) =>
  trainingCostOf({ folder: '', record: { checkpoint: phase === 'clone' ? 'clone' : 'last', phase } }, run());
const spentIn = (...phases: string[]) =>
  timings()
    .filter((one) => phases.includes(one.phase) && one['time/reused'] !== 1)
    .reduce((sum, one) => sum + Number(one[cpuFigure]), 0) / 1000;

const numSteps = 3;
/** Work done before each line of progress, by its label. */
const opened = new Map<string, number[]>();
const noted =
  (report: ProgressReporter): ProgressReporter =>
  (label, total, unit, before = 0) => {
    opened.set(label, [...(opened.get(label) ?? []), before]);
    return report(label, total, unit, before);
  };

beforeAll(async () => {
  const settings = tinySettings('ppo.updates=3');
  const stops = [['clone', 2] as const, ['ppo', 2] as const];
  for (const [phase, done] of stops) {
    const resume = phase === 'clone' ? {} : ({ resume: 'last' } as const);
    const { progress, signal } = stopAt(phase, done);
    const stopped = train({ settings, folder: run(), ...resume, progress: noted(progress), signal });
    await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
    // In the middle of the first epoch the cost so far is in a separate record.
    if (phase === 'clone') expect(stepsOf('clone')).toEqual([done]);
  }
  await train({ settings, folder: run(), resume: 'last', progress: noted(silentProgress) });
  expect(stepsOf('clone')).toEqual([2, numSteps, 2 * numSteps]);
});

test('what was done before says nothing of the rate that progress lines show', () => {
  // A phase has a line; both were stopped after two steps.
  expect(opened.get('clone')).toEqual([0, 2]);
  expect(opened.get('ppo')).toEqual([0, 2]);
});

test('a run that was stopped in either phase has recorded each step once, and its cost is of all of them', () => {
  expect(cost('clone')!.cpuSeconds).toBeCloseTo(spentIn('transe', 'clone'), 6);
  expect(cost('ppo')!.cpuSeconds).toBeCloseTo(spentIn('transe', 'clone', 'ppo'), 6);
});

test('a run that was killed and made steps again has no processor time, up to a phase that it made once it has', () => {
  const { timing } = runFiles(run());
  const before = readFileSync(timing, 'utf8');
  const last = before.split('\n').findLast((line) => line.includes('"ppo"') && line.includes('time/env_steps'))!;
  appendFileSync(timing, `${last}\n`);
  expect(cost('ppo')).toEqual({ weights: cost('clone')!.weights });
  expect(cost('clone')!.cpuSeconds).toBeCloseTo(spentIn('transe', 'clone'), 6);
  writeFileSync(timing, before);
});
