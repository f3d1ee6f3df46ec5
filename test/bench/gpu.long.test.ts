/** The bench of graphics cards: its tables, and a run of it where there is none. */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { gpuPrograms } from '../../bench/gpu-programs.js';
import { gpuTables, type GpuResult } from '../../bench/gpu-table.js';
import { writeRandomModel } from '../../bench/random-model.js';
import { readEmbeddingModel } from '../../src/encoder/embedding-model.js';
import { folderWith } from '../fixtures/tiny-release.js';

const update = (computer: GpuResult['computer'], rate: number): GpuResult => {
  const settings = { batch: 256, state: 64, hidden: 64 };
  const lines = [{ task: 'ppo-update', settings, rate, unit: 'samples/s' }];
  return { task: 'update', size: 'small', computer, lines };
};
const steps = (computer: 'tensorflow-gpu' | 'wasm', times: readonly number[]): GpuResult => ({
  task: 'crossing',
  computer,
  lines: times.map((time, i) => ({ width: 100, batch: 100 * 10 ** i, step_wall_ms: { [computer]: time } })),
});

describe('the tables of a card', () => {
  test('put what one measurement gave on several computers into one row, the card first', () => {
    expect(gpuTables([update('wasm', 1234.5), update('tensorflow-gpu', 98_765)])).toBe(
      [
        '| by the clock, more is better | tensorflow-gpu | wasm |',
        '| --- | ---: | ---: |',
        '| PPO update (small: 64 → 64, minibatch 256), samples/s | 98,765 | 1,235 |',
      ].join('\n'),
    );
  });

  test('say from which product on the card is ahead at every larger one', () => {
    const text = (card: readonly number[]) => gpuTables([steps('tensorflow-gpu', card), steps('wasm', [1, 10, 100])]);
    expect(text([5, 9, 9])).toContain('tensorflow-gpu is ahead of wasm from 10 million multiply-adds on');
    expect(text([0.5, 11, 9])).toContain('tensorflow-gpu is ahead of wasm from 100 million multiply-adds on');
    expect(text([0.5, 9, 101])).toContain('tensorflow-gpu is behind wasm at 100 million multiply-adds, too');
  });

  test('say once why a computer is missing', () => {
    const failed = (task: GpuResult['task'], size: 'small' | 'middle' | 'large', reason: string): GpuResult => ({
      ...{ task, size, computer: 'tensorflow-gpu', lines: [], reason },
    });
    const everywhere = (['small', 'middle', 'large'] as const).map((size) => failed('update', size, 'no device'));
    const text = gpuTables([...everywhere, failed('training', 'large', 'too little memory')]);
    expect(text).toBe(
      'Not measured:\n\n- tensorflow-gpu: no device\n- tensorflow-gpu: too little memory [training (large)]',
    );
  });
});

test('every task and size is measured on the card and on the processor', () => {
  for (const task of ['update', 'training'] as const) {
    for (const size of ['small', 'middle', 'large'] as const) {
      const on = gpuPrograms.filter((program) => program.task === task && program.size === size);
      expect(on.map(({ computer }) => computer)).toEqual(expect.arrayContaining(['tensorflow-gpu', 'wasm']));
    }
  }
});

test('the model of random weights is one that the encoder takes', async () => {
  const path = join(folderWith({}), 'random.gguf');
  writeRandomModel(path, { vocabSize: 512, contextLength: 64, dim: 8, layers: 1, heads: 2, kvHeads: 1, hiddenDim: 16 });
  expect(await readEmbeddingModel(path)).toMatchObject({ dim: 8, contextLength: 64, causal: true });
  // A matrix of F16 an entry of the vocabulary, at least.
  expect(statSync(path).size).toBeGreaterThan(512 * 8 * 2);
});

describe('npm run bench:gpu', () => {
  const bench = (...args: string[]) => spawnSync(execPath, ['dist/bench/gpu.js', ...args], { encoding: 'utf8' });

  test('measures what is asked for, and says what it lacks', () => {
    const out = folderWith({});
    const asked = ['--only', 'update,training', '--sizes', 'small', '--computers', 'wasm', '--seconds', '0.1'];
    const { status, stdout, stderr } = bench(...asked, '--out', out);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(stdout).toMatch(/PPO update \(small: 64 → 64, minibatch 256\), samples\/s \| [\d,.]+ \|/);
    expect(stdout).toContain('wasm: no --data [training (small)]');
    expect(readFileSync(join(out, 'gpu.md'), 'utf8')).toBe(stdout);
    const { results } = JSON.parse(readFileSync(join(out, 'gpu.json'), 'utf8')) as { results: GpuResult[] };
    expect(results.map(({ task, lines }) => [task, lines.length])).toEqual([
      ['update', 1],
      ['training', 0],
    ]);
  });

  test.each([
    [['--only', 'encode'], 'expected --only with some of update, training, llm-ark, encoding, crossing, got encode'],
    [['--seconds', 'two'], 'expected --seconds with numbers above 0, got two'],
  ])('refuses %j before it measures', (args, message) => {
    const { status, stdout, stderr } = bench(...args);
    expect(status).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
  });
});
