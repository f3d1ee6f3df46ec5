/** A limit on the size of files, which needs no root, on the built program: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { kgwalk } from '../fixtures/command-line.js';
import { tally } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

useOwnHome();

test('a file above the size limit is one clear error, and the run resumes without the limit', async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  const set = tinyOverrides.flatMap((one) => ['--set', one]);
  const [whole, folder] = [join(folderWith({}), 'run'), join(folderWith({}), 'run')];
  const training = ['train', 'opendialkg-tiny', ...set, '--run-dir'];
  expect((await kgwalk(...training, whole)).exitCode).toBe(0);
  const files = (run: string) => readdirSync(run, { recursive: true }) as string[];
  const largest = Math.max(
    ...files(join(whole, 'checkpoints')).map((name) => statSync(join(whole, 'checkpoints', name)).size),
  );
  const limit = `ulimit -f ${Math.floor(largest / 1024) - 1}; exec "$@"`;
  const limited = ['-c', limit, 'bash', execPath, resolve('dist/cli/main.js'), ...training, folder];
  const { status, stderr } = spawnSync('bash', limited, { env, encoding: 'utf8' });
  expect(stderr).toMatch(/^error: no space left at .*\nhint: Free some space/m);
  expect(status).toBe(1);
  expect(files(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  expect((await kgwalk('train', '--resume', '--run-dir', folder)).exitCode).toBe(0);
  expect(runHashes(folder)).toEqual(runHashes(whole));
  tally('faults injected');
});
