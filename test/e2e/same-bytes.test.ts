/** Same seed, same bytes, on the built program (`npm test` builds it first): twice in a row, and whatever the threads. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { env, execPath } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { evaluationOf, runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

const home = folderWith({});
const tiny = ['opendialkg-tiny', ...['data.dataset=demo', ...tinyOverrides].flatMap((one) => ['--set', one])];

/** What the program prints. */
function kgwalk(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(execPath, ['dist/cli/main.js', ...words], {
    env: { ...env, KGWALK_HOME: home },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`exit ${status}: ${stderr}`);
  return stdout;
}

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
/** Tables are kept and reused; a second training needs an empty place. */
const forgetTables = () => rmSync(join(home, 'embeddings'), { recursive: true, force: true });

beforeAll(() => {
  kgwalk('datasets', 'demo', '--entities', '300', '--dialogues', '60', '--questions', '0');
});

afterAll(() => rmSync(home, { recursive: true }));

test('a table of TransE does not depend on threads, nor on when it was trained', () => {
  const trained = (batchSize: number, ...words: string[]) => {
    forgetTables();
    const out = kgwalk('pretrain', ...tiny, '--set', `transe.batchSize=${batchSize}`, '--json', ...words);
    return hashOf((JSON.parse(out) as { file: string }).file);
  };
  const [single, batched] = [trained(1), trained(64)];
  expect(single).not.toBe(batched);
  expect(trained(1, '--threads', '2')).toBe(single);
  // Three threads do not divide 64: shares are of different size.
  expect(trained(64, '--threads', '3')).toBe(batched);
  expect(trained(64)).toBe(batched);
});

test.each([
  ['link-chains', []],
  ['link-messages', ['--set', 'exactWalker.messages.steps=12']],
])('the exact walker of %s does not depend on threads', (preset, words) => {
  kgwalk('datasets', 'import', 'triples', '--name', 'links', '--from', folderWith(tinyLinkFiles));
  const [alone, together] = ['1', '3'].map((threads) => {
    const folder = join(home, `${preset}-${threads}`);
    kgwalk('train', preset, ...words, '--run-dir', folder, '--threads', threads);
    return runHashes(folder);
  });
  expect(Object.keys(alone!).length).toBeGreaterThan(3);
  expect(together).toEqual(alone);
});

test('a run and its evaluations do not depend on threads, nor on when they were made', () => {
  const folders = [
    ['--threads', '1'],
    ['--threads', '2'],
  ].map((words, i) => {
    forgetTables();
    const folder = join(home, `run-${i}`);
    kgwalk('train', ...tiny, '--set', 'transe.batchSize=64', '--run-dir', folder, ...words);
    const predictions = join(folder, 'evaluations', 'train.jsonl');
    kgwalk('evaluate', folder, '--split', 'train', '--count', 'ark', '--predictions', predictions, ...words);
    return folder;
  });
  const [first, second] = folders.map(runHashes);
  for (const split of ['valid', 'train']) {
    const kept = relative(folders[0]!, evaluationOf(folders[0]!, `${split}-best`));
    for (const name of ['asked.json', 'evaluation.json', 'answers.jsonl', 'rows.arrow', 'seal.json']) {
      expect(first).toHaveProperty([`${kept}/${name}`]);
    }
  }
  expect(first).toHaveProperty(['evaluations/train.jsonl']);
  expect(second).toEqual(first);
  const environments = folders.map((folder) => JSON.parse(readFileSync(join(folder, 'environment.json'), 'utf8')));
  expect(environments.map(({ threads }) => threads)).toEqual([1, 2]);
  expect(readFileSync(join(folders[1]!, 'config.yaml'), 'utf8')).not.toContain('threads');
});
