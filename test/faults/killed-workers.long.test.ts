/**
 * Workers over a queue and a bucket, with everything that can be killed: they themselves at random, Redis, and a store that refuses every fifth
 * write. On the built program: `npm test` builds it first. `KGWALK_TEST_REDIS` names redis-server; without one these skip and say so.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { jobOf, readPlan } from '../../jobs/job.js';
import { openQueue } from '../../jobs/queue.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { often, tally } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { openS3Server } from '../fixtures/s3-server.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { runHashes } from '../fixtures/tiny-training.js';
import { filmOverrides, importFilms } from '../fixtures/toy-question-training.js';

const redisServer = env.KGWALK_TEST_REDIS ?? 'redis-server';
const hasRedis = spawnSync(redisServer, ['--version']).status === 0;
if (!hasRedis)
  console.log(`skipped: workers over a queue, since there is no ${redisServer}; KGWALK_TEST_REDIS names one`);
const withRedis = hasRedis ? test : test.skip;

useOwnHome();

let folder: string;
let store: Awaited<ReturnType<typeof openS3Server>>;
let redis: ChildProcess;
let port: number;
let redisWasAway = false;

async function startRedis(): Promise<void> {
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', ''];
  redis = spawn(redisServer, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const chunk of redis.stdout!) if (String(chunk).includes('Ready to accept')) break;
  redis.stdout!.resume();
}

beforeEach(async () => {
  folder = folderWith({});
  await importFilms();
  store = await openS3Server('results', { refusesEvery: 5 });
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  port = (free.address() as AddressInfo).port;
  free.close();
  if (hasRedis) await startRedis();
});
afterEach(async () => {
  await store.close();
  redis?.kill('SIGKILL');
});

const place = ['--store', 's3://results/films'];
const queue = () => ['--queue', `redis://127.0.0.1:${port}`];
const settings = [...filmOverrides, 'ppo.updates=6', 'ppo.evalEvery=2', 'checkpoint.everyUpdates=2'];
const sweep = (grid: string, ...more: string[]) => [
  ...['sweep', 'metaqa', ...settings.flatMap((one) => ['--set', one]), '--grid', grid, ...more],
];

/** A worker that is started again whenever it was killed, until it ends by itself. @param kills what is left of them, shared */
async function worker(kills: { left: number }): Promise<void> {
  for (;;) {
    const child = spawn(execPath, ['dist/cli/main.js', 'work', ...queue(), ...place], { env, stdio: 'ignore' });
    const ended = once(child, 'close') as Promise<[number | null]>;
    const over = await Promise.race([ended, setTimeout(1000 + ((kills.left * 1370) % 4000))]);
    if (over?.[0] === 0) return;
    if (over || kills.left === 0) {
      const [status] = over ?? (await ended);
      if (status === 0) return;
      // Started while Redis was down, it exits with an error; a supervisor restarts it.
      expect([status, redisWasAway]).toEqual([1, true]);
      await setTimeout(500);
      continue;
    }
    kills.left--;
    child.kill('SIGKILL');
    await ended;
    tally('moments killed');
  }
}

