/** Runs, embeddings and rules as one agent of link queries. */
import { join } from 'node:path';
import { env } from 'node:process';
import { expect, test } from '@jest/globals';
import { importLinks } from '../../../datasets/links/import-links.js';
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
  const byRelation = await evaluate(`${run}+zero-shot,weights=relation`);
  expect(byRelation.note).toMatch(/weights fitted on \d+ triples of valid: .*, those of \d+ relations drawn to them$/);
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
    'expected two or more of exact walkers, transe, bilinear, rules, zero-shot, got one',
  );
  expect(await refusal(`:of=${run}+random`)).toContain('got random, at of=');
  expect(await refusal(`:of=${run}+${sampled}`)).toContain('which draws walks');
  expect(await refusal(`:of=${run}+rules`, '--threads', '1')).toContain('expected transe or bilinear with --threads');
});

test('weights from how relations meet are exported, and rank a graph with other relations', async () => {
  await finishedRun('links');
  const [run, home] = [join(folderWith({}), 'meetings'), env.KGWALK_HOME!];
  const notes: string[] = [];
  const steps = ['exactWalker.messages.steps=4', 'exactWalker.messages.views=2', 'exactWalker.reach=1'];
  const settings = loadPreset('link-messages', ['data.dataset=tiny', 'exactWalker.messages.relations=graph', ...steps]);
  await train({ settings, folder: run, onNote: (line) => notes.push(line) });
  expect(notes).toContainEqual(
    expect.stringMatching(/^walks of \d hops: of the answers of valid lie \d.* % within 3, /),
  );
  const file = join(home, 'any.safetensors');
  await kgwalk('checkpoint', 'export', run, '--to', file);
  await importLinks({
    from: folderWith({ 'train.txt': 'a\tx\tb\nb\ty\tc\nc\tx\td\n', 'valid.txt': 'd\ty\ta\n', 'test.txt': 'a\ty\td\n' }),
    name: 'other',
  });
  const asked = ['--dataset', 'other', '--split', 'test'];
  const agent = `zero-shot:file=${file}`;
  const { n, hashes, note } = await kgwalkJson<EvaluationRecord>('evaluate', '--agent', agent, ...asked);
  expect({ n, note }).toEqual({ n: 2, note: 'relation vectors from how relations meet, trained on tiny' });
  expect(hashes.source).toMatch(/^[0-9a-f]{64}$/);
  const moved = await kgwalkJson<EvaluationRecord>('evaluate', run, ...asked);
  expect(moved.figures).toEqual((await kgwalkJson<EvaluationRecord>('evaluate', '--agent', agent, ...asked)).figures);
  const own = join(folderWith({}), 'own');
  await train({
    settings: loadPreset('link-messages', ['data.dataset=tiny', 'exactWalker.messages.steps=2']),
    folder: own,
  });
  await kgwalk('checkpoint', 'export', own, '--to', join(home, 'own.safetensors'));
  const { err } = await kgwalk('evaluate', '--agent', `zero-shot:file=${join(home, 'own.safetensors')}`, ...asked);
  expect(err).toContain('expected weights with exactWalker.messages.relations=graph, got others, at ');
  const asking = ['ask', '--agent', 'zero-shot', '--dataset', 'tiny', 'Ivy Stone', 'citizen_of'];
  expect(await kgwalk(...asking)).toMatchObject({ exitCode: 0, out: expect.stringContaining('Ivy Stone') });
  const tuned = join(folderWith({}), 'tuned');
  const given = ['data.dataset=tiny', 'exactWalker.messages.steps=1'];
  await train({ settings: loadPreset('link-zero-shot', given), folder: tuned });
  expect((await kgwalkJson<EvaluationRecord>('evaluate', tuned, '--split', 'test')).n).toBeGreaterThan(0);
  await expect(
    train({ settings: loadPreset('link-zero-shot', [...given, 'linkWalk.horizon=2']), folder: join(tuned, 'two') }),
  ).rejects.toThrow('expected the sizes of the weights (linkWalk.horizon=');
});
