/** The decoder that writes walks freely: what its beam ranks, and what cloning teaches it. */
import { describe, expect, test } from '@jest/globals';
import { freeBeam } from '../../../agents/walker/free-beam.js';
import { createPolicy, type WalkerInputs } from '../../../agents/walker/inputs.js';
import { type Policy, walkerActor, walkScorer } from '../../../agents/walker/policy.js';
import { frozenTables } from '../../../agents/walker/vectors.js';
import { walkerAgent, walkLogProbs } from '../../../agents/walker/walker-agent.js';
import { initialState } from '../../../envs/dialogue-walk/rules.js';
import type { Path } from '../../../src/kg/graph.js';
import { AdamW } from '../../../src/tensor/adamw.js';
import { openBackend } from '../../../src/tensor/backend.js';
import { clone, type CloneEpoch } from '../../../trainers/clone.js';
import { cloneSettings } from '../../../trainers/clone-settings.js';
import { shownGolds } from '../../../trainers/demonstrations.js';
import { longTest, often } from '../../fixtures/long-tests.js';
import { randomize, tinySettings, toyFeaturizer } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const world = toyTwoHop();
const { graph, samples } = world;
const tasks = samples.map(({ task }) => task);
const everything = { beamWidth: 100_000 };

const { tf } = await openBackend('wasm');
const sizes = { recurrentUnits: 12, embeddingDim: 8, width: 12 };
const network = tinySettings({ head: 'seq2path', decoder: 'free', dropout: 0, ...sizes });
const featurizer = await toyFeaturizer(world, { edgeFeatures: false });
const tables = await frozenTables(tf, graph, featurizer.parts.vectors, undefined, network);
const inputs: WalkerInputs = { settings: network, graph, walks: { graph }, featurizer, tables };

async function randomPolicy(): Promise<Policy> {
  const policy = createPolicy(tf, inputs, 1);
  await randomize(policy.head.parameters, 3);
  return policy;
}

function scorerOf(policy: Policy) {
  const scorer = walkScorer(policy);
  return { ...scorer, writer: scorer.writer! };
}

const inGraph = (path: Path) => graph.holds(path);

describe('the free beam', () => {
  test('ranks every walk that can be written, their probabilities sum to 1, and a bonus lifts longer ones without a change of them', async () => {
    const policy = await randomPolicy();
    const [task] = tasks as [(typeof tasks)[0]];
    const [ranking] = await freeBeam(scorerOf(policy), [task], everything);
    const { paths } = ranking!;
    const { numEntities, numRelations } = graph;
    const steps = numRelations * numEntities;
    expect(paths).toHaveLength(steps + steps ** 2);
    expect(new Set(paths.map(({ path }) => String(path))).size).toBe(paths.length);
    const mass = paths.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
    // Staying at the first step is no walk.
    const state = initialState(graph, task.start, inputs.featurizer.parts.rules);
    const batch = inputs.featurizer.batch([{ task, state, actions: new Int32Array(0) }]);
    const stays = (await policy.head.writer!.relations(batch))[numRelations]!;
    expect(mass).toBeCloseTo(1 - Math.exp(stays), 4);
    expect(paths.map(({ logProb }) => logProb)).toEqual(paths.map(({ logProb }) => logProb).sort((a, b) => b - a));
    expect(paths.some(({ path }) => inGraph(path))).toBe(true);
    expect(paths.some(({ path }) => !inGraph(path))).toBe(true);
    const [lifted] = await freeBeam(scorerOf(policy), [task], { ...everything, twoHopBonus: 50 });
    const longer = paths.filter(({ path }) => path.length === 2);
    expect(lifted!.paths.slice(0, longer.length)).toEqual(longer);
    policy.head.dispose();
  });

  test('gives walks of the graph the probability that they have when they are given', async () => {
    const policy = await randomPolicy();
    const some = tasks.slice(0, often(2, tasks.length));
    const rankings = await freeBeam(scorerOf(policy), some, everything);
    const given = some.map((task, i) => ({ task, paths: rankings[i]!.paths.filter(({ path }) => inGraph(path)) }));
    const found = await walkLogProbs(
      policy,
      given.map(({ task, paths }) => ({ task, paths: paths.map(({ path }) => path) })),
    );
    given.forEach(({ paths }, i) => {
      expect(paths.length).toBeGreaterThan(1);
      paths.forEach(({ logProb }, index) => expect(found[i]![index]).toBeCloseTo(logProb, 4));
    });
    policy.head.dispose();
  });

  test('keeps the best at each token, ends by their best and summed walks, independently of the batch', async () => {
    const policy = await randomPolicy();
    const scorer = scorerOf(policy);
    const together = await freeBeam(scorer, tasks, { beamWidth: 6 });
    for (const [i, task] of tasks.entries()) {
      const [alone] = await freeBeam(scorer, [task], { beamWidth: 6 });
      expect(alone!.paths.map(({ path }) => path)).toEqual(together[i]!.paths.map(({ path }) => path));
      const { paths, answers, confidence } = together[i]!;
      expect(paths).toHaveLength(6);
      expect(answers[0]!.entity).toBe(paths[0]!.path.at(-1)![2]);
      expect(answers[0]!.summedLogProb).toBeGreaterThanOrEqual(answers[0]!.logProb);
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThanOrEqual(1);
    }
    const lost = { ...tasks[0]!, start: -1, startName: 'nowhere' };
    expect((await freeBeam(scorer, [lost], { beamWidth: 6 }))[0]!.paths).toEqual([]);
    policy.head.dispose();
  });
});

describe('cloning of what writes freely', () => {
  const settings = cloneSettings.parse({ epochs: 120, batchSize: 5, warmupSteps: 2, learningRate: 0.02 });
  const shown = () =>
    shownGolds(inputs.featurizer.parts, { train: samples, valid: samples }, { ...settings, goldOnly: true }, 1);

  longTest('lowers the loss over all relations and entities, until the golds come first', async () => {
    const before = tf.memory().numTensors;
    const policy = createPolicy(tf, inputs, 1);
    const optimizer = new AdamW(policy.head.parameters, { weightDecay: 0, maxGradNorm: 1 });
    const epochs: CloneEpoch[] = [];
    const losses: number[] = [];
    await clone({
      ...{ settings, seed: 1, actor: walkerActor(policy), optimizer, ...shown() },
      onStep: ({ loss }) => void losses.push(loss),
      onEpoch: (epoch) => void epochs.push(epoch),
    });
    // At first everything is about as likely: two relations of R + 1, and an entity or two of E.
    const { numEntities, numRelations } = graph;
    expect(losses[0]).toBeGreaterThan(Math.log(numEntities));
    expect(losses[0]).toBeLessThan(2 * Math.log(numEntities) + 2 * Math.log(numRelations + 1) + 1);
    expect(epochs.at(-1)!.validLoss).toBeLessThan(0.2 * epochs[0]!.validLoss);
    const agent = walkerAgent(policy, { name: 'toy', beamWidth: 10 });
    const answers = await agent.answer(tasks);
    expect(answers.map(({ paths }) => paths[0]!.path)).toEqual(samples.map(({ gold }) => gold.path));
    const given = samples.map(({ task, gold }) => ({ task, paths: [gold.path] }));
    const nll = (await agent.logProbs!(given)).reduce((sum, [logProb]) => sum - logProb!, 0) / samples.length;
    expect(nll).toBeCloseTo(epochs.at(-1)!.validLoss, 4);
    optimizer.dispose();
    policy.head.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
