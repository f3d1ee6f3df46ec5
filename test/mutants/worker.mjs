/**
 * Runs tests with one mutant after the other in this process, which is quicker than a process each; `run.mjs` starts it anew
 * where a mutant holds it. A message `{mutant, tests}` is answered by the test file that fails, or null.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { env } from 'node:process';
import { runCLI } from '@jest/core';
import settings from '../../jest.config.js';
import prepare from '../setup/prepare.mjs';

const root = join(import.meta.dirname, '..', '..');
const [[pattern, [, options]]] = Object.entries(settings.transform);
env.TMPDIR = env.KGWALK_MUTANT_TMP;
await prepare();

/** Whether all tests of a file pass. */
async function passes(test, mutant) {
  const config = {
    ...settings,
    rootDir: root,
    roots: [join(root, test, '..')],
    globalSetup: undefined,
    globalTeardown: undefined,
    testSequencer: undefined,
    testEnvironment: join(import.meta.dirname, 'first-failure.mjs'),
    transform: { [pattern]: [join(import.meta.dirname, 'transform.mjs'), options] },
    cacheDirectory: join(env.KGWALK_MUTANT_TMP, 'cache'),
    // What jest keeps of a file it keeps by its settings.
    globals: { mutant: mutant?.key ?? '' },
    reporters: [],
  };
  const words = { config: JSON.stringify(config), runInBand: true, runTestsByPath: true, watchman: false };
  const { results } = await runCLI({ ...words, _: [join(root, test)], $0: 'jest' }, [root]);
  if (results.numTotalTestSuites === 0) throw new Error(`expected a test file, got ${test}`);
  return results.success;
}

process.send('ready');
for (;;) {
  const [{ mutant, tests }] = await once(process, 'message');
  env.KGWALK_MUTANT = mutant ? JSON.stringify(mutant) : '';
  let failed = null;
  for (const test of tests) {
    if (await passes(test, mutant)) continue;
    failed = test;
    break;
  }
  process.send({ failed, rss: process.memoryUsage.rss() });
}
