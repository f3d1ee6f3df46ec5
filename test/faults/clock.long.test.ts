/** A clock that goes backwards under the built program: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { openRun } from '../../src/run/run-folder.js';
import { readTimings } from '../../src/run/metric-log.js';
import { kgwalk } from '../fixtures/command-line.js';
import { tally } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

useOwnHome();

/** Every look at the wall clock is an hour before the one before. */
const backwards = `
  const RealDate = Date;
  let looks = 0;
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length > 0 ? given : [globalThis.Date.now()]));
    }
    static now() {
      return RealDate.now() - 3_600_000 * ++looks;
    }
  };
`;

test('a clock that goes backwards changes no result and gives no negative time', async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  const root = folderWith({ 'backwards.mjs': backwards });
  const program = ['--import', pathToFileURL(join(root, 'backwards.mjs')).href, resolve('dist/cli/main.js')];
  const under = (...words: string[]) => spawnSync(execPath, [...program, ...words], { env, encoding: 'utf8' });
  const set = tinyOverrides.flatMap((one) => ['--set', one]);
  const [whole, folder] = [join(root, 'whole'), join(root, 'run')];
  const training = ['train', 'opendialkg-tiny', ...set, '--run-dir'];
  expect(await kgwalk(...training, whole)).toMatchObject({ exitCode: 0 });
  expect(under(...training, folder)).toMatchObject({ status: 0 });
  expect(runHashes(folder)).toEqual(runHashes(whole));
  expect(Date.parse(openRun(folder).environment.started)).toBeLessThan(Date.now() - 3_600_000);
  for (const { seconds } of readTimings(join(folder, 'timing.jsonl'))) expect(seconds).toBeGreaterThanOrEqual(0);

  // As if it had been killed: it reads as stopped, its lock is free, and it resumes.
  const state = JSON.stringify({ ...openRun(folder).state, status: 'running' });
  writeFileSync(join(folder, 'state.json'), state);
  expect(openRun(folder).state.status).toBe('stopped');
  expect(under('train', '--resume', '--run-dir', folder)).toMatchObject({ status: 0 });
  expect(runHashes(folder)).toEqual(runHashes(whole));
  expect(under('report', folder)).toMatchObject({ status: 0 });
  tally('faults injected', 3);
});
