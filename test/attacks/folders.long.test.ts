/**
 * Files and folders that are not what their name says, or that cannot be: one clear error each, never a wait without an end. What might wait
 * is asked of the built program.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { env, execPath, pid, platform } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { kgwalk } from '../fixtures/command-line.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { tinyOverrides } from '../fixtures/tiny-training.js';

const home = useReleaseHome();
const onLinux = platform === 'linux' ? describe : describe.skip;
const set = tinyOverrides.flatMap((one) => ['--set', one]);
const main = resolve('dist/cli/main.js');

/** A command of the built program that should end by itself: what it says, and how. */
function program(words: readonly string[], cwd = '.') {
  const options = { env, cwd, encoding: 'utf8', timeout: 300_000, killSignal: 'SIGKILL' } as const;
  const { status, stdout, stderr, signal } = spawnSync(execPath, [main, ...words], options);
  expect(signal).toBeNull();
  expect(stderr).not.toMatch(/^ {4}at /m);
  return { status, stdout, stderr };
}

const training = (folder: string) => ['train', 'opendialkg-tiny', ...set, '--run-dir', folder];

/** Runs a command here, which fails with one clear error. */
async function expectError(exitCode: number, message: string, ...words: string[]): Promise<void> {
  const ended = await kgwalk(...words);
  expect(ended).toMatchObject({ exitCode, err: expect.stringContaining(message) });
  expect(ended.err).not.toMatch(/^ {4}at /m);
}

onLinux('a folder that the kernel refuses to make', () => {
  test('is one clear error', async () => {
    const message = 'error: expected a place that can be written, got ENOENT, at /proc/kgwalk';
    await expectError(1, message, ...training('/proc/kgwalk/run'));
  });
});

test('a file where folders should be is one clear error', async () => {
  const runs = join(folderWith({ runs: 'no folder' }), 'runs');
  await expectError(2, 'expected a folder of runs, got a file, at ', 'runs', 'list', runs);
  for (const folder of [join(runs, 'a'), runs]) await expectError(1, 'error: expected ', ...training(folder));
});

describe('a word that is empty is no name and no folder', () => {
  test.each([
    [['train', 'opendialkg-tiny', ...set, '--run-dir', '']],
    [['evaluate', '']],
    [['compare', 'random', '--dataset', 'opendialkg', '--evaluations', '']],
  ])('%j', (words) => {
    const folder = folderWith({ 'config.yaml': 'name: not a run\n' });
    const { status, stderr } = program(words, folder);
    expect(stderr).toContain('expected a word, got an empty one, at ');
    expect(status).toBe(2);
    expect(readdirSync(folder)).toEqual(['config.yaml']);
  });
});

onLinux('a lock that no kgwalk made', () => {
  test.each<[string, (lock: string) => void]>([
    ['a pipe', (lock) => void spawnSync('mkfifo', [lock])],
    ['a folder', (lock) => mkdirSync(lock)],
    ['of 3 GB', (lock) => (writeFileSync(lock, ''), truncateSync(lock, 3e9))],
  ])('%s is one clear error', (_, make) => {
    const folder = folderWith({});
    make(join(folder, '.lock'));
    const { status, stderr } = program(training(folder));
    expect(stderr).toContain('error: expected the lock of a process, got ');
    expect(status).toBe(1);
    expect(readdirSync(folder)).toEqual(['.lock']);
  });
});

onLinux('pipes in the place of files of a run', () => {
  test('keep no command waiting', async () => {
    const run = join(home(), 'run');
    expect((await kgwalk(...training(run))).exitCode).toBe(0);
    for (const file of ['config.yaml', 'state.json', 'checkpoints/index.json', 'metrics.jsonl']) {
      const place = join(run, file);
      const before = readFileSync(place);
      rmSync(place);
      spawnSync('mkfifo', [place]);
      const words = file === 'metrics.jsonl' ? ['report', run] : ['evaluate', run, '--split', 'valid'];
      const { status, stderr } = program(words);
      expect([file, stderr]).toEqual([file, expect.stringContaining('got a pipe, at ')]);
      expect(status).toBe(3);
      rmSync(place);
      writeFileSync(place, before);
    }
  });
});

test('what killed processes left in the temporary folder goes with the next command; what living ones have there stays', async () => {
  const { pid: gone } = spawnSync(execPath, ['-e', '']);
  const [left, living, elsewhere] = [
    [hostname(), gone],
    [hostname(), pid],
    [`not-${hostname()}`, gone],
  ].map(([host, id]) => join(tmpdir(), `kgwalk-demo-${host}-${id}-abcdef`));
  for (const folder of [left!, living!, elsewhere!]) mkdirSync(folder);
  const tiny = ['--name', 'left', '--entities', '400', '--dialogues', '40', '--questions', '40'];
  expect(await kgwalk('datasets', 'demo', ...tiny)).toMatchObject({ exitCode: 0 });
  expect([left!, living!, elsewhere!].map(existsSync)).toEqual([false, true, true]);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('kgwalk-demo-'))).toHaveLength(2);
});

test('an alias inside of what it stands for is the problem of that run alone', async () => {
  const runs = folderWith({ 'bad/config.yaml': 'x: &a [*a]\n' });
  expect(await kgwalk('runs', 'list', runs)).toMatchObject({ exitCode: 0, out: expect.stringContaining('bad') });
  await expectError(3, 'got an alias inside of what it stands for', 'evaluate', join(runs, 'bad'));
});
