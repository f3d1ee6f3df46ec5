/** Runs of LLM-ARK's ablations without TransE and without path awareness: opened again, refused. */
import { existsSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadWalkerRun } from '../../agents/dialogue-walker/load-walker.js';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { openRun } from '../../src/run/run-folder.js';
import { forkSettings, train } from '../../tasks/train.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { rewriteConfig, tinySettings } from '../fixtures/tiny-training.js';

const ablations = {
  'without TransE': ['walker.entityInit=random-trainable', 'walker.placeVectors=false', 'walker.componentDim=6'],
  'without path awareness': ['walker.pathAware=false', 'env.edgePolicy=topk-degree', 'env.maxOut=3'],
};
type Ablation = keyof typeof ablations;

const settingsOf = (ablation: Ablation, ...more: string[]) =>
  tinySettings(
    ...['walker.head=pa-mlp', 'transe.enabled=false', 'ppo.baseline=critic', 'ppo.learningRate=0.05'],
    ...ablations[ablation],
    ...more,
  );

const home = useReleaseHome();
const unbroken = {} as Record<Ablation, string>;
let runs = 0;
const newFolder = () => join(home(), `run-${++runs}`);

beforeAll(async () => {
  for (const ablation of Object.keys(ablations) as Ablation[]) {
    unbroken[ablation] = newFolder();
    await train({ settings: settingsOf(ablation), folder: unbroken[ablation] });
  }
});

/** Answers of the run's walker to the tasks of train. */
async function answersOf(folder: string, checkpoint: string) {
  const { agent, graph, close } = await loadWalkerRun(folder, { checkpoint, beamWidth: 5 });
  try {
    const { data } = settingsOf('without TransE');
    const samples = walkSamples(loadDialogueDataset(data.dataset).loadDialogues('train'), graph, data);
    return await agent.answer(samples.map(({ task }) => task));
  } finally {
    await close();
  }
}

describe.each(Object.keys(ablations) as Ablation[])('a run %s', (ablation) => {
  test('clones and trains by the probabilities that it walks with', () => {
    const records = readMetrics(join(unbroken[ablation], 'metrics.jsonl'));
    const ratios = records.flatMap(({ metrics }) => metrics['train/first_ratio_deviation'] ?? []);
    expect(ratios).toHaveLength(4);
    expect(Math.max(...ratios)).toBeLessThanOrEqual(1e-6);
    expect(readIndex(unbroken[ablation]).clone).toBeDefined();
  });

  test('gives the same answers each time it is opened, and others after training', async () => {
    const copy = newFolder();
    cpSync(unbroken[ablation], copy, { recursive: true });
    const answers = await answersOf(unbroken[ablation], 'last');
    expect(answers.flatMap(({ paths }) => paths).length).toBeGreaterThan(2);
    expect(await answersOf(copy, 'last')).toEqual(answers);
    expect(await answersOf(copy, 'clone')).not.toEqual(answers);
  });
});

describe('vectors that are trained', () => {
  const tensorsOf = (which: 'clone' | 'last') =>
    readCheckpoint(readIndex(unbroken['without TransE'])[which]!.file).tensors;

  test('are weights: in every checkpoint with their moments, moved by PPO, and nowhere else', () => {
    const [clone, last] = [tensorsOf('clone'), tensorsOf('last')];
    for (const name of ['pa.entities', 'pa.relations']) {
      expect(Object.keys(last)).toEqual(expect.arrayContaining([name, `optimizer/first/${name}`]));
      expect(last[name]!.shape[1]).toBe(6);
      expect(last[name]!.data).not.toEqual(clone[name]!.data);
    }
    expect(existsSync(join(unbroken['without TransE'], 'embeddings/walker-tables.safetensors'))).toBe(false);
  });
});

describe('B-ARK-14: weights of places', () => {
  const places = 'without path awareness';

  test('carry a hash of the order of edges, which others have no use for', () => {
    const { header } = readCheckpoint(readIndex(unbroken[places]).last!.file);
    expect(header.hashes.slots).toMatch(/^[0-9a-f]{64}$/);
    expect(openRun(unbroken[places]).environment.hashes.slots).toBe(header.hashes.slots);
    const { header: other } = readCheckpoint(readIndex(unbroken['without TransE']).last!.file);
    expect(other.hashes).not.toHaveProperty('slots');
  });

  test.each([
    ['longer lists', { maxOut: 4 }],
    ['lists of another policy', { edgePolicy: 'ark' as const }],
  ])('are not opened over %s', async (_what, change) => {
    const folder = newFolder();
    cpSync(unbroken[places], folder, { recursive: true });
    rewriteConfig(folder, (config) => ({ ...config, env: { ...config.env, ...change } }));
    await expect(answersOf(folder, 'last')).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(/^expected a checkpoint of slots [0-9a-f]{64}, got one of [0-9a-f]{64}, at /),
      hint: expect.stringContaining('env.maxOut'),
    });
  });

  test('are no start for a run over other lists', async () => {
    const run = unbroken[places];
    const settings = await forkSettings(openRun(run), ['env.maxOut=4']);
    const forked = train({ settings, folder: newFolder(), fork: { run, checkpoint: 'last' } });
    await expect(forked).rejects.toMatchObject({ code: 'data', message: expect.stringContaining('of slots') });
  });
});

describe('ablations that contradict', () => {
  test.each([
    [['walker.head=candidate', 'walker.entityInit=random-trainable'], 'expected walker.head=pa-mlp'],
    [['walker.entityInit=random-trainable', 'walker.entityVectors=[transe]', 'transe.enabled=true'], 'no transe'],
    [['walker.entityInit=random-trainable', 'walker.relationVectors=transe', 'transe.enabled=true'], 'no transe'],
    [['walker.entityInit=random-trainable', 'walker.placeVectors=true'], 'expected walker.placeVectors=false'],
    [['walker.pathAware=false'], 'expected env.edgePolicy=ark or topk-degree'],
    [['walker.pathAware=false', 'walker.head=candidate', 'env.edgePolicy=ark'], 'expected walker.head=pa-mlp'],
    [['walker.pathAware=false', 'walker.entityInit=random-trainable', 'env.edgePolicy=ark'], 'entityInit=frozen'],
    [['walker.pathAware=false', 'walker.entityInit=random-trainable', 'walker.head=candidate'], '5 problems:'],
  ])('%j are refused in one error', async (overrides, message) => {
    const settings = tinySettings(
      'walker.head=pa-mlp',
      'transe.enabled=false',
      'data.dataset=not-looked-at',
      ...overrides,
    );
    const placed = overrides.some((one) => one.startsWith('walker.placeVectors') || one.endsWith('head=candidate'));
    const refused = train({
      settings: placed ? settings : { ...settings, walker: { ...settings.walker, placeVectors: false } },
      folder: newFolder(),
    });
    await expect(refused).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(message) });
  });
});
