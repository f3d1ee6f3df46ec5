import { describe, expect, test } from '@jest/globals';
import type { Actor, TaskRequest } from '../../../trainers/actor.js';
import { relationActor, type RelationNetwork } from '../../../agents/relation-walker/network.js';
import { relationWalkerSettings } from '../../../agents/relation-walker/settings.js';
import { wordFacts, WordNetwork } from '../../../agents/relation-walker/word-network.js';
import { wordBasis } from '../../../agents/readers/words/inputs.js';
import { walkerActor } from '../../../agents/dialogue-walker/policy.js';
import { walkerSettings } from '../../../agents/dialogue-walker/settings.js';
import { makeVectorEnv } from '../../../envs/index.js';
import type { BatchedEnv } from '../../../envs/vector-env.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { adamOf } from '../../../trainers/ppo-phase.js';
import { ppo } from '../../fixtures/run-trainers.js';
import { wholeWalks } from '../../../trainers/rollout.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { often } from '../../fixtures/long-tests.js';
import { executorsHere } from '../../fixtures/executors.js';
import { filmGraph, filmQuestions } from '../../fixtures/toy-questions.js';
import { shake, toyRelationWalker } from '../../fixtures/toy-relation-walker.js';
import { ablations, toyWalker } from '../../fixtures/toy-policy.js';
import { randomize } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const rules = { horizon: 2, equalAtStep1: false };
const explorations = 6;
const graph = filmGraph();
const samples = filmQuestions(graph);

/** Largest |ratio − 1| before the first step of each update, of a policy that moves far in every update. */
async function deviations<Observation, Request extends TaskRequest>(
  actor: Actor<Observation, Request>,
  envs: BatchedEnv<Observation>,
  numSamples: number,
): Promise<number[]> {
  const settings = ppoSettings.parse({
    ...{ updates: often(2, 100), samplesPerUpdate: 4, minibatchSamples: 3, explorations, updateEpochs: 2 },
    ...{ learningRate: 0.05, warmupUpdates: 0, klCoef: 0, feasibilityCoef: 0.1, entropyCoef: 0.05 },
  });
  const optimizer = adamOf(actor.parameters, settings);
  const seen: number[] = [];
  const walkable = Int32Array.from({ length: numSamples }, (_, i) => i);
  const onUpdate = ({ metrics }: { metrics: Record<string, number> }) =>
    void seen.push(metrics['train/first_ratio_deviation']!);
  await ppo({ actor, optimizer, collect: wholeWalks(envs, walkable), settings, seed: 2, onUpdate });
  envs.close();
  optimizer.dispose();
  actor.dispose();
  return seen;
}

// Kernels of GPUs and of native TensorFlow round by the shape of a batch; the others do not.
const backends = await executorsHere(['tensorflow-gpu', 'tensorflow']);

test.each([
  ['the sentence', async () => (await toyRelationWalker()).networkOf(5)],
  ['words, with its dropout', wordNetwork],
])('the first minibatch of an update has ratios of 1 under the relation walker that reads %s', async (_, make) => {
  const network: RelationNetwork = await make();
  await shake(network);
  const envs = makeVectorEnv('kgwalk/RelationWalk-v1', { graph, samples }, 4 * explorations);
  expect(Math.max(...(await deviations(relationActor(network), envs, samples.length)))).toBe(0);
});

async function wordNetwork() {
  const settings = relationWalkerSettings.parse({ reads: 'words', wordDim: 6, wordWidth: 5, dropout: 0.3 });
  const facts = wordFacts(settings, hashedEncoder(12));
  return new WordNetwork(
    new SimdExecutor(),
    facts,
    { numRelations: graph.numRelations, horizon: 3 },
    await wordBasis(facts, samples),
    1,
  );
}

const heads = walkerSettings.shape.head.unwrap().options;

describe.each(backends)('the first minibatch of an update has ratios of 1 ± 1e-6 on %s', (backend) => {
  const published = { head: 'pa-mlp', placeVectors: false, stepEncoding: 'additive-sin', stateNorm: 'layer' } as const;
  test.each([
    ...heads.map((head) => [head, { head, inEdges: 1, recurrentUnits: 8 }] as const),
    ['published pa-mlp', published],
    ['bf16 pa-mlp', { ...published, precision: 'bf16' }],
    ...Object.entries(ablations),
  ] as const)('under the %s head', async (_, settings) => {
    const world = toyTwoHop();
    const toy = await toyWalker(world, rules, settings, backend);
    const policy = toy.policy(1);
    await randomize(policy.head.parameters, 3);
    policy.head.weightsChanged();
    const envs = makeVectorEnv('kgwalk/OpenDialKG-v1', { ...world, rules }, 4 * explorations);
    const seen = await deviations(walkerActor(policy), envs, world.samples.length);
    expect(toy.executor.name).toBe(backend);
    expect(Math.max(...seen)).toBeLessThanOrEqual(1e-6);
  });
});
