/** Runs, embeddings and rules as one agent of link queries. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadPreset } from '../../../presets/index.js';
import type { EvaluationRecord } from '../../../src/run/evaluation.js';
import { train } from '../../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { finishedRun } from '../../fixtures/finished-run.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { folderWith } from '../../fixtures/tiny-release.js';

useOwnHome();

const evaluate = (of: string, ...words: string[]) =>
  kgwalkJson<EvaluationRecord & { saved: string }>(
    ...['evaluate', '--agent', `ensemble:of=${of}`, '--dataset', 'tiny', '--split', 'test', ...words],
  );

test('an ensemble fits its weights on valid, says them, is kept and replayed, and answers', async () => {
  const [sampled, run] = [await finishedRun('links'), join(folderWith({}), 'chains')];
  await train({
    settings: loadPreset('link-chains', ['data.dataset=tiny', 'exactWalker.chains.steps=20']),
    folder: run,
  });
  const record = await evaluate(`${run}+rules+transe`);
  expect(record).toMatchObject({ agent: 'ensemble', hashes: { source: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  expect(record.note).toMatch(
    /weights fitted on \d+ triples of valid: tails .*chains \d\.\d\d, rules \d\.\d\d, transe \d/,
  );
  const alike = await evaluate(`${run}+rules,weights=equal`);
  expect(alike.note).toContain('weighed alike');
  expect(alike.hashes.source).not.toBe(record.hashes.source);
  const replayed = await kgwalk('replay', join(record.saved, '..'));
  expect(replayed).toMatchObject({ exitCode: 0, out: expect.stringContaining('every byte') });
  const asked = await kgwalk(
    'ask',
    '--agent',
    `ensemble:of=${run}+rules`,
    '--dataset',
    'tiny',
    'Ivy Stone',
    'citizen_of',
  );
  expect(asked).toMatchObject({ exitCode: 0, out: expect.stringMatching(/\nwhere from\n +1 +\d\.\d\d /) });

  const refusal = async (of: string, ...words: string[]) =>
    (await kgwalk('evaluate', '--agent', `ensemble${of}`, '--dataset', 'tiny', ...words)).err;
  expect(await refusal('')).toContain('of');
  expect(await refusal(`:of=${run}`)).toContain(
    'expected two or more of exact walkers, transe, bilinear and rules, got one',
  );
  expect(await refusal(`:of=${run}+random`)).toContain('got random, at of=');
  expect(await refusal(`:of=${run}+${sampled}`)).toContain('which draws walks');
  expect(await refusal(`:of=${run}+rules`, '--threads', '1')).toContain('expected transe or bilinear with --threads');
});
