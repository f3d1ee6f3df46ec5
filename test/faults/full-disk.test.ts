/** What happens when there is no space left, on a file system of a megabyte. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readIndex } from '../../checkpoints/store.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

const previousHome = env.KGWALK_HOME;
const home = folderWith({});
const small = join(home, 'small');
mkdirSync(small);
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'kgwalk-test', small]).status === 0;
if (!mounted) console.warn('skipped: a full disk; mounting a small file system needs root');

beforeAll(async () => {
  env.KGWALK_HOME = home;
  await kgwalk('datasets', 'import', 'opendialkg', '--from', folderWith(releaseFiles));
});

afterAll(() => {
  if (mounted) spawnSync('umount', [small]);
  rmSync(home, { recursive: true });
  if (previousHome === undefined) delete env.KGWALK_HOME;
  else env.KGWALK_HOME = previousHome;
});

(mounted ? describe : describe.skip)('without space', () => {
  const files = (folder: string) => readdirSync(folder, { recursive: true }) as string[];
  const tiny = ['train', 'opendialkg-tiny', ...tinyOverrides.flatMap((one) => ['--set', one])];

  /** Leaves so many KiB free. */
  function fill(free: number): void {
    rmSync(join(small, 'ballast'), { force: true });
    const { stdout } = spawnSync('df', ['--output=avail', '-k', small], { encoding: 'utf8' });
    writeFileSync(join(small, 'ballast'), Buffer.alloc((Number(stdout.split('\n')[1]) - free) * 1024));
  }

  test('training says so, leaves nothing half-written, and goes on when there is space again', async () => {
    const whole = join(home, 'whole');
    await kgwalkJson(...tiny, '--run-dir', whole);
    const folder = join(small, 'run');
    // The embeddings and the first checkpoint fit, the second one does not.
    const bytes = (name: string) => statSync(join(whole, name)).size;
    const embeddings = readdirSync(join(whole, 'embeddings')).reduce(
      (sum, name) => sum + bytes(`embeddings/${name}`),
      0,
    );
    fill(Math.ceil((embeddings + 1.5 * bytes('checkpoints/clone-000006.safetensors')) / 1024));
    const { exitCode, told } = await kgwalk(...tiny, '--run-dir', folder);
    expect(exitCode).toBe(1);
    expect(told).toContain('no space left at ');
    expect(told).toContain('hint: Free some space');
    expect(readIndex(folder).last!.name).toBe('clone-000003');
    expect(files(folder).filter((name) => name.endsWith('.tmp') || name.includes('.lock'))).toEqual([]);
    rmSync(join(small, 'ballast'));
    expect((await kgwalk('train', '--resume', '--run-dir', folder)).exitCode).toBe(0);
    expect(runHashes(folder)).toEqual(runHashes(whole));
  });

  test('an import says so and leaves the old data set', async () => {
    rmSync(join(small, 'run'), { recursive: true, force: true });
    rmSync(join(small, 'ballast'), { force: true });
    env.KGWALK_HOME = join(small, 'home');
    const from = folderWith(releaseFiles);
    await kgwalk('datasets', 'import', 'opendialkg', '--from', from);
    const before = files(env.KGWALK_HOME);
    fill(2);
    const { exitCode, told } = await kgwalk('datasets', 'import', 'opendialkg', '--from', from);
    expect([exitCode, told]).toEqual([1, expect.stringContaining('no space left')]);
    expect(files(env.KGWALK_HOME)).toEqual(before);
    env.KGWALK_HOME = home;
  });
});
