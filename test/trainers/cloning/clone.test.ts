import { beforeAll, describe, expect, test } from '@jest/globals';
import { beamSearch } from '../../../agents/dialogue-walker/agent.js';
import { frozenTables, noTables } from '../../../agents/dialogue-walker/vectors.js';
import { createPolicy, type WalkerInputs } from '../../../agents/dialogue-walker/inputs.js';
import type { WalkerSettings } from '../../../agents/dialogue-walker/settings.js';
import { walkCollector } from '../../../agents/top-paths.js';
import { AdamW } from '../../../src/nn/adamw.js';
import type { Executor } from '../../../src/nn/executor.js';
import { openExecutor } from '../../../src/nn/open-executor.js';
import { type CloneStep } from '../../../trainers/clone.js';
import { type CloneEpoch } from '../../fixtures/run-trainers.js';
import { cloneSettings } from '../../../trainers/clone-settings.js';
import { cloneGolds } from '../../fixtures/clone-golds.js';
import { ablations, longestList } from '../../fixtures/toy-policy.js';
import { tinySettings, toyFeaturizer } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const world = toyTwoHop();
const settings = cloneSettings.parse({ epochs: 4, batchSize: 2, warmupSteps: 2, learningRate: 0.02, maxCandidates: 4 });

let executor: Executor;
let inputs: WalkerInputs;
beforeAll(async () => {
  ({ executor } = await openExecutor('simd'));
  inputs = await inputsWith({});
});

async function inputsWith(changes: Partial<WalkerSettings>): Promise<WalkerInputs> {
  const { graph } = world;
  const walker = tinySettings({ width: 12, embeddingDim: 8, hidden: 8, ...changes });
  const featurizer = await toyFeaturizer(world, { edgeFeatures: walker.head === 'candidate' });
  const { vectors } = featurizer.parts;
  const trained = walker.entityInit === 'random-trainable';
  return {
    settings: walker,
    graph,
    featurizer,
    walks: { graph },
    tables: trained ? noTables : await frozenTables(graph, vectors, undefined, walker),
    maxActions: longestList(graph),
  };
}

function trained(inputs: WalkerInputs) {
  const policy = createPolicy(executor, inputs, 1);
  const optimizer = new AdamW(policy.head.parameters, { weightDecay: settings.weightDecay, maxGradNorm: 1 });
  const dispose = () => {
    optimizer.dispose();
    policy.head.dispose();
  };
  return { policy, optimizer, dispose };
}

const data = { train: world.samples, valid: world.samples, seed: 1 };

describe('behaviour cloning', () => {
  test.each([['candidate', {}], ['pa-mlp', { head: 'pa-mlp' }], ...Object.entries(ablations)] as const)(
    'learns the golds of a toy world, head %s: the beam ranks each first',
    async (_name, walker) => {
      const { policy, optimizer, dispose } = trained(await inputsWith(walker));
      const epochs: CloneEpoch[] = [];
      await cloneGolds({
        ...data,
        policy,
        optimizer,
        settings: { ...settings, epochs: 40, batchSize: 5, maxCandidates: 64 },
        onEpoch: (epoch) => void epochs.push(epoch),
      });
      expect(epochs.at(-1)!.validLoss).toBeLessThan(0.2 * epochs[0]!.validLoss);
      const tasks = world.samples.map(({ task }) => task);
      const rankings = await beamSearch(policy, tasks, 10, walkCollector(world.graph, { beamWidth: 10 }));
      expect(rankings.map(({ paths }) => paths[0]!.path)).toEqual(world.samples.map(({ gold }) => gold.path));
      dispose();
    },
  );

  test('counts steps and epochs, warms up and cools down', async () => {
    const { policy, optimizer, dispose } = trained(inputs);
    const steps: (CloneStep & { step: number })[] = [];
    const epochs: CloneEpoch[] = [];
    await cloneGolds({
      ...data,
      policy,
      optimizer,
      settings,
      onStep: (step) => void steps.push(step),
      onEpoch: (epoch) => void epochs.push(epoch),
    });
    expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(epochs.map(({ epoch, step }) => [epoch, step])).toEqual([1, 2, 3, 4].map((epoch) => [epoch, 3 * epoch]));
    const rates = steps.map(({ learningRate }) => learningRate);
    expect(rates.slice(0, 3)).toEqual([0.01, 0.02, 0.02]);
    rates.slice(3).forEach((rate, i) => expect(rate).toBeLessThan(rates[i + 2]!));
    dispose();
  });
});
