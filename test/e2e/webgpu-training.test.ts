/** A whole run on WebGPU: on a card or, as in CI, on a driver in software. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadWalkerRun } from '../../agents/dialogue-walker/load-walker.js';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { openRun } from '../../src/run/run-folder.js';
import { train } from '../../tasks/train.js';
import { executorsHere } from '../fixtures/executors.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { stopAt, tinySettings } from '../fixtures/tiny-training.js';

const there = (await executorsHere()).includes('webgpu');
const onWebgpu = there ? test : test.skip;

const home = useReleaseHome();

/** Two gradient steps an update: in the second, ratios are no longer 1. */
const settingsOn = (backend: string) =>
  tinySettings(
    ...[`backend=${backend}`, 'transe.enabled=false', 'clone.epochs=1'],
    ...['ppo.updates=2', 'ppo.baseline=critic', 'ppo.updateEpochs=1', 'ppo.explorations=2'],
  );

onWebgpu(
  'cloning, PPO with a critic and evaluation give the numbers of SIMD kernels, also of a run that was stopped',
  async () => {
    const [plain, gpu] = ['simd', 'webgpu'].map((backend) => join(home(), backend)) as [string, string];
    await train({ settings: settingsOn('simd'), folder: plain });
    const stopped = train({ settings: settingsOn('webgpu'), folder: gpu, ...stopAt('ppo', 1) });
    await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
    await train({ settings: settingsOn('webgpu'), folder: gpu, resume: 'last' });
    const { state, environment } = openRun(gpu);
    expect(state.status).toBe('finished');
    expect(environment.backend).toBe('webgpu');

    for (const which of ['clone', 'last'] as const) {
      const [expected, got] = [plain, gpu].map(
        (folder) => readCheckpoint(resolveCheckpoint(folder, which).file).tensors,
      );
      expect(Object.keys(got!)).toEqual(Object.keys(expected!));
      for (const [name, { data }] of Object.entries(expected!)) {
        const theirs = got![name]!.data as Float32Array;
        const worst = (data as Float32Array).reduce(
          (most, value, i) => Math.max(most, Math.abs(value - theirs[i]!)),
          0,
        );
        expect({ which, name, worst }).toEqual({ which, name, worst: expect.closeTo(0, 3) });
      }
    }
    const [expected, got] = [plain, gpu].map((folder) => readMetrics(join(folder, 'metrics.jsonl')));
    expect(got!.map(({ phase, step }) => `${phase} ${step}`)).toEqual(
      expected!.map(({ phase, step }) => `${phase} ${step}`),
    );
    expected!.forEach(({ metrics }, i) => {
      for (const [key, value] of Object.entries(metrics)) expect(got![i]!.metrics[key]).toBeCloseTo(value, 3);
    });

    const answers = [];
    for (const backend of ['simd', 'webgpu'] as const) {
      const { agent, graph, close } = await loadWalkerRun(gpu, { checkpoint: 'last', beamWidth: 5, backend });
      const { data } = settingsOn(backend);
      const samples = walkSamples(loadDialogueDataset(data.dataset).loadDialogues('train'), graph, data);
      answers.push(await agent.answer(samples.map(({ task }) => task)));
      await close();
    }
    const figures = answers.map((all) => all.flatMap(({ paths }) => paths.map(({ logProb }) => logProb)));
    expect(figures[0]!.length).toBeGreaterThan(2);
    figures[1]!.forEach((logProb, i) => expect(logProb).toBeCloseTo(figures[0]![i]!, 3));
  },
);
