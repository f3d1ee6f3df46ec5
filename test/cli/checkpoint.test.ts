import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { saveCheckpoint } from '../../checkpoints/store.js';
import { useBlankPictures } from '../fixtures/blank-pictures.js';
import { madeUpCurves, writeMadeUpRun } from '../fixtures/made-up-runs.js';
import { printed } from '../fixtures/command-line.js';

useBlankPictures();
let run: string;
beforeEach(() => {
  run = join(mkdtempSync(join(tmpdir(), 'kgwalk-cli-')), 'tiny');
  writeMadeUpRun(run, { config: { seed: 1 }, metrics: madeUpCurves(1, 4) });
  for (const [step, path1] of [
    [10, 0.3],
    [20, 0.2],
  ] as const) {
    const header = {
      schemaVersion: 2 as const,
      kind: 'walker' as const,
      config: {},
      configHash: 'c',
      hashes: { graph: 'g' },
      phase: 'ppo' as const,
      step,
      epoch: 0,
      trainer: { rng: [1] },
      metrics: { 'eval/loss': 1.5, 'eval/path@1': path1, 'eval/path@5': 0.6, 'eval/mrr': 0.4, 'eval/target@1': 0.5 },
    };
    const data = new Float32Array([step]);
    const tensors = { w: { shape: [1], data }, 'optimizer/m': { shape: [1], data } };
    saveCheckpoint(run, { header, tensors }, { keepLast: 1, keepEvery: 0 });
  }
});
afterEach(() => {
  rmSync(join(run, '..'), { recursive: true });
});

test('checkpoint list shows what was kept and what best and last are', async () => {
  const lines = (await printed('checkpoint', 'list', run)).trimEnd().split('\n');
  expect(lines.map((line) => line.split(/\s+/))).toEqual([
    ['name', 'phase', 'step', 'eval/path@1', 'eval/path@5', 'eval/mrr', 'eval/loss', 'is'],
    ['ppo-000010', 'ppo', '10', '0.3', '0.6', '0.4', '1.5', 'best'],
    ['ppo-000020', 'ppo', '20', '0.2', '0.6', '0.4', '1.5', 'last'],
  ]);
});

test('checkpoint show takes the best by default, as a card or as JSON', async () => {
  const short = await printed('checkpoint', 'show', run);
  expect(short).toContain('# `ppo-000010`');
  expect(short).not.toMatch(/## (Tensors|Settings)/);
  expect(await printed('checkpoint', 'show', run, '--tensors')).toMatch(/## Tensors\n/);
  expect(await printed('checkpoint', 'show', run, '--settings')).toMatch(/## Settings\n/);
  const shown = JSON.parse(await printed('checkpoint', 'show', run, '20', '--json')) as { header: { step: number } };
  expect(shown).toMatchObject({ name: 'ppo-000020', header: { step: 20 }, tensors: { w: [1], 'optimizer/m': [1] } });
});

test('checkpoint export writes weights without the training state, with a card next to them', async () => {
  const to = join(run, 'shared.safetensors');
  const paths = JSON.parse(await printed('checkpoint', 'export', run, '--to', to, '--json')) as Record<string, string>;
  const { header, tensors } = readCheckpoint(paths.weights!);
  expect([Object.keys(tensors), header.trainer, header.step]).toEqual([['w'], {}, 10]);
  expect(readFileSync(paths.card!, 'utf8')).toMatch(/^---\n[^]*library_name: kgwalk\n[^]*\n---\n\n# [^]*`g`/);
  await expect(printed('checkpoint', 'export', run, '--to', join(run, 'x.bin'))).rejects.toThrow('.safetensors');
});

test('report prints where the page of a run is', async () => {
  const page = (await printed('report', run)).trim();
  expect(page).toBe(join(run, 'report', 'index.html'));
  expect(existsSync(join(run, 'report', 'ppo-eval-path@1.png'))).toBe(false);
  expect(existsSync(join(run, 'report', 'ppo-train-entropy.png'))).toBe(true);
  await expect(printed('report', join(run, 'none'))).rejects.toThrow('expected a run');
});
