/** A sweep on the built program that is killed, interrupted and resumed: `npm test` builds it first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { isLocked } from '../../src/run/run-lock.js';
import { sweepIn } from '../../src/run/sweep.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { often, tally } from '../fixtures/long-tests.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { runHashes } from '../fixtures/tiny-training.js';
import { filmOverrides, importFilms } from '../fixtures/toy-question-training.js';

const home = useSharedHome(importFilms);

const settings = [...filmOverrides, 'ppo.updates=12', 'ppo.evalEvery=2', 'checkpoint.everyUpdates=2'];
const words = (folder: string) => [
  ...['sweep', 'metaqa', ...settings.flatMap((one) => ['--set', one])],
  ...['--grid', 'ppo.clipRange=0.1,0.2', '--sample', 'ppo.learningRate=log:1e-3..1e-2', '--trials', '3'],
  ...['--jobs', '2', '--run-dir', folder],
];
const program = (...more: string[]) => ['dist/cli/main.js', ...more];
const eventsOf = (folder: string) => (existsSync(join(folder, 'sweep.json')) ? sweepIn(folder)!.events : []);
const runsIn = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith('trial-') && !name.endsWith('.jsonl'));

/** Process that works in a folder; undefined where there is none, or a lock is being taken over right now. */
function lockedBy(folder: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, '.lock'), 'utf8')) as { pid: number }).pid;
  } catch {
    return undefined;
  }
}

/** Starts or resumes the sweep, and ends it once this many runs have begun or ended since. */
async function broken(folder: string, signal: NodeJS.Signals, after: number) {
  const child = spawn(execPath, program(...words(folder), '--resume'), { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.on('data', (text) => (err += String(text)));
  const ended = once(child, 'close');
  const before = eventsOf(folder).length;
  // Runs of a sweep that was killed may begin or save still: the sweep itself must be at work.
  const trains = () =>
    lockedBy(folder) === child.pid &&
    readdirSync(folder).some((name) => existsSync(join(folder, name, 'metrics.jsonl')) && isLocked(join(folder, name)));
  while (child.exitCode === null && !(trains() && eventsOf(folder).length >= before + after)) await setTimeout(4);
  child.kill(signal);
  const [exitCode] = (await ended) as [number | null];
  return { exitCode, err, died: child.signalCode };
}

/** The unbroken sweep over so many seeds, made once. */
async function unbroken(seeds: number): Promise<string> {
  const folder = join(home(), `whole-${seeds}`);
  if (!existsSync(folder)) await kgwalkJson(...words(folder), '--seeds', String(seeds));
  expect(runsIn(folder)).toHaveLength(3 * seeds);
  return folder;
}

test('killed, interrupted and resumed, every run ends once and equals that of the unbroken sweep', async () => {
  const whole = await unbroken(1);

  for (let attempt = 0; attempt < often(1, 10); attempt++) {
    const folder = join(home(), `broken-${attempt}`);
    expect((await broken(folder, 'SIGKILL', 2)).died).toBe('SIGKILL');
    // The runs notice, save and end.
    while (runsIn(folder).some((name) => isLocked(join(folder, name)))) await setTimeout(4);
    const interrupted = await broken(folder, 'SIGINT', 0);
    expect(interrupted.exitCode).toBe(130);
    expect(interrupted.err).toMatch(/stopped with \d of 3 trials done/);
    expect(runsIn(folder).filter((name) => isLocked(join(folder, name)))).toEqual([]);
    // At once: the runs of the killed sweep may be saving still.
    expect((await broken(folder, 'SIGKILL', 0)).died).toBe('SIGKILL');
    const { counts } = await kgwalkJson<{ counts: object }>(...words(folder), '--resume');

    const ends = eventsOf(folder).flatMap((event) => (event.kind === 'end' ? [event] : []));
    expect(ends.map(({ trial }) => trial).sort()).toEqual([1, 2, 3]);
    expect(ends.every(({ state }) => state === 'finished')).toBe(true);
    for (const name of runsIn(whole)) expect(runHashes(join(folder, name))).toEqual(runHashes(join(whole, name)));
    const sorted = (place: string) => readFileSync(join(place, 'trials.jsonl'), 'utf8').split('\n').sort();
    expect(sorted(folder)).toEqual(sorted(whole));
    expect(counts).toEqual({ trials: 3, begun: 3, finished: 3, stopped: 0, failed: 0 });
    tally('moments killed', 3);
  }
});

test('three workers on one folder, killed at random and started again, do every run once and equal to that of one process', async () => {
  const seeds = often(1, 3);
  const whole = await unbroken(seeds);
  const [plan, store, folder] = [join(home(), 'plan.jsonl'), join(home(), 'store'), join(home(), 'collected')];
  await kgwalk(...words(folder), '--seeds', String(seeds), '--write', plan);
  const kills = often(2, 12);
  let left = kills;
  const worker = async () => {
    for (;;) {
      const child = spawn(execPath, program('work', '--plan', plan, '--store', store), { env, stdio: 'ignore' });
      const ended = once(child, 'close') as Promise<[number | null]>;
      const finished = await Promise.race([ended, setTimeout(1500)]);
      if (finished || left === 0) {
        const [status] = await ended;
        return expect(status).toBe(0);
      }
      left--;
      child.kill('SIGKILL');
      await ended;
    }
  };
  await Promise.all([1, 2, 3].map(worker));
  expect(left).toBe(0);
  const status = await kgwalkJson<object>('plan', 'status', plan, '--store', store);
  expect(status).toMatchObject({ jobs: 3 * seeds, done: 3 * seeds, notReproduced: [] });
  await kgwalk('plan', 'collect', plan, '--store', store, '--to', folder);
  expect(runsIn(folder).sort()).toEqual(runsIn(whole).sort());
  for (const name of runsIn(whole)) expect(runHashes(join(folder, name))).toEqual(runHashes(join(whole, name)));
  tally('moments killed', kills);
});

test('a run that is killed from outside fails alone, and is resumed on demand', async () => {
  const folder = join(home(), 'sweep');
  const two = [...words(folder), '--trials', '2'];
  const ended = kgwalk(...two);
  const first = join(folder, 'trial-001-s0');
  while (!existsSync(join(first, 'checkpoints', 'index.json')) || !isLocked(first)) await setTimeout(4);
  process.kill(lockedBy(first)!, 'SIGKILL');
  expect((await ended).exitCode).toBe(0);
  const states = () =>
    eventsOf(folder).flatMap((event) => (event.kind === 'end' && event.trial === 1 ? [event.state] : []));
  const failed = eventsOf(folder).find((event) => event.kind === 'end' && event.trial === 1);
  expect(failed).toMatchObject({ state: 'failed', reason: 'ended by SIGKILL' });
  expect((await kgwalk(...two, '--resume', '--retry-failed')).exitCode).toBe(0);
  expect(states()).toEqual(['failed', 'finished']);
});
