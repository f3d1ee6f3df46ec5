/** Files and folders that are not what their name says, or that cannot be: one clear error each, never a wait without an end. On the built program. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { env, execPath, pid, platform } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { tinyOverrides } from '../fixtures/tiny-training.js';

const home = useReleaseHome();
const onLinux = platform === 'linux' ? describe : describe.skip;
const set = tinyOverrides.flatMap((one) => ['--set', one]);
const main = resolve('dist/cli/main.js');

/** A command that should end by itself: what it says, and how. */
function kgwalk(
  words: readonly string[],
  { cwd = '.', runs = env.KGWALK_RUNS }: { cwd?: string; runs?: string | undefined } = {},
) {
  const options = {
    env: { ...env, KGWALK_RUNS: runs },
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
    killSignal: 'SIGKILL',
  } as const;
  const { status, stdout, stderr, signal } = spawnSync(execPath, [main, ...words], options);
  expect(signal).toBeNull();
  expect(stderr).not.toMatch(/^ {4}at /m);
  return { status, stdout, stderr };
}

const trainIn = (folder: string) => kgwalk(['train', 'opendialkg-tiny', ...set, '--run-dir', folder]);

onLinux('a folder that the kernel refuses to make', () => {
  test('is one clear error', () => {
    const { status, stderr } = trainIn('/proc/kgwalk/run');
    expect(stderr).toContain('error: expected a place that can be written, got ENOENT, at /proc/kgwalk');
    expect(status).toBe(1);
  });
});

test('a file where folders should be is one clear error', () => {
  const folder = folderWith({ runs: 'no folder' });
  const listed = kgwalk(['runs', 'list'], { runs: join(folder, 'runs') });
  expect(listed.stderr).toContain('expected a folder of runs, got ENOTDIR, at ');
  expect(listed.status).toBe(3);
  expect(trainIn(join(folder, 'runs', 'a')).status).toBe(1);
  expect(trainIn(join(folder, 'runs')).status).toBe(1);
});

describe('a word that is empty is no name and no folder', () => {
  test.each([
    [['train', 'opendialkg-tiny', ...set, '--run-dir', '']],
    [['evaluate', '']],
    [['compare', 'random', '--dataset', 'opendialkg', '--evaluations', '']],
  ])('%j', (words) => {
    const folder = folderWith({ 'config.yaml': 'name: not a run\n' });
    const { status, stderr } = kgwalk(words, { cwd: folder });
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
    const { status, stderr } = trainIn(folder);
    expect(stderr).toContain('error: expected the lock of a process, got ');
    expect(status).toBe(1);
    expect(readdirSync(folder)).toEqual(['.lock']);
  });
});

onLinux('pipes in the place of files of a run', () => {
  test('keep no command waiting', () => {
    const run = join(home(), 'run');
    expect(trainIn(run).status).toBe(0);
    for (const file of ['config.yaml', 'state.json', 'checkpoints/index.json', 'metrics.jsonl']) {
      const place = join(run, file);
      const before = readFileSync(place);
      rmSync(place);
      spawnSync('mkfifo', [place]);
      const words = file === 'metrics.jsonl' ? ['report', run] : ['evaluate', run, '--split', 'valid'];
      const { status, stderr } = kgwalk(words);
      expect([file, stderr]).toEqual([file, expect.stringContaining('got a pipe, at ')]);
      expect(status).toBe(3);
      rmSync(place);
      writeFileSync(place, before);
    }
  });
});

test('what killed processes left in the temporary folder goes with the next command; what living ones have there stays', () => {
  const { pid: gone } = spawnSync(execPath, ['-e', '']);
  const [left, living, elsewhere] = [
    [hostname(), gone],
    [hostname(), pid],
    [`not-${hostname()}`, gone],
  ].map(([host, id]) => join(tmpdir(), `kgwalk-demo-${host}-${id}-abcdef`));
  for (const folder of [left!, living!, elsewhere!]) mkdirSync(folder);
  const tiny = ['--name', 'left', '--entities', '400', '--dialogues', '40', '--questions', '40'];
  expect(kgwalk(['datasets', 'demo', ...tiny])).toMatchObject({ status: 0 });
  expect([left!, living!, elsewhere!].map(existsSync)).toEqual([false, true, true]);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('kgwalk-demo-'))).toHaveLength(2);
});

test('an alias inside of what it stands for is the problem of that run alone', () => {
  const runs = folderWith({ 'bad/config.yaml': 'x: &a [*a]\n' });
  expect(kgwalk(['runs', 'list'], { runs })).toMatchObject({ status: 0, stdout: expect.stringContaining('bad') });
  const evaluated = kgwalk(['evaluate', join(runs, 'bad')]);
  expect(evaluated.stderr).toContain('got an alias inside of what it stands for');
  expect(evaluated.status).toBe(3);
});
