import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { readIndex } from '../../checkpoints/store.js';
import { timeLimit } from '../../cli/options.js';
import { openRun } from '../../src/run/run-folder.js';
import { collectGarbage } from '../fixtures/collect-garbage.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';

describe('a time limit', () => {
  useOwnHome();
  let collecting: NodeJS.Timeout;
  afterEach(() => clearInterval(collecting));

  test('fires where only a signal derived from it is held, even after garbage collection', async () => {
    const signal = AbortSignal.any([new AbortController().signal, timeLimit(0.0005)]);
    collecting = setInterval(collectGarbage, 5);
    const fired = await new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(true));
      setTimeout(() => resolve(false), 3000).unref();
    });
    expect(fired).toBe(true);
  });

  test('ends a long training with what it has, which can be resumed', async () => {
    const settings = {
      ...{ name: 'long', backend: 'simd', data: { dataset: 'tiny' }, env: { id: 'kgwalk/LinkQuery-v1' } },
      ...{ linkWalk: { horizon: 2 }, linkWalker: { vectorDim: 8, pathDim: 8, width: 16 }, clone: { enabled: false } },
      ...{ transe: { dim: 16, epochs: 5 }, bilinear: { enabled: true, dim: 16, epochs: 5 } },
      ppo: {
        ...{ init: 'scratch', klCoef: 0, algorithm: 'reinforce', baseline: 'moving-average', updateEpochs: 1 },
        ...{ updates: 20_000, samplesPerUpdate: 40, minibatchSamples: 40, explorations: 4, evalEvery: 100 },
      },
      checkpoint: { everyUpdates: 10 },
    };
    const home = folderWith({ 'long.yaml': stringify(settings) });
    await kgwalkJson('datasets', 'import', 'triples', '--name', 'tiny', '--from', folderWith(tinyLinkFiles));
    const run = join(home, 'run');
    collecting = setInterval(collectGarbage, 100);
    const limit = ['--max-minutes', '0.02'];
    const stopped = await kgwalk('train', join(home, 'long.yaml'), '--run-dir', run, ...limit);
    expect(stopped.exitCode).toBe(130);
    expect(openRun(run).state.status).toBe('stopped');
    // On a machine that is busy with other things, none may have been due yet.
    const lastStep = () => readIndex(run).checkpoints.at(-1)?.step ?? 0;
    const step = lastStep();
    expect(step).toBeLessThan(20_000);
    expect((await kgwalk('train', '--resume', '--run-dir', run, ...limit)).exitCode).toBe(130);
    expect(lastStep()).toBeGreaterThanOrEqual(step);
    rmSync(home, { recursive: true });
  });

  test('ends an evaluation, a sweep and the training of a model, even after garbage collection', async () => {
    const home = folderWith({});
    await kgwalkJson('datasets', 'import', 'triples', '--name', 'tiny', '--from', folderWith(tinyLinkFiles));
    // Each would take minutes.
    const dataset = ['--set', 'data.dataset=tiny'];
    const messages = ['link-messages', ...dataset, '--set', 'exactWalker.messages.steps=10000000'];
    const run = join(home, 'run');
    await kgwalkJson('train', 'link-chains', ...dataset, '--run-dir', run);
    const lines = join(home, 'sweep');
    await kgwalk('datasets', 'demo', '--entities', '300', '--dialogues', '30', '--questions', '60');
    const model = ['model.vocabSize=800', 'model.contextLength=2048', 'model.dim=8', 'model.layers=1', 'model.heads=2'];
    const corpus = ['characters=40000', 'watchCharacters=1000', 'vocabularyCharacters=20000', 'moreQuestions=0'];
    const small = [...model, 'model.kvHeads=1', 'model.hiddenDim=8', ...corpus.map((one) => `corpus.${one}`)];
    small.push('training.stepTokens=1024', 'training.tokens=90000000');
    const grid = ['--grid', 'exactWalker.messages.learningRate=0.01,0.02'];
    const limit = ['--max-minutes', '0.02'];
    const sets = small.flatMap((one) => ['--set', one]);
    const commands = [
      [['evaluate', run, '--split', 'test', '--max-minutes', '0.000001'], 'stopped'],
      [['sweep', ...messages, ...grid, '--run-dir', lines, ...limit], 'of 2 trials done'],
      // Before the first token, or after so many of 90000000.
      [['models', 'train', '--out', join(home, 'model'), ...sets, ...limit], 'stopped'],
    ] as const;
    // Rarely: each of them is a good part of the work here.
    collecting = setInterval(collectGarbage, 500);
    for (const [words, err] of commands) {
      const ended = await kgwalk(...words);
      expect([words[0], ended.exitCode, ended.err]).toEqual([words[0], 130, expect.stringContaining(err)]);
    }
    rmSync(home, { recursive: true });
  });
});
