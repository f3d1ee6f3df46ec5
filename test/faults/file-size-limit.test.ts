/** A limit on the size of files, which needs no root, on the built program: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { tally } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

useOwnHome();

test('a file that may not grow so large is one clear error, and the run goes on without the limit', async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  const set = tinyOverrides.flatMap((one) => ['--set', one]);
  const kgwalk = (limit: number | undefined, ...words: string[]) => {
    const command = [execPath, resolve('dist/cli/main.js'), ...words];
    const limited = ['bash', '-c', `ulimit -f ${limit}; exec "$@"`, 'bash', ...command];
    const [program, ...rest] = limit === undefined ? command : limited;
    return spawnSync(program!, rest, { env, encoding: 'utf8' });
  };
  const [whole, folder] = [join(folderWith({}), 'run'), join(folderWith({}), 'run')];
  expect(kgwalk(undefined, 'train', 'opendialkg-tiny', ...set, '--run-dir', whole).status).toBe(0);
  const files = (run: string) => readdirSync(run, { recursive: true }) as string[];
  const largest = Math.max(
    ...files(join(whole, 'checkpoints')).map((name) => statSync(join(whole, 'checkpoints', name)).size),
  );
  const { status, stderr } = kgwalk(
    Math.floor(largest / 1024) - 1,
    'train',
    'opendialkg-tiny',
    ...set,
    '--run-dir',
    folder,
  );
  expect(stderr).toMatch(/^error: no space left at .*\nhint: Free some space/m);
  expect(status).toBe(1);
  expect(files(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  expect(kgwalk(undefined, 'train', '--resume', '--run-dir', folder).status).toBe(0);
  expect(runHashes(folder)).toEqual(runHashes(whole));
  tally('faults injected');
});
