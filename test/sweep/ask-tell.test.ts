/** Trials that another program chooses, over runs that are made up. */
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { sweepIn } from '../../src/run/sweep.js';
import { answerAsks, type Said } from '../../sweep/ask-tell.js';
import { openSweep, plannedSweep } from '../../sweep/plan.js';
import type { RunTrial } from '../../sweep/trial-process.js';
import { folderWith } from '../fixtures/tiny-release.js';

const record = await plannedSweep({
  ...{ preset: 'demo', overrides: [], dimensions: [], seeds: [0], asked: true },
  ...{ sampler: 'random', seed: 0, better: 'high' },
});

/** A run of five updates, each worth ten times the clip range more; the clip range 0.3 diverges. */
const climbing =
  (started: string[] = []): RunTrial =>
  async ({ folder, overrides }, { onMetrics, signal }) => {
    started.push(basename(folder));
    const clip = Number(/clipRange=([\d.]+)/.exec(overrides.join())![1]!);
    for (let step = 1; step <= 5; step++) {
      await setImmediate();
      if (signal.aborted) return { state: 'stopped' };
      if (clip === 0.3) return { state: 'failed', reason: 'expected finite loss, got NaN' };
      onMetrics({ phase: 'ppo', step, metrics: { 'eval/path@1': step * clip } });
    }
    return { state: 'finished' };
  };

/** Answers to these lines; `replies` gives the lines that the other program writes in response. */
async function said(
  lines: (string | object)[],
  { folder = join(folderWith({}), 'sweep'), run = climbing(), jobs = 1, replies = (_: Said): object[] => [] } = {},
) {
  const events: Said[] = [];
  const written = lines.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  const open = openSweep(folder, record, true);
  const asked = new Set(lines.flatMap((one) => (typeof one === 'object' && 'id' in one ? [one.id] : []))).size;
  async function* conversation() {
    for (;;) {
      const next = written.shift();
      if (next !== undefined) yield next;
      else if (new Set(events.flatMap((one) => ('state' in one ? [one.id] : []))).size >= asked) return;
      else await setImmediate();
    }
  }
  const say = (one: Said) => {
    events.push(one);
    written.push(...replies(one).map((reply) => JSON.stringify(reply)));
  };
  try {
    await answerAsks(open, { jobs, run }, { lines: conversation(), say });
  } finally {
    open.close();
  }
  return { events, folder };
}

const clip = (value: number) => ({ 'ppo.clipRange': value });

test('a trial is run, its evaluations are reported as they come, and it is answered', async () => {
  const { events, folder } = await said([{ id: 'a', set: clip(0.1) }]);
  const path = join(folder, 'trial-001-s0');
  expect(events).toEqual([
    ...[1, 2, 3, 4, 5].map((step) => ({ id: 'a', seed: 0, step, value: step * 0.1 })),
    { id: 'a', state: 'finished', value: 0.5, values: [0.5], folder: path },
  ]);
});

test('seeds and updates are the trial’s own; its value is the mean of its seeds', async () => {
  const { events, folder } = await said([{ id: 1, set: clip(0.1), seeds: [4, 5], updates: 9 }]);
  expect(events.at(-1)).toEqual({
    ...{ id: 1, state: 'finished', value: 0.5, values: [0.5, 0.5], folder: join(folder, 'trial-001-s4') },
    folders: [join(folder, 'trial-001-s4'), join(folder, 'trial-001-s5')],
  });
  expect(sweepIn(folder)!.events[0]).toMatchObject({ set: { 'ppo.clipRange': 0.1, 'ppo.updates': 9 } });
});

test('a trial that is stopped by the other program ends with the best it had', async () => {
  const replies = (one: Said) => ('step' in one && one.id === 2 && one.step === 2 ? [{ id: 2, stop: true }] : []);
  const { events } = await said(
    [
      { id: 2, set: clip(0.1) },
      { id: 3, set: clip(0.2) },
    ],
    { replies },
  );
  const answers = events.filter((one) => 'state' in one);
  expect(answers).toMatchObject([
    { id: 2, state: 'stopped', reason: 'stopped as asked' },
    { id: 3, state: 'finished', value: 1 },
  ]);
  expect((answers[0] as { value: number }).value).toBeLessThan(0.5);
});

test('a trial that fails is answered with its reason, and no value', async () => {
  const { events } = await said([{ id: 1, set: clip(0.3) }]);
  expect(events).toEqual([
    expect.objectContaining({ id: 1, state: 'failed', value: null, reason: 'expected finite loss, got NaN' }),
  ]);
});

test.each<[string | object, Said]>([
  ['no json', { error: expect.stringContaining('got broken JSON') as never }],
  ['{"set":{}}', { error: expect.stringContaining('expected a trial such as {"id": 1') as never }],
  ['{"id":9,"stop":true}', { error: 'expected the id of a trial, got 9, at line 1' }],
  ['{"id":1,"sets":{}}', { error: expect.stringContaining('at line 1') as never }],
  [
    { id: 1, set: { 'ppo.clip': 3 } },
    {
      id: 1,
      state: 'failed',
      value: null,
      values: [],
      reason: expect.stringContaining('unknown key ppo.clip') as never,
    },
  ],
  [
    { id: 1, set: { 'ppo.klCoef': 0.1, 'ppo.init': 'scratch' } },
    {
      id: 1,
      state: 'failed',
      value: null,
      values: [],
      reason: expect.stringContaining('expected ppo.klCoef=0') as never,
    },
  ],
])('%j is answered with what is wrong, and the next is run', async (line, wrong) => {
  const { events } = await said([line, { id: 7, set: clip(0.1) }]);
  expect(events[0]).toEqual(wrong);
  expect(events.at(-1)).toMatchObject({ id: 7, state: 'finished' });
});

test('asked again under the same id, what is over is answered without a run; other settings are refused', async () => {
  const { folder } = await said([
    { id: 1, set: clip(0.1) },
    { id: 2, set: clip(0.2) },
  ]);
  const started: string[] = [];
  const again = [
    { id: 2, set: clip(0.2) },
    { id: 1, set: clip(0.4) },
    { id: 3, set: clip(0.1) },
  ];
  const { events } = await said(again, { folder, run: climbing(started) });
  expect(started).toEqual(['trial-003-s0']);
  expect(events.filter((one) => 'state' in one)).toMatchObject([
    { id: 2, state: 'finished', value: 1 },
    { id: 1, state: 'failed', reason: 'expected a new id for other settings, got that of trial 1' },
    { id: 3, state: 'finished', value: 0.5 },
  ]);
});

test('the given number of trials run at once, distinguished by their ids', async () => {
  const { events } = await said(
    [1, 2, 3].map((id) => ({ id, set: clip(id / 10) })),
    { jobs: 3 },
  );
  expect(events.slice(0, 3).map((one) => 'id' in one && one.id)).toEqual([1, 2, 3].map(() => expect.any(Number)));
  expect(
    events
      .filter((one) => 'state' in one)
      .map((one) => 'id' in one && one.id)
      .sort(),
  ).toEqual([1, 2, 3]);
});
