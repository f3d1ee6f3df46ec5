/** D18: an entity whose name has 250,000 characters costs only its text: importing, training, evaluating and asking still work. */
import { join } from 'node:path';
import { env } from 'node:process';
import { expect, test } from '@jest/globals';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { tinyOverrides } from '../fixtures/tiny-training.js';

useOwnHome();

const length = 250_000;
const giants = [
  ['brackets', '('.repeat(length)],
  ['combining marks', 'e' + '\u0301'.repeat(length - 1)],
] as const;

/** The files with another name in the place of one. */
const renamed = (files: Readonly<Record<string, string>>, name: string, giant: string) =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [file, text.replaceAll(name, giant)]));

test.each(giants)('a dialogue walker is trained over a name of %s', async (_, giant) => {
  const from = folderWith(renamed(releaseFiles, 'Lund', giant));
  await kgwalkJson('datasets', 'import', 'opendialkg', '--from', from);
  const run = join(env.KGWALK_HOME!, 'run');
  const sets = [...tinyOverrides, 'walker.edgeFeatures=true'].flatMap((one) => ['--set', one]);
  await kgwalkJson('train', 'opendialkg-tiny', ...sets, '--run-dir', run);
  await kgwalkJson('evaluate', run, '--split', 'valid');
  const asked = await kgwalk('ask', run, 'I like Ada Quill.', '--start', 'Ada Quill');
  expect(asked.exitCode).toBe(0);
  // One name as a cell or in a line is not printed whole, and widens no other row.
  expect(asked.out.length).toBeLessThan(10_000);
});

test('a link walker is trained over one', async () => {
  const [first] = Object.values(tinyLinkFiles)[0]!.split('\t');
  const from = folderWith(renamed(tinyLinkFiles, first!, giants[0][1]));
  await kgwalkJson('datasets', 'import', 'triples', '--name', 'links', '--from', from);
  const run = join(env.KGWALK_HOME!, 'run');
  await kgwalkJson('train', 'link-chains', '--run-dir', run);
  const { metrics } = await kgwalkJson<{ metrics: object }>('evaluate', run, '--split', 'test');
  expect(metrics).toHaveProperty('mrr');
});
