import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { readMetrics, readTimings } from '../../src/run/metric-log.js';
import { openRun } from '../../src/run/run-folder.js';
import { lockFolder } from '../../src/run/run-lock.js';
import { train } from '../../tasks/train.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { csvOf, folderWith, missDialogue, releaseFiles } from '../fixtures/tiny-release.js';
import { evaluationOf, rewriteConfig, runHashes, stoppedRun, tinySettings } from '../fixtures/tiny-training.js';

let unbroken: string;
const home = useSharedHome(async () => {
  unbroken = await finishedRun('dialogues');
});
let runs = 0;
const newFolder = () => join(home(), `run-${++runs}`);

describe('a training run', () => {
  test('B-ARK-4: leaves a folder with everything', () => {
    expect(Object.keys(runHashes(unbroken))).toEqual([
      'checkpoints/clone-000006.safetensors',
      'checkpoints/index.json',
      'checkpoints/ppo-000003.safetensors',
      'checkpoints/ppo-000004.safetensors',
      'config.yaml',
      'embeddings/transe.json',
      'embeddings/transe.safetensors',
      'embeddings/walker-tables.safetensors',
      ...['answers.jsonl', 'asked.json', 'evaluation.json', 'provenance.json', 'rows.arrow', 'seal.json'].map((name) =>
        join(relative(unbroken, evaluationOf(unbroken, 'valid-best')), name),
      ),
      'metrics.arrow',
      'metrics.jsonl',
      'provenance.json',
      'state.json',
    ]);
    const { config, environment, state } = openRun(unbroken);
    expect(config).toEqual(JSON.parse(JSON.stringify(tinySettings())));
    const done = { transe: true, encode: true, clone: true, ppo: true };
    expect(state).toMatchObject({ status: 'finished', done });
    expect(environment).toMatchObject({ backend: 'simd', hashes: { encoder: 'hashed:32:l2:v1' } });
    // Neither the place of the run nor the time is in what must be equal between equal runs.
    const bytes = readFileSync(join(unbroken, 'checkpoints/ppo-000004.safetensors'), 'latin1');
    expect(bytes).not.toContain(tmpdir());
    expect(bytes).not.toContain('hashed:32"');
  });

  test('its evaluation says what its best checkpoint is, which may be the clone', () => {
    const { best } = readIndex(unbroken);
    const { phase, step } = best!;
    const record = readFileSync(join(evaluationOf(unbroken, 'valid-best'), 'evaluation.json'), 'utf8');
    expect(JSON.parse(record)).toMatchObject({ checkpoint: 'best', phase, step });
  });

  test('logs every phase by the field’s names', () => {
    const records = readMetrics(join(unbroken, 'metrics.jsonl'));
    expect(records.map(({ phase, step }) => `${phase} ${step}`)).toEqual([
      ...[1, 2, 3, 4].map((step) => `transe ${step}`),
      ...['clone 3', 'clone 6', 'ppo 1', 'ppo 2', 'ppo 2', 'ppo 3', 'ppo 4', 'ppo 4'],
    ]);
    const ofUpdate = records.find(({ phase }) => phase === 'ppo')!.metrics;
    for (const key of 'approx_kl clip_fraction entropy value_loss policy_loss anchor_kl grad_norm'.split(' ')) {
      expect(ofUpdate[`train/${key}`]).toEqual(expect.any(Number));
    }
    expect(ofUpdate['train/first_ratio_deviation']).toBeLessThanOrEqual(1e-6);
    expect(Object.keys(records.at(-1)!.metrics)).toEqual(
      expect.arrayContaining(['eval/path@1', 'eval/target@25', 'eval/mrr']),
    );
    const timings = readTimings(join(unbroken, 'timing.jsonl'));
    expect(timings.find(({ phase }) => phase === 'encode')).toMatchObject({ 'time/encodes': 14, 'time/cache_hits': 0 });
  });

  test('keeps the clone, the best and the last, whose weights it can resume from', () => {
    const { best, last, clone } = readIndex(unbroken);
    expect([clone?.name, last?.name]).toEqual(['clone-000006', 'ppo-000004']);
    const path1 = ({ metrics }: { metrics: Readonly<Record<string, number>> }) => metrics['eval/path@1']!;
    expect(best?.name).toBe(path1(last!) >= path1(clone!) ? last!.name : clone!.name);
    const { header, tensors } = readCheckpoint(last!.file);
    expect(header).toMatchObject({ kind: 'walker', phase: 'ppo', step: 4, trainer: { optimizerSteps: 16 } });
    expect(Object.keys(tensors).filter((name) => name.startsWith('optimizer/'))).not.toHaveLength(0);
  });

  test('that stopped early for lack of gain trains no further when it is resumed', async () => {
    const settings = tinySettings('transe.enabled=false', 'ppo.patience=1', 'ppo.evalEvery=1', 'ppo.learningRate=0');
    const folder = await stoppedRun(settings, 'evaluate the best on valid', 1);
    expect(readIndex(folder).last!.name).toBe('ppo-000002');
    await train({ settings, folder, resume: 'last' });
    expect(readIndex(folder).last!.name).toBe('ppo-000002');
  });

  test('resumes from any checkpoint that it kept', async () => {
    const folder = newFolder();
    cpSync(unbroken, folder, { recursive: true });
    await train({ settings: tinySettings(), folder, resume: '3' });
    expect(runHashes(folder)).toEqual(runHashes(unbroken));
    await expect(train({ settings: tinySettings(), folder, resume: '77' })).rejects.toThrow('expected checkpoint "77"');
    expect(openRun(folder).state.status).toBe('finished');
  });

  test('starts from scratch where nothing was saved yet, and leaves equal bytes', async () => {
    const folder = newFolder();
    await train({ settings: tinySettings(), folder, resume: 'last' });
    expect(runHashes(folder)).toEqual(runHashes(unbroken));
  });
});

