import { afterEach, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { batchesOf, nextWindow } from '../../../models/llama/batches.js';
import type { LlamaConfig } from '../../../src/llama/config.js';
import type { TokenCorpus } from '../../../models/llama/token-corpus.js';
import { loadTraining, saveTraining } from '../../../models/llama/training-checkpoint.js';
import { trainingSettings } from '../../../models/llama/training-settings.js';
import {
  optimizerFor,
  rateAt,
  startOfTraining,
  trainLanguageModel,
  type TrainingPlace,
} from '../../../models/llama/train-language-model.js';
import { watch } from '../../../models/llama/watch.js';
import { llamaParameters, startingWeights } from '../../../models/llama/weights.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import type { Parameters } from '../../../src/nn/parameters.js';
import { Rng } from '../../../src/run/seeds.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const config: LlamaConfig = {
  ...{ vocabSize: 16, contextLength: 64, dim: 16, layers: 1, heads: 2, kvHeads: 1, hiddenDim: 24 },
  ...{ ropeTheta: 10_000, normEps: 1e-5 },
};

/** Documents of given ids, all of weight 1 but the first token. */
function corpusOf(documents: readonly number[][]): TokenCorpus {
  const offsets = documents.reduce<number[]>((ends, ids) => [...ends, ends.at(-1)! + ids.length], [0]);
  return {
    ids: Uint16Array.from(documents.flat()),
    weights: Float32Array.from(documents.flatMap((ids) => ids.map((_, i) => Number(i > 0)))),
    offsets: Int32Array.from(offsets),
    label: Uint8Array.from(documents, () => 0),
    labels: ['fact/toy'],
  };
}

function drawnCorpus(): TokenCorpus {
  const rng = new Rng(1);
  return corpusOf(Array.from({ length: 30 }, (_, i) => Array.from({ length: 4 + (i % 20) }, () => rng.integer(16))));
}

const executor = new SimdExecutor();
const made: Parameters[] = [];
afterEach(() => {
  for (const parameters of made.splice(0)) parameters.dispose();
});

function freshState(settings: ReturnType<typeof trainingSettings.parse>) {
  const parameters = llamaParameters(executor, config, startingWeights(config, 1));
  made.push(parameters);
  return { parameters, optimizer: optimizerFor(parameters, settings) };
}

const quick = { stepTokens: 64, partTokens: 64, warmupTokens: 100, windowDocuments: 8, logTokens: 200 };

test('ten tokens are overfitted', async () => {
  const corpus = corpusOf([[0, 7, 3, 3, 9, 1, 12, 7, 5, 2]]);
  const settings = trainingSettings.parse({ ...quick, tokens: 500, learningRate: 0.03 });
  const state = freshState(settings);
  const losses: number[] = [];
  await trainLanguageModel({
    ...{ ...state, config, corpus, settings, seed: 1, place: startOfTraining },
    onReport: ({ loss }) => losses.push(loss),
    onWindow: () => false,
  });
  expect(losses.at(-1)).toBeLessThan(0.1);
  const watched = await watch(state.parameters, config, corpus, 64);
  expect(watched).toMatchObject({ all: { exact: 1, documents: 1 }, 'fact/toy': { exact: 1 } });
  expect(watched.all!.loss).toBeLessThan(0.1);
});

test('stopped, saved and resumed, a training gives the very weights of an unbroken one', async () => {
  const corpus = drawnCorpus();
  const settings = trainingSettings.parse({ ...quick, tokens: 500 });
  const common = { config, corpus, settings, seed: 4, onReport: () => {} };
  const whole = freshState(settings);
  await trainLanguageModel({ ...common, ...whole, place: startOfTraining, onWindow: () => false });

  const file = join(folderWith({}), 'training.safetensors');
  const first = freshState(settings);
  let windows = 0;
  const stopped: TrainingPlace = await trainLanguageModel({
    ...{ ...common, ...first, place: startOfTraining },
    onWindow: () => ++windows === 3,
  });
  expect(stopped.tokens).toBeLessThan(settings.tokens);
  await saveTraining(file, first, { place: stopped, log: { bytes: 0 } }, 'these settings');
  const second = freshState(settings);
  expect(() => loadTraining(file, second, 'others')).toThrow(/checkpoint of a training with these settings/);
  const { place } = loadTraining(file, second, 'these settings');
  await trainLanguageModel({ ...common, ...second, place, onWindow: () => false });
  expect(await second.parameters.export()).toEqual(await whole.parameters.export());
});

