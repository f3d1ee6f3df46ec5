/** The loop of a sweep over fake runs: starting, keeping, stopping and resuming. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { MetricRecord } from '../../src/run/records.js';
import { sweepIn, type SweepRecord, trialsOf } from '../../src/run/sweep.js';
import { openSweep, plannedSweep, sweepName, type SweepPlan } from '../../plans/sweep.js';
import { sweepResults } from '../../plans/results.js';
import { runSweep, type SweepWork, type RunTrial } from '../../plans/run-sweep.js';
import { parseSpace } from '../../plans/space.js';
import type { ProgramEnd } from '../../jobs/run-job.js';
import { inTurn } from '../fixtures/long-tests.js';
import { folderWith } from '../fixtures/tiny-release.js';

const plan = (more: Partial<SweepPlan> = {}): SweepPlan => ({
  preset: 'demo',
  overrides: [],
  dimensions: parseSpace(['ppo.clipRange=0.1,0.2,0.3,0.4'], []),
  seeds: [0],
  seed: 0,
  better: 'high',
  ...more,
});
const newFolder = () => join(folderWith({}), 'sweep-x');

const evaluation = (step: number, value: number, phase = 'ppo'): MetricRecord => ({
  phase,
  step,
  metrics: { 'eval/path@1': value, 'eval/mrr': 0 },
});

/** Runs that log these records, and what is started. @param scripts by the name of the run; others take `usual` */
function madeUp(scripts: Record<string, MetricRecord[] | ProgramEnd>, usual: MetricRecord[] = [evaluation(1, 0.5)]) {
  const started: string[] = [];
  let atOnce = 0;
  let most = 0;
  const run: RunTrial = async ({ folder }, { onMetrics, signal }) => {
    const name = basename(folder);
    started.push(name);
    most = Math.max(most, ++atOnce);
    try {
      const script = scripts[name] ?? usual;
      if (!Array.isArray(script)) return script;
      for (const record of script) {
        await new Promise((resolve) => setImmediate(resolve));
        if (signal.aborted) return { state: 'stopped' };
        onMetrics(record);
      }
      return { state: signal.aborted ? 'stopped' : 'finished' };
    } finally {
      atOnce--;
    }
  };
  return { run, started, most: () => most };
}

async function swept(
  folder: string,
  record: SweepRecord,
  work: Partial<SweepWork> & { run: RunTrial },
  resume = false,
) {
  const sweep = openSweep(folder, record, resume);
  try {
    await runSweep(sweep, { jobs: 1, ...work });
  } finally {
    sweep.close();
  }
  return sweepResults(sweepIn(folder)!);
}

const states = ({ trials }: ReturnType<typeof sweepResults>) => trials.map(({ state }) => state);

test('every trial is run with every seed, and the best has the highest mean of its best evaluations', async () => {
  const record = await plannedSweep(plan({ seeds: [0, 1] }));
  const { run, started } = madeUp({
    'trial-002-s0': [evaluation(1, 0.7), evaluation(2, 0.9), evaluation(3, 0.8)],
    'trial-002-s1': [evaluation(1, 0.7)],
    'trial-003-s0': [evaluation(1, 0.79)],
    'trial-003-s1': [evaluation(1, 0.79)],
  });
  const results = await swept(newFolder(), record, { run });
  expect(started).toHaveLength(8);
  expect(new Set(started).size).toBe(8);
  expect(results.metric).toBe('eval/path@1');
  expect(results.best).toMatchObject({ trial: 2, value: expect.closeTo(0.8, 10), n: 2 });
  // t of one degree of freedom, 12.706, times the standard error 0.1.
  expect(results.best!.low).toBeCloseTo(0.8 - 1.2706, 3);
  expect(results.best!.command).toBe('kgwalk train demo --set ppo.clipRange=0.2 --seeds 0,1');
});

test('the command that trains the best again loads the plugins of the sweep', async () => {
  const record = await plannedSweep(plan({ plugins: ['my env.mjs'], overrides: ['ppo.updates=3'] }));
  const { best } = await swept(newFolder(), record, madeUp({}));
  expect(best!.command).toBe("kgwalk train demo --plugin 'my env.mjs' --set ppo.updates=3 --set ppo.clipRange=0.1");
});

test('evaluations of embeddings, and NaN, choose nothing', async () => {
  const record = await plannedSweep(plan());
  const { run } = madeUp({}, [
    evaluation(1, 0.99, 'transe'),
    evaluation(1, NaN),
    evaluation(2, 0.2),
    evaluation(3, 0.3, 'clone'),
  ]);
  const results = await swept(newFolder(), record, { run });
  expect(results.trials.map(({ value }) => value)).toEqual([0.3, 0.3, 0.3, 0.3]);
});

test('a figure may be named, and may be better where it is lower', async () => {
  const record = await plannedSweep(plan({ metric: 'eval/loss', better: 'low' }));
  const loss = (value: number): MetricRecord => ({ phase: 'clone', step: 1, metrics: { 'eval/loss': value } });
  const { run } = madeUp({ 'trial-003-s0': [loss(3), loss(1), loss(2)] }, [loss(2)]);
  expect((await swept(newFolder(), record, { run })).best).toMatchObject({ trial: 3, value: 1 });
});

