/** Two processes on one folder, and folders that go away, under the built program: `npm test` builds it first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { openEncoderCache } from '../../src/encoder/encoder-cache.js';
import { openRun } from '../../src/run/run-folder.js';
import { readTimings } from '../../src/run/metric-log.js';
import { kgwalk } from '../fixtures/command-line.js';
import { often, tally } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { tinyLlama } from '../fixtures/tiny-llama.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

useOwnHome();

const program = resolve('dist/cli/main.js');
const tiny = (...overrides: string[]) => [
  ...['train', 'opendialkg-tiny'],
  ...[...tinyOverrides, ...overrides].flatMap((one) => ['--set', one]),
];

function start(words: readonly string[]) {
  const child = spawn(execPath, [program, ...words], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.on('data', (text) => (err += String(text)));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, err }));
  return { child, ended };
}

/** True if the folder existed and was deleted. */
function deletes(folder: string): boolean {
  if (!existsSync(folder)) return false;
  try {
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch {
    // It was written into between two deletions.
    return false;
  }
}

const newRun = () => join(folderWith({}), 'run');

test('a cache that a process opened twice is still its own when another process looks for readers that died', async () => {
  const place = join(env.KGWALK_HOME!, 'cache');
  const first = await openEncoderCache(place);
  const space = first.space({ encoder: 'one', name: 'one', mode: '', dim: 2 });
  space.write('text', '8', Float32Array.of(1, 2), 7);
  await space.commit();
  const into = new Float32Array(2);
  expect(space.read('text', '8', into)).toBe(7);
  // As the evaluation at the end of a run does, while the run's own is open.
  const second = await openEncoderCache(place);
  await second.close();
  expect((await start(['cache', 'info']).ended).code).toBe(0);
  // A reader requests its slot again in another turn.
  await setTimeout(1);
  expect(space.read('text', '8', into)).toBe(7);
  expect([...into]).toEqual([1, 2]);
  await first.close();
});

test('a cache that is deleted again and again while it is opened takes no process down, and keeps what it was given', async () => {
  const place = join(env.KGWALK_HOME!, 'cache');
  const script = `
    const { openEncoderCache } = await import(${JSON.stringify(resolve('dist/src/encoder/encoder-cache.js'))});
    for (let i = 0; i < 40; i++) {
      const cache = await openEncoderCache(${JSON.stringify(place)});
      const space = cache.space({ encoder: 'one', name: 'one', mode: '', dim: 2 });
      space.write('text', '8', Float32Array.of(i, i), 1);
      await space.commit();
      const second = await openEncoderCache(${JSON.stringify(place)});
      const into = new Float32Array(2);
      if (!space.read('text', '8', into) || into[1] !== i) throw new Error('expected ' + i + ', got ' + into[1]);
      await second.close();
      await cache.close();
    }`;
  const child = spawn(execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.on('data', (text) => (err += String(text)));
  const ended = once(child, 'close');
  let deleted = 0;
  while (child.exitCode === null && child.signalCode === null) {
    deleted += Number(deletes(place));
    await setTimeout(1);
  }
  expect(await ended).toEqual([0, null]);
  expect(err).toBe('');
  expect(deleted).toBeGreaterThan(0);
  tally('faults injected', deleted);
});

test('a second process on a run is refused at once and changes nothing; a killed one leaves no lock that holds', async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  const folder = newRun();
  const { child, ended } = start([...tiny('clone.epochs=1000'), '--run-dir', folder]);
  while (!existsSync(join(folder, 'checkpoints/index.json')) && child.exitCode === null) await setTimeout(5);
  // Halted at any point: only the second process could change a file.
  child.kill('SIGSTOP');
  while (!/^State:\s+T/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8'))) await setTimeout(1);
  const before = runHashes(folder);
  for (const [words, why] of [
    [['train', '--resume'], `got one held by process ${child.pid} on `],
    [tiny(), 'got one that holds a run'],
  ] as const) {
    const { exitCode, err } = await kgwalk(...words, '--run-dir', folder);
    expect([exitCode, err]).toEqual([2, expect.stringMatching(/^error: expected /m)]);
    expect(err).toContain(why);
    expect(runHashes(folder)).toEqual(before);
  }
  child.kill('SIGKILL');
  await ended;
  expect(openRun(folder).state.status).toBe('stopped');
  const resumed = start(['train', '--resume', '--run-dir', folder]);
  while (openRun(folder).environment.resumed === undefined && resumed.child.exitCode === null) await setTimeout(50);
  resumed.child.kill('SIGINT');
  expect((await resumed.ended).code).toBe(130);
  tally('faults injected', 3);
});

describe('with text vectors of a model', () => {
  let model: string;
  beforeAll(async () => {
    model = (await tinyLlama()).path;
  });
  const words = (folder: string) => [...tiny(`encoder.model=${JSON.stringify(model)}`), '--run-dir', folder];
  const encodes = (folder: string) =>
    Number(readTimings(join(folder, 'timing.jsonl')).find(({ phase }) => phase === 'encode')!['time/encodes']);
  test('two processes fill one empty cache together, each text once, with equal results, and nothing is lost', async () => {
    await importOpenDialKg({ from: folderWith(releaseFiles) });
    const folders = [newRun(), newRun()];
    const ends = await Promise.all(folders.map((folder) => start(words(folder)).ended));
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    expect(runHashes(folders[1]!)).toEqual(runHashes(folders[0]!));
    const third = newRun();
    expect((await kgwalk(...words(third))).exitCode).toBe(0);
    expect(encodes(third)).toBe(0);
    const cache = await openEncoderCache(join(env.KGWALK_HOME!, 'cache'));
    expect(encodes(folders[0]!) + encodes(folders[1]!)).toBe(cache.info().entries);
    await cache.close();
    expect(runHashes(third)).toEqual(runHashes(folders[0]!));
    tally('faults injected');
  });

  test('a run whose caches are deleted under it, again and again, ends with equal results or one clear error', async () => {
    await importOpenDialKg({ from: folderWith(releaseFiles) });
    const whole = newRun();
    expect((await kgwalk(...words(whole))).exitCode).toBe(0);
    let deleted = 0;
    for (let i = 0; i < often(1, 5); i++) {
      const folder = newRun();
      const { child, ended } = start(words(folder));
      while (child.exitCode === null && child.signalCode === null) {
        for (const cache of ['cache', 'embeddings'].map((name) => join(env.KGWALK_HOME!, name))) {
          deleted += Number(deletes(cache));
        }
        await setTimeout(3);
      }
      const { code, err } = await ended;
      if (code !== 0) {
        expect([1, 3]).toContain(code);
        expect(err).toMatch(/^error: expected /m);
        expect((await kgwalk(...words(folder), '--resume')).exitCode).toBe(0);
      }
      expect(runHashes(folder)).toEqual(runHashes(whole));
    }
    expect(deleted).toBeGreaterThan(0);
    tally('faults injected', deleted);
  });
});
