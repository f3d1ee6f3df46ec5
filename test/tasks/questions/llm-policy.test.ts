/** `train llm-policy`: a tiny Llama is trained by each algorithm, stopped, resumed and asked. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadRelationRanker } from '../../../agents/relation-walker/agent.js';
import { readIndex } from '../../../checkpoints/store.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { runSettings } from '../../../presets/index.js';
import { openLlamaModel } from '../../../src/llm/llama-model.js';
import type { LlamaModelOptions } from '../../../src/llm/llama-options.js';
import { segmentLogSoftmax } from '../../../src/nn/categorical.js';
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
import { graphOf } from '../../fixtures/toy-walks.js';

const plays = graphOf('plays', [
  ['hamlet', 'directed_by', 'olivier'],
  ['olivier', '~directed_by', 'hamlet'],
]);
useSharedHome(async () => {
  await importFilms();
  await importFilms({ name: 'arts', further: plays });
});
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

test('its adapter gives llama.cpp the trained choices', async () => {
  const whole = join(folderWith({}), 'run');
  await train({ settings: settingsOf('ppo.learningRate=0.05', 'ppo.klCoef=0'), folder: whole });
  const adapter = join(folderWith({}), 'adapter.gguf');
  expect((await kgwalk('checkpoint', 'export', whole, 'last', '--to', adapter)).out.trim()).toBe(adapter);
  const { walking, close } = await loadRelationRanker(
    { folder: whole, checkpoint: 'last' },
    { dataset: 'films', graph: await loadQuestionDataset('films').loadGraph(['1-hop']) },
    {},
  );
  const { graph, reader } = walking;
  const { task } = loadQuestionDataset('films').questions(graph, { subsets: ['1-hop'], split: 'valid' })[0]!;
  const mask = new Uint8Array(graph.numRelations + 1);
  const words = ['directed_by', 'starring', 'year'];
  const legal = words.map((name) => graph.relationId(name));
  for (const relation of legal) mask[relation] = 1;
  const scores = await (await reader.of(task))([], mask);
  const body = `${task.question.replace(task.topics[0]!.name, 'it')}? =`;
  const shares = async (options: LlamaModelOptions) => {
    const model = await openLlamaModel(path, options);
    const request = { head: '', body, meant: [], decision: {} as never };
    const { logProbs } = await model.scoreTexts!(
      request,
      ['d', 's', 'y'].map((letter) => ` ${letter}`),
    );
    const { id } = model;
    await model.dispose();
    return { id, shares: segmentLogSoftmax(Float32Array.from(logProbs), Int32Array.of(0, 3)).map(Math.exp) };
  };
  const [before, after] = [await shares({ contextLength: 256 }), await shares({ contextLength: 256, adapter })];
  expect(after.id).not.toBe(before.id);
  // The first letters of the three are tokens, and no other relation begins with them.
  const trained = Float32Array.from(legal, (relation) => Math.exp(scores[relation]!));
  const apart = (a: Float32Array, b: Float32Array) => Math.max(...a.map((value, i) => Math.abs(value - b[i]!)));
  expect(apart(before.shares, trained)).toBeGreaterThan(0.3);
  // llama.cpp rounds states to eight bits before it multiplies them with these weights.
  expect(apart(after.shares, trained)).toBeLessThan(0.1);
  await close();
});

test('answers questions, of other graphs too, is compared, and says what it cannot be given', async () => {
  const whole = join(folderWith({}), 'run');
  await train({ settings: settingsOf(), folder: whole });
  const { metrics } = await kgwalkJson<{ metrics: Record<string, { value: number }> }>(
    ...['evaluate', whole, '--split', 'valid'],
  );
  expect(metrics['hit@1']!.value).toBeGreaterThan(0);
  const asked = await kgwalk('ask', whole, 'who directed [tenet]');
  expect(asked.out).toMatch(/nolan|reitman|2020|washington/);
  const elsewhere = await kgwalkJson<{ dataset: string; subsets: string[] }>(
    ...['evaluate', whole, '--dataset', 'arts/plays', '--split', 'valid'],
  );
  expect(elsewhere).toMatchObject({ dataset: 'arts', subsets: ['plays'] });
  const other = await kgwalk('ask', whole, 'who directed [hamlet]', '--dataset', 'arts/plays');
  expect(other.out).toMatch(/olivier/);
  const refused = await kgwalk('train', 'llm-policy', '--set', 'ppo.feasibilityCoef=1');
  expect(refused.err).toMatch(
    /expected ppo.feasibilityCoef=0 with relationWalker.reads=model, which scores legal actions alone, got 1/,
  );
  const words = await kgwalk('train', 'questions', '--set', 'relationWalker.model.rank=4');
  expect(words.err).toMatch(/expected relationWalker.reads=model with a section relationWalker.model, got words/);
});