withRedis('every result is there once, none is lost, and all equal those of one machine', async () => {
  const [runs, rows] = [join(folder, 'runs.jsonl'), join(folder, 'rows.jsonl')];
  const seeds = often(1, 10);
  const trained = sweep('ppo.clipRange=0.1,0.2', '--seeds', String(seeds));
  const evaluate = ['evaluate', '--agent', 'fiske', '--dataset', 'films', '--model', 'oracle:0.1', '--split', 'train'];
  for (const words of [
    [...trained, '--write', runs],
    [...evaluate, '--parts', String(often(3, 5)), '--write', rows],
  ]) {
    expect(await kgwalk(...words)).toMatchObject({ exitCode: 0 });
  }
  const jobs = [...readPlan(runs).jobs, ...readPlan(rows).jobs];
  const all = await openQueue(queue()[1]!);
  await all.submit(jobs);
  // Again: equal jobs are one.
  await all.submit(jobs);
  const kills = { left: often(2, 20) };
  const workers = [1, 2, 3].map(() => worker(kills));
  await setTimeout(3000);
  redisWasAway = true;
  redis.kill('SIGKILL');
  await setTimeout(1500);
  await startRedis();
  await Promise.all(workers);
  await all.close();

  for (const plan of [runs, rows]) {
    const status = await kgwalkJson<object>('plan', 'status', plan, ...place);
    expect(status).toMatchObject({ waiting: 0, begun: 0, failed: 0, notReproduced: [] });
  }
  const results = [...store.held.keys()].filter((name) => name.startsWith('films/results/'));
  expect(results.sort()).toEqual(jobs.map(({ key }) => `films/results/${key}.json`).sort());
  expect(store.refused()).toBeGreaterThan(5);
  expect([...store.held.keys()].filter((name) => name.startsWith('films/progress/'))).toEqual([]);

  const [collected, whole] = [join(folder, 'collected'), join(folder, 'whole')];
  await kgwalk('plan', 'collect', runs, ...place, '--to', collected);
  expect((await kgwalk(...trained, '--run-dir', whole)).exitCode).toBe(0);
  const trials = readdirSync(whole).filter((name) => /^trial-\d+-s/.test(name));
  expect(trials).toHaveLength(2 * seeds);
  for (const run of trials) expect(runHashes(join(collected, run))).toEqual(runHashes(join(whole, run)));

  const [parts, once] = [join(folder, 'parts'), join(folder, 'once')];
  await kgwalk('plan', 'collect', rows, ...place, '--to', parts);
  for (const place of [parts, once]) await kgwalk(...evaluate, '--evaluations', place);
  const [name] = readdirSync(once) as [string];
  for (const file of ['answers.jsonl', 'evaluation.json', 'traces.jsonl']) {
    expect([file, readFileSync(join(parts, name, file), 'utf8')]).toEqual([
      file,
      readFileSync(join(once, name, file), 'utf8'),
    ]);
  }
});

withRedis('a queue of another version is refused', async () => {
  const { Redis } = await import('ioredis');
  const client = new Redis(port);
  await client.set('kgwalk:kgwalk:version', '0.0.9');
  client.disconnect();
  const other = await kgwalk('work', ...queue(), ...place);
  expect(other.err).toContain('expected work for kgwalk 0.1.0, got 0.0.9, at --queue');
});

withRedis(
  'an interrupted worker gives back its job, and another resumes it from the partial results; a malformed job does no harm',
  async () => {
    const file = join(folder, 'plan.jsonl');
    // A long one, and one that waits meanwhile.
    const long = sweep('ppo.updates=80,2', '--set', 'ppo.evalEvery=40');
    await kgwalk(...long, '--write', file);
    const work = ['work', '--plan', file, ...queue(), ...place];
    const scratch = folderWith({});
    const child = spawn(execPath, ['dist/cli/main.js', ...work], { env: { ...env, TMPDIR: scratch }, stdio: 'ignore' });
    const ended = once(child, 'close') as Promise<[number | null]>;
    const files = () => readdirSync(scratch, { recursive: true }) as string[];
    while (!files().some((file) => file.endsWith('checkpoints/index.json'))) await setTimeout(50);
    child.kill('SIGINT');
    expect((await ended)[0]).toBe(130);
    const status = await kgwalkJson<{ begun: number }>('plan', 'status', file, ...place);
    expect(status).toMatchObject({ jobs: 2, done: 0, begun: 1, waiting: 1, failed: 0 });
    const list = [...store.held].find(([name]) => /^films\/progress\/\w+\.json$/.test(name))![1];
    expect(String(list)).toContain('checkpoints/index.json');

    const { key: _, kind: _kind, version: _version, ...planned } = readPlan(file).jobs[0]!;
    const all = await openQueue(queue()[1]!);
    await all.submit([jobOf({ ...planned, options: { set: ['nonsense=1'] } })]);
    await all.close();
    const { exitCode, out, err: failed } = await kgwalk(...work);
    expect([exitCode, out]).toEqual([0, '2 results made here, 0 were there, 3 tries failed\n']);
    expect(failed).toContain('train trial-001-s0');
    const [collected, whole] = [join(folder, 'collected'), join(folder, 'whole')];
    await kgwalk('plan', 'collect', file, ...place, '--to', collected);
    expect((await kgwalk(...long, '--run-dir', whole)).exitCode).toBe(0);
    for (const run of ['trial-001-s0', 'trial-002-s0']) {
      expect(runHashes(join(collected, run))).toEqual(runHashes(join(whole, run)));
    }
    // It was resumed, not begun again: its log of times has both.
    const lines = (place: string) =>
      readFileSync(join(place, 'trial-001-s0', 'timing.jsonl'), 'utf8').split('\n').length;
    expect(lines(collected)).toBeGreaterThan(lines(whole));
  },
);