test('so many run at once', async () => {
  const record = await plannedSweep(plan());
  const { run, most } = madeUp({});
  await swept(newFolder(), record, { run, jobs: 3 });
  expect(most()).toBe(3);
});

test('a run that fails is kept with its reason and stops nothing; asked to, it is run again', async () => {
  const record = await plannedSweep(plan());
  const folder = newFolder();
  const first = madeUp({ 'trial-002-s0': { state: 'failed', reason: 'expected finite loss, got NaN' } });
  const results = await swept(folder, record, first);
  expect(states(results)).toEqual(['finished', 'failed', 'finished', 'finished']);
  expect(results.trials[1]!.reason).toBe('expected finite loss, got NaN');
  const none = madeUp({});
  await swept(folder, record, none, true);
  expect(none.started).toEqual([]);
  const again = madeUp({});
  expect(states(await swept(folder, record, { ...again, retryFailed: true }, true))).not.toContain('failed');
  expect(again.started).toEqual(['trial-002-s0']);
});

test('a run without the figure counts as failed', async () => {
  const record = await plannedSweep(plan({ metric: 'eval/none' }));
  const results = await swept(newFolder(), record, madeUp({}));
  expect(results.trials[0]!.reason).toBe('expected eval/none in the evaluations on valid, got none');
  expect(results.best).toBeUndefined();
});

test('stopped and resumed, every run ends once', async () => {
  const record = await plannedSweep(plan({ seeds: [0, 1] }));
  const folder = newFolder();
  const stop = new AbortController();
  const { run } = madeUp({});
  let ended = 0;
  const onEnd = () => void (++ended === 3 && stop.abort());
  await expect(swept(folder, record, { run, signal: stop.signal, onEnd, jobs: 2 })).rejects.toMatchObject({
    code: 'stopped',
  });
  const rest = madeUp({});
  await swept(folder, record, rest, true);
  const ends = sweepIn(folder)!.events.flatMap((event) =>
    event.kind === 'end' ? [`${event.trial}/${event.seed}`] : [],
  );
  expect(ends).toHaveLength(8);
  expect(new Set(ends).size).toBe(8);
  expect(rest.started.length).toBeLessThan(8);
});

test('what a run throws ends the sweep, and the other runs with it', async () => {
  const record = await plannedSweep(plan());
  const { run } = madeUp({});
  const broken: RunTrial = (job, context) =>
    job.folder.includes('002') ? Promise.reject(new Error('disk')) : run(job, context);
  const folder = newFolder();
  await expect(swept(folder, record, { run: broken, jobs: 2 })).rejects.toThrow('disk');
  expect(sweepIn(folder)!.running).toBe(false);
});