describe('a training run is refused', () => {
  test.each([
    [['clone.enabled=false'], 'expected a clone to start from, got ppo.init=clone'],
    [['clone.enabled=false', 'ppo.enabled=false'], 'expected something to train'],
    [['ppo.init=scratch'], 'expected ppo.klCoef=0 with ppo.init=scratch'],
    [['ppo.explorations=1'], 'expected ppo.explorations of at least 2'],
    [['ppo.gradient=exact', 'env.reward.kind=target'], 'with ppo.gradient=exact'],
    [['env.shaping=transe', 'transe.enabled=false'], 'expected transe.enabled=true with env.shaping=transe'],
    [['walker.relationVectors=transe', 'transe.enabled=false'], 'expected transe.enabled=true'],
    [['walker.placeVectors=false'], 'expected walker.head=pa-mlp with walker.placeVectors=false, got candidate'],
    [['walker.stepEncoding=concat'], 'expected walker.head=pa-mlp with walker.stepEncoding=concat'],
    [['walker.stateNorm=layer'], 'expected walker.head=pa-mlp with walker.stateNorm=layer'],
    [['walker.critic=plain'], 'expected walker.head=pa-mlp with walker.critic=plain'],
    [['walker.precision=bf16'], 'expected walker.head=pa-mlp with walker.precision=bf16'],
    [['walker.head=pa-mlp', 'walker.text=words'], 'expected walker.text=frozen with walker.head=pa-mlp'],
    [['walker.text=both', 'walker.width=7'], 'expected an even walker.width with walker.text=both'],
    [['walker.decoder=free'], 'expected walker.head=seq2path with walker.decoder=free'],
    [['walker.decoder=free', 'walker.head=seq2path'], 'expected ppo.enabled=false, walker.edgeFeatures=false and'],
    [['clone.loss=hinge'], 'expected walker.head=seq2seq or dialkg-walker with clone.loss=hinge'],
    [['clone.loss=hinge', 'walker.head=seq2seq'], 'expected walker.edgeFeatures=false with clone.loss=hinge'],
    [['evaluation.ks=[5]'], 'expected 1 in evaluation.ks'],
    [['env.id=mine/Walk-v1'], 'expected a known environment (kgwalk/CartPole-v1, kgwalk/Grid-v1, kgwalk/LinkQuery-v1'],
    [['env.id=kgwalk/LinkQuery-v1', 'env.horizon=3'], 'expected the rules of the walk in the section linkWalk'],
    [
      ['env.id=kgwalk/LinkQuery-v1', 'linkWalker.vectors=bilinear'],
      'expected bilinear.enabled=true, which linkWalker.vectors reads,',
    ],
    [['env.id=kgwalk/LinkQuery-v1', 'linkWalker.trainVectors=false'], 'got random'],
    [['clone.enabled=false', 'env.id=mine/Walk-v1'], '2 problems:'],
  ])('with %j before anything is opened', async (overrides, message) => {
    const folder = newFolder();
    const settings = tinySettings(...overrides, 'data.dataset=not-even-looked-at');
    await expect(train({ settings, folder })).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(message),
    });
    expect(existsSync(folder)).toBe(false);
  });

  test.each([
    ['data', ['data.dataset=nowhere'], 'expected an imported data set, got "nowhere"'],
    ['config', ['data.graph=nowhere'], 'expected a graph of opendialkg (dialogue, wide), got "nowhere"'],
    ['config', ['encoder.model=hashed:2'], 'expected hashed:DIM'],
    ['data', ['encoder.model=gone.gguf'], 'gone.gguf'],
  ])('with %s that is not there: %j', async (code, overrides, message) => {
    const folder = newFolder();
    const refused = train({ settings: tinySettings(...overrides), folder });
    await expect(refused).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
      hint: expect.any(String),
    });
    expect(existsSync(folder)).toBe(false);
  });

  test('without an encoder', async () => {
    const { encoder, ...settings } = tinySettings();
    const { model: _model, ...others } = encoder;
    const refused = train({ settings: { ...settings, encoder: others }, folder: newFolder() });
    await expect(refused).rejects.toMatchObject({ code: 'config', hint: expect.stringContaining('--model FILE.gguf') });
  });

  test('without a gold that a walk can reach', async () => {
    const from = folderWith({ ...releaseFiles, 'valid.csv': csvOf([missDialogue]) });
    await importOpenDialKg({ from, name: 'misses' });
    const refused = train({ settings: tinySettings('data.dataset=misses'), folder: newFolder() });
    await expect(refused).rejects.toMatchObject({
      code: 'data',
      message: expect.stringContaining('got none, at split valid of misses'),
    });
  });

  test('where a file is in the way of its folder', async () => {
    const file = join(folderWith({ taken: '' }), 'taken');
    for (const folder of [file, join(file, 'run')]) {
      await expect(train({ settings: tinySettings(), folder })).rejects.toMatchObject({
        code: 'failure',
        message: expect.stringContaining('expected a place that can be written'),
      });
    }
  });

  test('when it is resumed with other settings, another graph or another encoder', async () => {
    const folder = newFolder();
    cpSync(unbroken, folder, { recursive: true });
    await expect(train({ settings: tinySettings(), folder })).rejects.toMatchObject({ code: 'usage' });
    const resume = (overrides: string[]) => train({ settings: tinySettings(...overrides), folder, resume: 'last' });
    await expect(resume(['ppo.clipRange=0.1', 'seed=7'])).rejects.toMatchObject({
      code: 'config',
      message: `expected the settings of the run, got others, at ${folder}:
  ppo.clipRange: 0.2 in the run, 0.1 asked for
  seed: 0 in the run, 7 asked for`,
      hint: expect.stringContaining('--fork'),
    });
    await expect(resume(['data.graph=wide'])).rejects.toThrow('data.graph: dialogue in the run, wide asked for');
    await expect(resume(['encoder.model=hashed:64'])).rejects.toThrow('encoder.model: hashed:32 in the run, hashed:64');
    expect(runHashes(folder)).toEqual(runHashes(unbroken));
  });

  test.each([
    ['data.graph=wide', 'expected a run of graph'],
    ['encoder.model=hashed:64', 'expected a run of encoder hashed:64'],
  ])('when another thing is behind equal settings: %s', async (override, message) => {
    const folder = newFolder();
    cpSync(unbroken, folder, { recursive: true });
    const settings = tinySettings(override);
    rewriteConfig(folder, () => JSON.parse(JSON.stringify(settings)) as object);
    await expect(train({ settings, folder, resume: 'last' })).rejects.toThrow(message);
  });

  test('when another process holds it, or its last checkpoint is damaged', async () => {
    const folder = newFolder();
    cpSync(unbroken, folder, { recursive: true });
    writeFileSync(readIndex(folder).last!.file, 'not a checkpoint');
    const resumed = train({ settings: tinySettings(), folder, resume: 'last' });
    await expect(resumed).rejects.toMatchObject({ code: 'data', message: expect.stringContaining('ppo-000004') });
    const release = lockFolder(folder);
    const before = runHashes(folder);
    await expect(train({ settings: tinySettings(), folder, resume: 'clone' })).rejects.toMatchObject({ code: 'usage' });
    expect(runHashes(folder)).toEqual(before);
    release();
  });
});