test('a corpus of documents that are all too long to begin with, or predict nothing, is refused', async () => {
  const long = corpusOf([Array.from({ length: 40 }, (_, i) => i % 16)]);
  const train = (corpus: TokenCorpus, shortTokens: number) => {
    const settings = trainingSettings.parse({ ...quick, tokens: 100, shortTokens });
    let windows = 0;
    return trainLanguageModel({
      ...{ ...freshState(settings), config, corpus, settings, seed: 1, place: startOfTraining },
      ...{ onReport: () => {}, onWindow: () => ++windows === 100 },
    });
  };
  await expect(train(long, 400)).rejects.toThrow(/expected a document of at most 16 tokens .* got none of 1/);
  expect((await train(long, 0)).tokens).toBeGreaterThanOrEqual(100);
  const silent = { ...long, weights: Float32Array.from(long.weights, (_, i) => Number(i === 0)) };
  await expect(train(silent, 0)).rejects.toMatchObject({ code: 'data' });
});

test('training stops before an update with numbers that are not finite', async () => {
  // The first update throws the weights far off; the second overflows.
  const settings = trainingSettings.parse({ ...quick, tokens: 900, warmupTokens: 0, learningRate: 1e25 });
  const state = freshState(settings);
  const failed = trainLanguageModel({
    ...{ config, corpus: drawnCorpus(), settings, seed: 4, place: startOfTraining },
    ...{ ...state, onReport: () => {}, onWindow: () => false },
  });
  await expect(failed).rejects.toThrow(/^expected finite (gradient of|sum with) .+, at update 2$/);
  expect((await state.optimizer.exportState('')).steps).toBe(1);
});

test('every document of a round comes once, in an order of its seed', () => {
  const corpus = drawnCorpus();
  const seen: number[] = [];
  let place = { round: 0, passed: 0 };
  while (place.round === 0) {
    const { documents, after } = nextWindow(corpus, place, { seed: 2, count: 7, longest: 64 });
    seen.push(...documents);
    place = after;
  }
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
  expect(seen).not.toEqual(seen.toSorted((a, b) => a - b));
});

test('a batch predicts each token that counts from the ones before it, and no filling', () => {
  const corpus = {
    ...corpusOf([
      [0, 5, 6],
      [0, 7, 8, 9],
    ]),
    weights: Float32Array.of(0, 0, 1, 0, 0.5, 0, 1),
  };
  const [batch, ...others] = batchesOf(corpus, Int32Array.of(1, 0), 100);
  expect(others).toEqual([]);
  expect(batch!.documents).toEqual(Int32Array.of(0, 1));
  const { ids, length } = batch!.tokens;
  expect([ids.slice(0, 2), ids.slice(length, length + 3)]).toEqual([Int32Array.of(0, 5), Int32Array.of(0, 7, 8)]);
  expect(batch!.targets).toEqual({
    rows: Int32Array.of(1, length, length + 2),
    labels: Int32Array.of(6, 7, 9),
    weights: Float32Array.of(1, 0.5, 1),
  });
});

test('the rate rises to its height and falls to the part that is left', () => {
  const settings = trainingSettings.parse({ tokens: 1000, warmupTokens: 100, learningRate: 1, lastRate: 0.1 });
  expect(rateAt(0, settings)).toBeCloseTo(0.01, 2);
  expect(rateAt(100, settings)).toBe(1);
  expect(rateAt(550, settings)).toBeCloseTo(0.55, 6);
  expect(rateAt(1000, settings)).toBeCloseTo(0.1, 6);
});
