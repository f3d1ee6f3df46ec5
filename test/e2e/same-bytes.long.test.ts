/** Same seed, same bytes: twice in a row, and for any number of threads (threads need the built program; `npm test` builds it first). */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { env, execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { kgwalk } from '../fixtures/command-line.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { evaluationOf, runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

const home = useSharedHome(() =>
  kgwalk('datasets', 'demo', '--entities', '300', '--dialogues', '60', '--questions', '0'),
);
const tiny = ['opendialkg-tiny', ...['data.dataset=demo', ...tinyOverrides].flatMap((one) => ['--set', one])];

/** Output of a command with this many threads; one thread runs in this process. */
async function by(threads: number, ...words: string[]): Promise<string> {
  if (threads === 1) {
    const { exitCode, out, err } = await kgwalk(...words, '--threads', '1');
    if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${err}`);
    return out;
  }
  const command = ['dist/cli/main.js', ...words, '--threads', String(threads)];
  const { status, stdout, stderr } = spawnSync(execPath, command, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`exit ${status}: ${stderr}`);
  return stdout;
}

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
/** Tables are kept and reused; a second training needs an empty place. */
const forgetTables = () => rmSync(join(home(), 'embeddings'), { recursive: true, force: true });

test('a table of TransE does not depend on threads, nor on when it was trained', async () => {
  const trained = async (batchSize: number, threads: number) => {
    forgetTables();
    const out = await by(threads, 'pretrain', ...tiny, '--set', `transe.batchSize=${batchSize}`, '--json');
    return hashOf((JSON.parse(out) as { file: string }).file);
  };
  const [single, batched] = [await trained(1, 1), await trained(64, 1)];
  expect(single).not.toBe(batched);
  expect(await trained(1, 2)).toBe(single);
  // Three threads do not divide 64: shares are of different size.
  expect(await trained(64, 3)).toBe(batched);
  expect(await trained(64, 1)).toBe(batched);
});

test.each([
  ['link-chains', []],
  ['link-messages', ['--set', 'exactWalker.messages.steps=12']],
])('the exact walker of %s does not depend on threads', async (preset, words) => {
  await kgwalk('datasets', 'import', 'triples', '--name', 'links', '--from', folderWith(tinyLinkFiles));
  const trained = async (threads: number) => {
    const folder = join(home(), `${preset}-${threads}`);
    await by(threads, 'train', preset, ...words, '--run-dir', folder);
    return runHashes(folder);
  };
  const [alone, together] = [await trained(1), await trained(3)];
  expect(Object.keys(alone).length).toBeGreaterThan(3);
  expect(together).toEqual(alone);
});

test('a run and its evaluations do not depend on threads, nor on when they were made', async () => {
  const made = async (threads: number) => {
    forgetTables();
    const folder = join(home(), `run-${threads}`);
    await by(threads, 'train', ...tiny, '--set', 'transe.batchSize=64', '--run-dir', folder);
    const predictions = join(folder, 'evaluations', 'train.jsonl');
    await by(threads, 'evaluate', folder, '--split', 'train', '--count', 'ark', '--predictions', predictions);
    return folder;
  };
  const folders = [await made(1), await made(2)] as const;
  const [first, second] = folders.map(runHashes);
  for (const split of ['valid', 'train']) {
    const kept = relative(folders[0], evaluationOf(folders[0], `${split}-best`));
    for (const name of ['asked.json', 'evaluation.json', 'answers.jsonl', 'rows.arrow', 'seal.json']) {
      expect(first).toHaveProperty([`${kept}/${name}`]);
    }
  }
  expect(first).toHaveProperty(['evaluations/train.jsonl']);
  expect(second).toEqual(first);
  const environments = folders.map((folder) => JSON.parse(readFileSync(join(folder, 'environment.json'), 'utf8')));
  expect(environments.map(({ threads }) => threads)).toEqual([1, 2]);
  expect(readFileSync(join(folders[1], 'config.yaml'), 'utf8')).not.toContain('threads');
});
