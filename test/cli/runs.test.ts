import { expect, test } from '@jest/globals';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configHash } from '../../src/run/config-values.js';
import { collectEnvironment } from '../../src/run/environment.js';
import { openMetricLog } from '../../src/run/metric-log.js';
import { createRun, nearestRun } from '../../src/run/run-folder.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { filmSettings, importFilms } from '../fixtures/toy-question-training.js';
import { printed } from '../fixtures/command-line.js';

useOwnHome();

const kgwalk = (...words: string[]) => printed('runs', ...words);

/** A folder with a finished run `a` and a broken run `b`. */
function sampleRuns(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-runs-'));
  const config = { name: 'tiny', seed: 3, data: { dataset: 'opendialkg', graph: 'wide' } };
  const environment = collectEnvironment({ configHash: configHash(config), argv: [], started: new Date(0) });
  for (const id of ['a', 'b']) {
    const run = createRun({ folder: join(folder, id), config, environment });
    const log = openMetricLog(run.files.metrics);
    log.append('ppo', 1, { 'train/entropy': 0.5 });
    log.close();
    run.update({ status: 'finished', phase: 'ppo' });
    run.close();
  }
  writeFileSync(join(folder, 'b/state.json'), '{');
  return folder;
}

test('runs list shows each run in one row, broken ones with the reason', async () => {
  const rows = JSON.parse(await kgwalk('list', sampleRuns(), '--json')) as unknown[];
  expect(rows).toEqual([
    {
      run: 'a',
      status: 'finished',
      phase: 'ppo',
      preset: 'tiny',
      seed: 3,
      dataset: 'opendialkg',
      graph: 'wide',
      started: '1970-01-01T00:00:00.000Z',
    },
    { run: 'b', status: 'broken', problem: expect.stringContaining('state.json') },
  ]);
});

test('runs list shows runs at any depth that is served, those of a sweep where it is listed, and what was killed', async () => {
  const top = mkdtempSync(join(tmpdir(), 'kgwalk-runs-'));
  mkdirSync(join(top, 'runs/sweep-x'), { recursive: true });
  cpSync(sampleRuns(), join(top, 'runs/quickstart'), { recursive: true });
  cpSync(join(top, 'runs/quickstart/a'), join(top, 'runs/sweep-x/trial-000-s0'), { recursive: true });
  writeFileSync(join(top, 'runs/sweep-x/sweep.json'), '{');
  writeFileSync(join(top, 'runs/quickstart/a/state.json'), '{"schemaVersion":1,"status":"running","done":{}}');
  const rows = async (folder: string) =>
    (JSON.parse(await kgwalk('list', join(top, folder), '--json')) as Record<string, string>[]).map(
      ({ run, status }) => `${run} ${status}`,
    );
  expect(await rows('runs')).toEqual(['quickstart/a stale', 'quickstart/b broken', 'sweep-x broken']);
  expect(await rows('runs/sweep-x')).toEqual(['trial-000-s0 finished']);
  expect(await rows('runs/quickstart/a')).toEqual(['a stale']);
  expect(nearestRun('nowhere/b')).toBeUndefined();
  process.env.KGWALK_RUNS = join(top, 'runs');
  expect(nearestRun('nowhere/trial-000-s1')).toBe(join(top, 'runs/sweep-x/trial-000-s0'));
  delete process.env.KGWALK_RUNS;
});

test('runs list shows the graph that questions come with, and which of them', async () => {
  await importFilms();
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-runs-'));
  for (const [id, ...overrides] of [
    ['all'],
    ['gone', 'data.dataset=gone'],
    ['some', 'data.subsets=[1-hop, 2-hop]'],
  ] as const) {
    const config = filmSettings(...overrides);
    const environment = collectEnvironment({ configHash: configHash(config), argv: [], started: new Date(0) });
    createRun({ folder: join(folder, id), config, environment }).close();
  }
  const rows = JSON.parse(await kgwalk('list', folder, '--json')) as { dataset: string; graph?: string }[];
  expect(rows.map(({ dataset, graph }) => [dataset, graph])).toEqual([
    ['films', 'films'],
    ['gone', undefined],
    ['films/1-hop,2-hop', 'films'],
  ]);
});

test('runs list prints a table, and says how to start where there is no run', async () => {
  expect(await kgwalk('list', sampleRuns())).toMatch(/^run +status.*\na +finished +ppo +tiny +3/);
  expect(await kgwalk('list', mkdtempSync(join(tmpdir(), 'kgwalk-runs-')))).toContain('no runs yet');
});

test('runs export writes the metrics as CSV', async () => {
  const folder = sampleRuns();
  const csv = join(folder, 'out.csv');
  await kgwalk('export', join(folder, 'a'), '--csv', csv);
  expect(readFileSync(csv, 'utf8')).toBe('phase,step,key,value\nppo,1,train/entropy,0.5\n');
  await expect(kgwalk('export', join(folder, 'missing'), '--csv', csv)).rejects.toThrow('expected a run');
});

test('runs export writes to standard output where no file is named', async () => {
  const out = await kgwalk('export', join(sampleRuns(), 'a'));
  expect(out).toBe('phase,step,key,value\nppo,1,train/entropy,0.5\n');
  const wide = await kgwalk('export', join(sampleRuns(), 'a'), '--wide');
  expect(wide).toBe('phase,step,train/entropy\nppo,1,0.5\n');
});

test('runs list shows the figure that chose the best checkpoint, and what is wrong with a damaged index', async () => {
  const folder = sampleRuns();
  const index = join(folder, 'a/checkpoints/index.json');
  mkdirSync(join(index, '..'));
  const entries = [0.25, 0.5].map((value, i) => ({
    ...{ phase: 'ppo', step: i + 1, name: `ppo-00000${i + 1}`, seal: 'a'.repeat(64) },
    metrics: { 'eval/loss': 3, 'eval/path@1': value, 'eval/path@5': 0.7 },
  }));
  writeFileSync(index, JSON.stringify({ schemaVersion: 1, checkpoints: entries }));
  expect(JSON.parse(await kgwalk('list', folder, '--json'))).toMatchObject([{ metric: 'eval/path@1', score: 0.5 }, {}]);
  expect(await kgwalk('list', folder)).toMatch(/^run +status +score +phase.*\na +finished +path@1 0\.5000 +ppo/);
  writeFileSync(index, '{');
  expect(JSON.parse(await kgwalk('list', folder, '--json'))).toMatchObject([
    { status: 'finished', problem: expect.stringContaining('index.json') },
    {},
  ]);
});

test('runs list of a folder that is not there is an error', async () => {
  await expect(kgwalk('list', '/nonexistent')).rejects.toThrow(
    'expected a folder of runs, got nothing, at /nonexistent',
  );
});
