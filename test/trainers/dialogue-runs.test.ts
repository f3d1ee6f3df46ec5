/** Training runs over dialogues on the tiny release, by kind: what they log and keep, how they open again, what they refuse. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { edgeFeatureNames } from '../../agents/dialogue-walker/features/edge-features.js';
import { pairFeatureNames } from '../../agents/dialogue-walker/features/pair-features.js';
import { loadWalkerRun } from '../../agents/dialogue-walker/load-walker.js';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { splitSamples, walkSamples } from '../../datasets/walk-sample.js';
import {
  DialogueWalkEnv,
  type DialogueWalkObservation,
  type DialogueWalkOptions,
  dialogueWalkWorld,
  registerEnv,
} from '../../envs/index.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { runFiles } from '../../src/run/run-files.js';
import { train } from '../../tasks/train.js';
import { checkTrainSettings } from '../../trainers/check-settings.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { tinySettings } from '../fixtures/tiny-training.js';
import { dialogues } from '../../tasks/dialogues/index.js';

const home = useReleaseHome();

/** Trains into the folder of this name. */
async function trained(name: string, ...overrides: string[]): Promise<string> {
  const folder = join(home(), name);
  await train({ settings: tinySettings(...overrides), folder });
  return folder;
}

describe('whose walker reads the full text of every state, LLM-ARK’s way', () => {
  const perStep = ['stateText.encode=per-step', 'walker.head=pa-mlp', 'walker.placeVectors=false'];
  const everyPart = ['walker.critic=plain', 'walker.stepEncoding=concat', 'walker.stateNorm=layer'];

  test.each([
    ['float32', []],
    ['bfloat16, with the step as input', [...everyPart, 'walker.precision=bf16']],
  ])('answers as it did in training, from its folder alone, in %s', async (name, more) => {
    const folder = await trained(`answers in ${name}`, ...perStep, ...more);
    const walker = await loadWalkerRun(folder, { checkpoint: 'last', beamWidth: 30 });
    try {
      const dataset = loadDialogueDataset('opendialkg');
      const tasks = walkSamples(dataset.loadDialogues('valid'), walker.graph).map(({ task }) => task);
      const walkable = tasks.filter(({ start }) => start >= 0 && walker.graph.degree(start) > 0);
      const answers = await walker.agent.answer(walkable);
      for (const { paths } of answers) {
        const total = paths.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
        expect(total).toBeCloseTo(1, 5);
      }
    } finally {
      await walker.close();
    }
    const threads = loadWalkerRun(folder, { checkpoint: 'last', beamWidth: 30, threads: 2 });
    await expect(threads).rejects.toThrow(/one thread/);
  });
});

describe('with linked turns and pair features', () => {
  const pairs = ['transe.enabled=false', 'ppo.enabled=false', 'clone.linkedTurns={}', 'walker.pairFeatures=wide'];

  test('read the features and one more scalar, those of a run without read neither', async () => {
    const [unbroken, plain] = [await trained('pairs', ...pairs), await trained('plain', ...pairs.slice(0, 2))];
    const rowsOf = (folder: string, name: string) =>
      readCheckpoint(readIndex(folder).checkpoints.at(-1)!.file).tensors[name]!.shape[0]!;
    expect(rowsOf(plain, 'edge.features')).toBe(edgeFeatureNames.length);
    expect(rowsOf(unbroken, 'edge.features')).toBe(edgeFeatureNames.length + pairFeatureNames.length);
    expect(rowsOf(unbroken, 'trunk.1') - rowsOf(plain, 'trunk.1')).toBe(1);
  });

  test.each([
    [
      'walker.edgeFeatures=false',
      'walker.edgeFeatures=true with walker.pairFeatures=wide, which extend them, got false',
    ],
    ['stateText.encode=per-step', 'stateText.encode=once with walker.pairFeatures=wide, got per-step'],
  ])('are refused with %s', async (override, message) => {
    await expect(trained('refused', ...pairs, override)).rejects.toThrow(`expected ${message}`);
  });

  test('are refused where the data set has no wider graph; without its degrees they are there', async () => {
    const { 'opendialkg_triples_wide.txt': _, ...files } = releaseFiles;
    await importOpenDialKg({ from: folderWith(files), name: 'narrow' });
    const onNarrow = [...pairs, 'data.dataset=narrow'];
    await expect(trained('narrow', ...onNarrow)).rejects.toThrow(
      'expected a data set with the graph wide, got narrow, which has dialogue, at walker.pairFeatures',
    );
    await trained('narrow graph', ...onNarrow, 'walker.pairFeatures=graph');
  });
});

