/** A row of the results is measured again by its commands. */
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { env } from 'node:process';
import { kgwalk, kgwalkJson, printed } from '../fixtures/command-line.js';
import { folderWith } from '../fixtures/tiny-release.js';

const folder = folderWith({});
const before = env.KGWALK_HOME;
afterAll(() => {
  if (before === undefined) delete env.KGWALK_HOME;
  else env.KGWALK_HOME = before;
});
const check = (home: string) => kgwalk('results', 'check', 'demo-popularity', '--home', join(folder, home));
const world = async (home: string, ...words: string[]) => {
  env.KGWALK_HOME = join(folder, home);
  await printed('datasets', 'demo', ...words);
};

test('without its data set the error is that of the command', async () => {
  expect(await check('empty')).toMatchObject({
    exitCode: 3,
    err: expect.stringMatching(/expected an imported data set, got "demo".*from kgwalk evaluate/),
  });
});

test('another world does not hold its interval, the world of the row does', async () => {
  const exitCode = process.exitCode;
  await world('small', '--entities', '300', '--dialogues', '30', '--questions', '100');
  expect((await check('small')).out).toContain('outside 18.5 [15.3, 21.8]');
  expect(process.exitCode).toBe(1);
  process.exitCode = exitCode;
  await world('whole');
  expect(await kgwalkJson('results', 'check', 'demo-popularity')).toMatchObject({
    row: 'demo-popularity',
    holds: true,
    measured: expect.closeTo(18.5, 0),
  });
  expect(process.exitCode).toBe(exitCode);
});
