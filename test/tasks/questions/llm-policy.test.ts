/** `train llm-policy`: a tiny Llama is trained by each algorithm, stopped, resumed and asked. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readIndex } from '../../../checkpoints/store.js';
import { runSettings } from '../../../presets/index.js';
import { loadConfig } from '../../../src/run/config.js';
import { resolvePreset } from '../../../src/run/locations.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import { train } from '../../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { useSharedHome } from '../../fixtures/own-home.js';
import { tinyLlama } from '../../fixtures/tiny-llama.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { expectExactResume } from '../../fixtures/tiny-training.js';
import { importFilms } from '../../fixtures/toy-question-training.js';

useSharedHome(() => importFilms());
const { path } = await tinyLlama({ contextLength: 1024 });

const settingsOf = (...overrides: string[]) =>
  loadConfig(runSettings, {
    file: resolvePreset('llm-policy'),
    overrides: [
      ...['data.dataset=films', 'data.subsets=all', `encoder.model=${path}`, 'backend=simd'],
      ...['relationWalker.model={ layers: 1, rank: 4, examples: false }', 'ppo.updates=6', 'ppo.evalEvery=3'],
      ...['ppo.samplesPerUpdate=8', 'ppo.minibatchSamples=8', 'ppo.learningRate=0.02', 'checkpoint.everyUpdates=2'],
      ...['evaluation.resamples=10', ...overrides],
    ],
  });

const reinforce = ['ppo.algorithm=reinforce', 'ppo.targetKl=null'];
describe.each<[string, string[]]>([
  ['GRPO', []],
  ['RLOO', [...reinforce, 'ppo.baseline=leave-one-out', 'ppo.normalizeAdvantage=none']],
  ['the exact gradient', ['ppo.gradient=exact']],
])('by %s', (_, overrides) => {
  const settings = settingsOf(...overrides);
  const whole = join(folderWith({}), 'run');
  beforeAll(() => train({ settings, folder: whole }));

  test('it is rewarded more than at first, and only low-rank matrices are in its checkpoint', () => {
    const rewards = readMetrics(join(whole, 'metrics.jsonl')).flatMap(({ metrics }) => metrics['rollout/reward'] ?? []);
    expect(rewards).toHaveLength(6);
    expect(Math.max(...rewards.slice(2))).toBeGreaterThan(rewards[0]!);
    expect(readIndex(whole).best?.phase).toBe('ppo');
  });

  test('stopped and resumed it ends with the same bytes', () => expectExactResume(settings, whole, 'ppo', 3));
});

test('answers questions, is compared, and says what it cannot be given', async () => {
  const whole = join(folderWith({}), 'run');
  await train({ settings: settingsOf(), folder: whole });
  const { metrics } = await kgwalkJson<{ metrics: Record<string, { value: number }> }>(
    ...['evaluate', whole, '--split', 'valid'],
  );
  expect(metrics['hit@1']!.value).toBeGreaterThan(0);
  const asked = await kgwalk('ask', whole, 'who directed [tenet]');
  expect(asked.out).toMatch(/nolan|reitman|2020|washington/);
  const refused = await kgwalk('train', 'llm-policy', '--set', 'ppo.feasibilityCoef=1');
  expect(refused.err).toMatch(
    /expected ppo.feasibilityCoef=0 with relationWalker.reads=model, which scores legal actions alone, got 1/,
  );
  const other = await kgwalk('train', 'questions', '--set', 'relationWalker.model.rank=4');
  expect(other.err).toMatch(/expected relationWalker.reads=model with a section relationWalker.model, got words/);
});
