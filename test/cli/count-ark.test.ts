/** `kgwalk evaluate --count ark`: LLM-ARK's counts next to the strict ones, of runs and of baselines. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { tableFromIPC } from 'apache-arrow';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { refuseOtherFlags } from '../../tasks/index.js';
import { kgwalk, printed } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { rewriteConfig } from '../fixtures/tiny-training.js';

let run: string;
useSharedHome(async () => {
  run = await finishedRun('dialogues');
});
let warned = '';

async function evaluate(...words: string[]): Promise<string> {
  const { exitCode, out, err } = await kgwalk('evaluate', ...words);
  expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
  warned = err;
  return out;
}
const recordOf = async (...words: string[]) =>
  JSON.parse(await evaluate(...words, '--json')) as EvaluationRecord & { saved: string; speed: object };

const arkKeys = ['ark-path', 'ark-target', 'target-any'].flatMap((name) =>
  [1, 3, 5, 10, 25].map((k) => `${name}@${k}`),
);

/** The record without what `--count ark` adds. */
function strictPart({
  count: _,
  saved: _saved,
  speed: _speed,
  figures: _figures,
  metrics,
  slices,
  ...rest
}: Awaited<ReturnType<typeof recordOf>>) {
  const without = (figures: object) => Object.entries(figures).filter(([key]) => !arkKeys.includes(key));
  return {
    ...rest,
    metrics: without(metrics),
    slices: Object.entries(slices).map(([name, of]) => [name, without(of)]),
  };
}

describe('kgwalk evaluate --count ark', () => {
  test('of a run keeps the strict figures to the bit, adds the others everywhere, and warns', async () => {
    const strict = await recordOf(run, '--split', 'valid');
    const { saved: file } = strict;
    expect(warned).not.toContain('warning');
    const rowsOf = (evaluation: string) => readFileSync(join(evaluation, '..', 'rows.arrow'));
    const [saved, arrow] = [readFileSync(file, 'utf8'), rowsOf(file)];
    const both = await recordOf(run, '--split', 'valid', '--count', 'ark');
    expect(warned.match(/^warning: .*LLM-ARK.*$/gm)).toHaveLength(1);
    expect(both.count).toBe('ark');
    expect(strictPart(both)).toEqual(strictPart(strict));
    for (const figures of [both.metrics, ...Object.values(both.slices)]) {
      expect(Object.keys(figures)).toEqual(expect.arrayContaining(arkKeys));
    }
    expect(both.metrics['ark-path@1']!.n).toBe(both.n);
    expect(both.saved).not.toBe(file);
    expect(JSON.parse(readFileSync(both.saved, 'utf8'))).toMatchObject({ count: 'ark', metrics: both.metrics });
    const columns = (bytes: Uint8Array) => tableFromIPC(bytes).schema.fields.map(({ name }) => name);
    expect(columns(rowsOf(both.saved))).toEqual([...columns(arrow), ...['ark_path', 'ark_target', 'target_any']]);
    // And back: without it the evaluation is what it was.
    await evaluate(run, '--split', 'valid', '--count', 'strict');
    expect(readFileSync(file, 'utf8')).toBe(saved);

    rewriteConfig(run, (config) => ({ ...config, env: { ...config.env, horizon: 1 } }));
    await expect(printed('evaluate', run, '--count', 'ark')).rejects.toMatchObject({
      code: 'usage',
      message: 'expected walks of two steps, got env.horizon 1, at --count ark',
    });
  });

  test('of a baseline prints both side by side, and writes what each slot held', async () => {
    const words = ['--agent', 'memory', '--dataset', 'opendialkg', '--evaluations', folderWith({}), '--count', 'ark'];
    const text = await evaluate(...words);
    for (const key of ['path', 'ark-path', 'target', 'target-any', 'ark-target']) {
      expect(text).toMatch(new RegExp(`^${key}@k +100\\.0 \\[`, 'm'));
    }
    expect(text).toMatch(/slice .* ark-path@1 +ark-target@1/);
    expect(await evaluate(...words.slice(0, -2))).not.toContain('ark');
    const predictions = join(folderWith({}), 'out.jsonl');
    await evaluate(...words, '--predictions', predictions);
    const [first] = readFileSync(predictions, 'utf8').trim().split('\n');
    const { arkBeam, paths } = JSON.parse(first!) as { arkBeam: object[]; paths: { path: unknown }[] };
    expect(arkBeam[0]).toMatchObject({ afterFirst: expect.any(String), path: paths[0]!.path });
  });

  test.each([
    [['--agent', 'random', '--count', 'loose'], /Allowed choices are strict, ark/],
    [
      ['--agent', 'ark-opa', '--count', 'ark', '--model', 'x.gguf'],
      /expected an agent that walks step by step, got ark-opa, at --count ark/,
    ],
  ])('%j is refused before any work', async (words, message) => {
    const { exitCode, out, err } = await kgwalk('evaluate', ...words, '--dataset', 'opendialkg');
    expect([exitCode, out, err]).toEqual([2, '', expect.stringMatching(message)]);
  });

  test('questions have no such counting', () => {
    const flags = { checkpoint: 'best', set: [], modelSet: [], count: 'ark' as const };
    expect(() => refuseOtherFlags(flags, 'questions')).toThrow(/got --count, which is for dialogues/);
  });
});