describe('whose candidate head is computed on the host', () => {
  test('are taken by size, are those of a tensor library but for rounding, and open on either', async () => {
    const taken: string[] = [];
    const folders = ['auto', 'wasm'].map((backend) => join(home(), `by ${backend}`));
    for (const [i, backend] of ['auto', 'wasm'].entries()) {
      const settings = tinySettings('ppo.enabled=false', `backend=${backend}`);
      await train({ settings, folder: folders[i]!, onBackend: (name) => taken.push(name) });
    }
    expect(taken).toEqual(['simd', 'wasm']);
    const [ours, theirs] = folders.map((folder) =>
      readMetrics(runFiles(folder).metrics).flatMap(({ metrics }) => metrics['eval/loss'] ?? []),
    );
    expect(ours!.length).toBe(2);
    ours!.forEach((loss, i) => expect(loss).toBeCloseTo(theirs![i]!, 3));

    const dataset = loadDialogueDataset('opendialkg');
    const graph = await dataset.loadGraph('dialogue');
    const tasks = splitSamples(dataset, graph, tinySettings().data, 'valid').map(({ task }) => task);
    const scores: number[][] = [];
    for (const backend of ['simd', 'wasm'] as const) {
      const { agent, close } = await loadWalkerRun(folders[0]!, { checkpoint: 'last', beamWidth: 5, backend });
      scores.push((await agent.answer(tasks)).flatMap(({ paths }) => paths.map(({ logProb }) => logProb)));
      await close();
    }
    expect(scores[1]!.length).toBeGreaterThan(5);
    scores[1]!.forEach((score, i) => expect(score).toBeCloseTo(scores[0]![i]!, 3));
  });
});

describe('by REINFORCE with a moving average and dropped actions', () => {
  const reinforce = [
    ...['ppo.algorithm=reinforce', 'ppo.updateEpochs=1', 'ppo.minibatchSamples=2', 'ppo.baseline=moving-average'],
    ...['ppo.actionDropout=0.5', 'ppo.baselineDecay=0.5', 'transe.enabled=false', 'env.reward.miss=-1'],
  ];

  test('take one step a round and keep their average', async () => {
    const whole = await trained('reinforce', ...reinforce);
    const rounds = readMetrics(runFiles(whole).metrics).filter(({ metrics }) => 'train/policy_loss' in metrics);
    expect(rounds).toHaveLength(4);
    for (const { metrics } of rounds) {
      expect(metrics['train/first_ratio_deviation']).toBeLessThanOrEqual(1e-6);
      expect(Object.keys(metrics)).not.toContain('train/clip_fraction');
      expect(Object.keys(metrics)).not.toContain('train/approx_kl');
    }
    const { trainer } = readCheckpoint(readIndex(whole).last!.file).header;
    // Undiscounted rewards at the end: the mean return of a round is its reward.
    const average = rounds.reduce((sum, { metrics }) => 0.5 * sum + 0.5 * metrics['rollout/reward']!, 0);
    expect(trainer).toMatchObject({ optimizerSteps: 4, averageReturn: expect.closeTo(average, 6) });
    expect(average).not.toBe(0);
  });

  test.each([
    [['ppo.updateEpochs=2'], 'expected ppo.updateEpochs=1 with ppo.algorithm=reinforce'],
    [['ppo.minibatchSamples=1'], 'expected ppo.minibatchSamples of at least ppo.samplesPerUpdate, which is 2, with'],
    [['ppo.dualClip=3'], 'expected ppo.dualClip=null with ppo.algorithm=reinforce'],
    [['ppo.targetKl=0.1'], 'expected ppo.targetKl=null with ppo.algorithm=reinforce'],
    [['ppo.gradient=exact'], 'no moving average and ppo.actionDropout=0 with ppo.gradient=exact'],
  ])('are refused with %j', (more, message) => {
    const check = (...all: string[]) =>
      checkTrainSettings(dialogues.learning, tinySettings(...reinforce, ...all), false);
    expect(() => check()).not.toThrow();
    expect(() => check(...more)).toThrow(message);
  });
});

describe('in an environment of one’s own are refused before a folder is made', () => {
  class Wordless extends DialogueWalkEnv {
    override reset(how: Parameters<DialogueWalkEnv['reset']>[0]) {
      const { task: _task, path: _path, ...observation } = super.reset(how).observation;
      return { observation: observation as DialogueWalkObservation, info: {} };
    }
  }
  registerEnv('mine/Wordless-v1', (options: DialogueWalkOptions) => {
    const world = dialogueWalkWorld(options);
    return () => new Wordless(world);
  });
  registerEnv('mine/Broken-v1', () => {
    throw new Error('no such map');
  });

  test.each([
    ['Wordless', 'an observation with task, start, current, hop, path, actionMask, got one without task, path,'],
    ['Broken', 'an environment over dialogues, got "no such map" when it was made,'],
  ])('where it is %s', async (name, message) => {
    await expect(trained(name, `env.id=mine/${name}-v1`)).rejects.toMatchObject({
      code: 'config',
      message: `expected ${message} at env.id=mine/${name}-v1`,
    });
    expect(existsSync(join(home(), name))).toBe(false);
  });
});