describe('halving', () => {
  const halved = (more: Partial<SweepPlan> = {}) => plannedSweep(plan({ halving: { first: 2, eta: 2 }, ...more }));
  const climbing = (...values: number[]) => values.map((value, i) => evaluation(i + 1, value));
  const scripts = {
    'trial-001-s0': climbing(0.1, 0.5, 0.6, 0.7),
    'trial-002-s0': climbing(0.1, 0.4, 0.9, 0.9),
    'trial-003-s0': climbing(0.1, 0.6, 0.6, 0.6),
    'trial-004-s0': climbing(0.7, 0.1, 0.2, 0.8),
  };

  test('stops what is not among the best half at a rung, by the best so far', async () => {
    const folder = newFolder();
    const results = await swept(folder, await halved(), madeUp(scripts));
    // At update 2: 0.5 alone; 0.4 of (0.5, 0.4); 0.6 of three, of which one continues; 0.7 of four. At update 4: 0.7, then 0.6, then 0.8.
    expect(states(results)).toEqual(['finished', 'stopped', 'stopped', 'finished']);
    expect(results.trials[1]).toMatchObject({ value: 0.4, reason: 'not among the best 1/2 at update 2' });
    expect(results.trials[2]).toMatchObject({ value: 0.6, reason: 'not among the best 1/2 at update 4' });
    expect(results.best!.trial).toBe(4);
  });

  test('makes the same decisions when stopped and resumed at any point', async () => {
    const whole = newFolder();
    await swept(whole, await halved(), madeUp(scripts));
    for (const stopAfter of inTurn([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 4)) {
      const folder = newFolder();
      const stop = new AbortController();
      let reports = 0;
      const fake = madeUp(scripts);
      const run: RunTrial = (job, work) =>
        fake.run(job, {
          ...work,
          onMetrics(metrics) {
            work.onMetrics(metrics);
            if (++reports === stopAfter) stop.abort();
          },
        });
      await swept(folder, await halved(), { run, signal: stop.signal }).catch(() => {});
      await swept(folder, await halved(), madeUp(scripts), true);
      expect(readFileSync(join(folder, 'trials.jsonl'), 'utf8').split('\n').sort()).toEqual(
        readFileSync(join(whole, 'trials.jsonl'), 'utf8').split('\n').sort(),
      );
    }
  });

  test('a run that ended before it was looked at is stopped all the same', async () => {
    const atOnce: RunTrial = ({ folder }, { onMetrics }) => {
      for (const record of scripts[basename(folder) as keyof typeof scripts]) onMetrics(record);
      return Promise.resolve({ state: 'finished' });
    };
    const results = await swept(newFolder(), await halved(), { run: atOnce });
    expect(states(results)).toEqual(['finished', 'stopped', 'stopped', 'finished']);
    expect(results.trials[1]!.value).toBe(0.4);
  });

  test('the first seed decides; others of a trial that continues come next, and are not stopped', async () => {
    const { run, started } = madeUp(scripts, climbing(0, 0, 0, 0));
    const results = await swept(newFolder(), await halved({ seeds: [0, 1, 2] }), { run });
    expect(started).toEqual([
      ...['trial-001-s0', 'trial-001-s1', 'trial-001-s2', 'trial-002-s0', 'trial-003-s0'],
      ...['trial-004-s0', 'trial-004-s1', 'trial-004-s2'],
    ]);
    expect(states(results)).toEqual(['finished', 'stopped', 'stopped', 'finished']);
  });
});

describe('a folder that holds a sweep', () => {
  test('is refused without --resume, and while another process works on it', async () => {
    const folder = newFolder();
    const record = await plannedSweep(plan());
    const sweep = openSweep(folder, record, false);
    expect(sweepIn(folder)!.running).toBe(true);
    expect(() => openSweep(folder, record, true)).toThrow('expected a sweep without another writer');
    sweep.close();
    expect(sweepIn(folder)!.running).toBe(false);
    expect(() => openSweep(folder, record, false)).toThrow(
      'expected a folder without a sweep, got one that holds a sweep',
    );
  });

  test.each<[Partial<SweepPlan>, string]>([
    [
      { dimensions: parseSpace(['ppo.clipRange=0.1,0.2'], []) },
      '--grid ppo.clipRange: 0.1,0.2,0.3,0.4 in the sweep, 0.1,0.2 asked for',
    ],
    [{ seeds: [0, 1] }, '--seeds: 0 in the sweep, 0, 1 asked for'],
    [{ halving: { first: 2, eta: 3 } }, '--halving: nothing in the sweep, 2, --eta 3 asked for'],
    [{ overrides: ['ppo.updates=3'] }, '--set, --model and --backend: nothing in the sweep, ppo.updates=3 asked for'],
    [{ plugins: ['mine.mjs'] }, '--plugin: nothing in the sweep, mine.mjs asked for'],
    [{ preset: 'opendialkg' }, 'preset: demo in the sweep, opendialkg asked for'],
  ])('is refused for other arguments: %j', async (other, message) => {
    const folder = newFolder();
    openSweep(folder, await plannedSweep(plan()), false).close();
    const asked = await plannedSweep(plan(other));
    expect(() => openSweep(folder, asked, true)).toThrow(message);
  });

  test('takes more trials of the same draws, and no fewer', async () => {
    const of = (trials: number) =>
      plannedSweep(plan({ dimensions: parseSpace([], ['ppo.clipRange=uniform:0.1..0.3']), trials }));
    const folder = newFolder();
    await swept(folder, await of(3), madeUp({}));
    const more = madeUp({});
    await swept(folder, await of(5), more, true);
    expect(more.started).toEqual(['trial-004-s0', 'trial-005-s0']);
    expect(sweepName(await of(3))).toBe(sweepName(await of(5)));
    const fewer = await of(3);
    expect(() => openSweep(folder, fewer, true)).toThrow('--trials: 5 in the sweep, 3 asked for');
  });
});

test('settings that contradict each other in one trial are refused before any is run, naming it', async () => {
  const dimensions = parseSpace(['ppo.init=clone,scratch', 'ppo.klCoef=0,0.1'], []);
  await expect(plannedSweep(plan({ dimensions }))).rejects.toThrow(
    'trial 4 (ppo.init=scratch ppo.klCoef=0.1): expected ppo.klCoef=0 with ppo.init=scratch',
  );
});

test('a trial waits until each of its seeds has ended', () => {
  const ended = (seed: number) => ({ kind: 'end' as const, trial: 1, seed, state: 'finished' as const, value: seed });
  const state = (...ends: ReturnType<typeof ended>[]) =>
    trialsOf({ seeds: [1, 2] } as unknown as SweepRecord, [{ kind: 'trial', trial: 1, set: {} }, ...ends])[0];
  expect(state()).toMatchObject({ state: 'waiting', value: undefined });
  expect(state(ended(2))).toMatchObject({ state: 'waiting', value: 2 });
  expect(state(ended(2), ended(1))).toMatchObject({ state: 'finished', value: 1.5 });
});

test('the saved record gives the trials without the program that ran them', async () => {
  const folder = newFolder();
  await swept(folder, await plannedSweep(plan()), madeUp({}));
  const { record, events, running, id } = sweepIn(folder)!;
  expect([id, running]).toEqual(['sweep-x', false]);
  expect(trialsOf(record, events).map(({ set }) => set['ppo.clipRange'])).toEqual([0.1, 0.2, 0.3, 0.4]);
});
