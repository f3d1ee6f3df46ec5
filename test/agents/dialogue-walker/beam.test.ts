/** The decoder that writes walks freely: what its beam ranks, and what cloning teaches it. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { actionLogProbs } from '../../../trainers/actor.js';
import { rankAllWalks, walkCollector } from '../../../agents/top-paths.js';
import { freeBeam } from '../../../agents/dialogue-walker/free-beam.js';
import { type WalkerInputs, createPolicy } from '../../../agents/dialogue-walker/inputs.js';
import type { StateBatch } from '../../../agents/dialogue-walker/heads/head.js';
import { type Policy, walkScorer, walkerActor } from '../../../agents/dialogue-walker/policy.js';
import { frozenTables } from '../../../agents/dialogue-walker/vectors.js';
import { beamSearch, walkLogProbs, walkerAgent } from '../../../agents/dialogue-walker/agent.js';
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { type WalkState, applyAction, initialState, numActions } from '../../../envs/dialogue-walk/rules.js';
import { type Path, type Triple, canonicalPath, pathKey } from '../../../src/kg/graph.js';
import { AdamW } from '../../../src/nn/adamw.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { cloneSettings } from '../../../trainers/clone-settings.js';
import { type CloneEpoch, clone } from '../../fixtures/run-trainers.js';
import { shownGolds } from '../../../agents/dialogue-walker/demonstrations.js';
import { longTest, often } from '../../fixtures/long-tests.js';
import { noisePolicy, taskAt } from '../../fixtures/noise-walker.js';
import { checkProperty } from '../../fixtures/property.js';
import { randomize, tinySettings, toyFeaturizer } from '../../fixtures/toy-walker.js';
import { graphOf, graphOfIds, toyTwoHop } from '../../fixtures/toy-walks.js';

const world = toyTwoHop();
const { graph, samples } = world;
const tasks = samples.map(({ task }) => task);
const everything = { beamWidth: 100_000 };

const executor = new SimdExecutor();
const sizes = { recurrentUnits: 12, embeddingDim: 8, width: 12 };
const network = tinySettings({ head: 'seq2path', decoder: 'free', dropout: 0, ...sizes });
const featurizer = await toyFeaturizer(world, { edgeFeatures: false });
const tables = await frozenTables(graph, featurizer.parts.vectors, undefined, network);
const inputs: WalkerInputs = { settings: network, graph, walks: { graph }, featurizer, tables };

async function randomPolicy(): Promise<Policy> {
  const policy = createPolicy(executor, inputs, 1);
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
    const policy = createPolicy(executor, inputs, 1);
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
  });
});

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const wide = 10_000;

interface Walk {
  path: Path;
  logProb: number;
}

/** Every complete walk of a task with its probability, by trying each action of each state. */
async function allWalks(policy: Policy, task: WalkTask): Promise<Walk[]> {
  const { graph, rules } = policy.featurizer.parts;
  const walks: Walk[] = [];
  const visit = async (state: WalkState, logProb: number) => {
    if (state.done) {
      if (state.path.length > 0) walks.push({ path: canonicalPath(state.path, graph.equalRelation), logProb });
      return;
    }
    const { logProbs } = await actionLogProbs(walkerActor(policy), [{ task, state }]);
    for (let action = 0; action < numActions(graph, state, rules); action++) {
      await visit(applyAction(graph, state, action, rules), logProb + logProbs[action]!);
    }
  };
  await visit(initialState(graph, task.start, rules), 0);
  return walks.sort((one, other) => other.logProb - one.logProb);
}

const randomGraph = fc
  .array(fc.tuple(fc.nat(5), fc.nat(2), fc.nat(5)), { minLength: 1, maxLength: 14 })
  .map((triples) => graphOfIds(names, ['r', 's', 't'], triples));
const randomRules = fc.record({ horizon: fc.integer({ min: 1, max: 3 }), equalAtStep1: fc.boolean() });

describe('beam search', () => {
  test('B-ARK-10: with a wide beam is exhaustive enumeration: same walks, same probabilities, which sum to one', async () => {
    await checkProperty(
      fc.asyncProperty(randomGraph, randomRules, async (graph, rules) => {
        const tasks = names.map((_, start) => taskAt(graph, start));
        const policy = await noisePolicy(graph, tasks, rules);
        const rankings = await beamSearch(policy, tasks, wide, walkCollector(graph, { beamWidth: wide }));
        for (const [i, task] of tasks.entries()) {
          const expected = await allWalks(policy, task);
          const { paths, answers, confidence } = rankings[i]!;
          const byKey = (walks: readonly Walk[]) =>
            new Map(walks.map(({ path, logProb }) => [pathKey(path), logProb] as const));
          expect(paths).toHaveLength(expected.length);
          const found = byKey(paths);
          expect(found.size).toBe(paths.length);
          for (const [key, logProb] of byKey(expected)) expect(found.get(key)).toBeCloseTo(logProb, 4);
          paths.slice(1).forEach(({ logProb }, k) => expect(logProb).toBeLessThanOrEqual(paths[k]!.logProb + 1e-6));
          if (expected.length === 0) continue;

          expect(paths.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 4);
          const massOf = new Map<number, number>();
          for (const { path, logProb } of expected) {
            const end = path.at(-1)?.[2] ?? task.start;
            massOf.set(end, (massOf.get(end) ?? 0) + Math.exp(logProb));
          }
          expect(answers).toHaveLength(massOf.size);
          for (const { entity, summedLogProb } of answers) {
            expect(Math.exp(summedLogProb)).toBeCloseTo(massOf.get(entity)!, 4);
          }
          expect(confidence).toBeCloseTo(massOf.get(answers[0]!.entity)!, 4);
        }
      }),
      { numRuns: 25 },
    );
  });

  test('of two hops and width k finds the best walks of the k best first hops', async () => {
    await checkProperty(
      fc.asyncProperty(randomGraph, fc.integer({ min: 1, max: 4 }), async (graph, width) => {
        const rules = { horizon: 2, equalAtStep1: false };
        const task = taskAt(graph, 0);
        const policy = await noisePolicy(graph, [task], rules);
        const [ranking] = await beamSearch(policy, [task], width, walkCollector(graph, { beamWidth: wide }));
        const start = initialState(graph, 0, rules);
        const firsts = start.done
          ? []
          : [...(await actionLogProbs(walkerActor(policy), [{ task, state: start }])).logProbs.entries()];
        const kept = firsts
          .sort(([, one], [, other]) => other - one)
          .slice(0, width)
          .map(([action]) => graph.offsets[0]! + action);
        const expected = (await allWalks(policy, task)).filter(({ path }) =>
          kept.includes(graph.edgeIndex(...path[0]!)),
        );
        expect(new Set(ranking!.paths.map(({ path }) => pathKey(path)))).toEqual(
          new Set(expected.map(({ path }) => pathKey(path))),
        );
      }),
      { numRuns: 25 },
    );
  });

  test('ranks the ends of all walks that it scores, and not of those alone that it writes, as baselines do', async () => {
    // The two best walks end in d, by parallel edges; e is the end of the third.
    const graph = graphOfIds(names, ['r', 's'], [[0, 0, 1], [1, 0, 3], [1, 1, 3], [1, 0, 4]]); // prettier-ignore
    const task = taskAt(graph, 0);
    const head = {
      infer: ({ tails }: StateBatch) => Promise.resolve(Float32Array.from(tails, (tail) => [0, 0, 0, 8, 4][tail]!)),
    };
    const policy = await noisePolicy(graph, [task], { horizon: 2, equalAtStep1: false }, head as Policy['head']);
    const collector = walkCollector(graph, { beamWidth: 2 });
    const scores = { oneHop: () => -9, twoHops: () => (edge: number) => -graph.tails[edge]! };
    for (const { paths, answers } of [
      ...(await beamSearch(policy, [task], 2, collector)),
      rankAllWalks(graph, task, scores, collector),
    ]) {
      expect(paths.map(({ path }) => path.at(-1)![2])).toEqual([3, 3]);
      expect(answers.slice(0, 2).map(({ entity }) => entity)).toEqual([3, 4]);
    }
  });

  test('ranks tasks the same together and one by one', async () => {
    const graph = graphOf('small', [
      ['a', 'r', 'b'],
      ['a', 's', 'c'],
      ['b', 'r', 'a'],
      ['b', 'r', 'c'],
      ['c', 's', 'a'],
    ]);
    const tasks = [0, 1, 2, 0].map((start, i) => taskAt(graph, start, `task-${i}`));
    const policy = await noisePolicy(graph, tasks, { horizon: 2, equalAtStep1: false });
    const collector = walkCollector(graph, { beamWidth: 5 });
    const together = await beamSearch(policy, tasks, 5, collector);
    const alone = [];
    for (const task of tasks) alone.push(...(await beamSearch(policy, [task], 5, collector)));
    expect(together).toEqual(alone);
  });

  test('ranks by a bonus for two hops that reaches all of those walks and no other', async () => {
    const graph = graphOf('chain', [
      ['a', 'r', 'b'],
      ['a', 's', 'c'],
      ['b', 'r', 'c'],
      ['b', 's', 'a'],
    ]);
    const tasks = [taskAt(graph, 0)];
    const policy = await noisePolicy(graph, tasks, { horizon: 2, equalAtStep1: false });
    const hopsWith = async (twoHopBonus: number) =>
      (await beamSearch(policy, tasks, wide, walkCollector(graph, { beamWidth: wide, twoHopBonus })))[0]!.paths.map(
        ({ path }) => path.length,
      );
    expect(await hopsWith(50)).toEqual([2, 2, 1, 1]);
    expect(await hopsWith(-50)).toEqual([1, 1, 2, 2]);
  });

  test('gives nothing for a start without edges or not in the graph', async () => {
    const graph = graphOf('lonely', [['a', 'r', 'b']]);
    const tasks = [taskAt(graph, graph.entityId('b')), taskAt(graph, -1), taskAt(graph, 0)];
    const policy = await noisePolicy(graph, tasks, { horizon: 2, equalAtStep1: false });
    const [lonely, unknown, known] = await beamSearch(policy, tasks, 5, walkCollector(graph, { beamWidth: 5 }));
    expect(lonely).toEqual({ paths: [], answers: [], confidence: 0 });
    expect(unknown).toEqual({ paths: [], answers: [], confidence: 0 });
    expect(known!.paths).toHaveLength(1);
  });

  test('stays at such a start where staying is legal at once', async () => {
    const graph = graphOf('lonely', [['a', 'r', 'b']]);
    const tasks = [taskAt(graph, graph.entityId('b')), taskAt(graph, -1)];
    const policy = await noisePolicy(graph, tasks, { horizon: 2, equalAtStep1: true });
    const rankings = await beamSearch(policy, tasks, 5, walkCollector(graph, { beamWidth: 5 }));
    for (const { paths } of rankings) expect(paths).toEqual([{ path: [], logProb: 0 }]);
  });
});

const edgeLists = fc.uniqueArray(
  fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('r', 's'), fc.constantFrom('a', 'b', 'c', 'd')),
  { minLength: 1, maxLength: 14, selector: String },
);

describe('the probability of a walk that a policy is given', () => {
  test('is the one that its beam ranks the walk by, and those of all legal walks sum to 1', async () => {
    await checkProperty(
      fc.asyncProperty(edgeLists, randomRules, async (edges, rules) => {
        const graph = graphOf('any', edges);
        const tasks = Array.from({ length: graph.numEntities }, (_, entity) => taskAt(graph, entity));
        const policy = await noisePolicy(graph, tasks, rules);
        const agent = walkerAgent(policy, { name: 'toy', beamWidth: 5000 });
        const answers = await agent.answer(tasks);
        const given = tasks.map((task, i) => ({ task, paths: answers[i]!.paths.map(({ path }) => path) }));
        const found = await agent.logProbs!(given);
        answers.forEach(({ paths }, i) => {
          paths.forEach(({ logProb }, index) => expect(found[i]![index]).toBeCloseTo(logProb, 4));
          const mass = found[i]!.reduce((sum, logProb) => sum + Math.exp(logProb), 0);
          expect(mass).toBeCloseTo(paths.length > 0 ? 1 : 0, 4);
        });
      }),
      { numRuns: 40 },
    );
  });

  test('is no number for a walk that the rules or the graph do not let it take', async () => {
    const graph = graphOf('chain', [
      ['a', 'r', 'b'],
      ['b', 'r', 'c'],
      ['c', 'r', 'd'],
    ]);
    const step = (head: string, tail: string): Triple => [graph.entityId(head), 0, graph.entityId(tail)];
    const task = taskAt(graph, graph.entityId('a'));
    const lonely = taskAt(graph, graph.entityId('d'));
    const policy = await noisePolicy(graph, [task, lonely], { horizon: 2, equalAtStep1: false });
    const paths = [[], [step('a', 'c')], [step('a', 'b'), step('b', 'c'), step('c', 'd')], [step('b', 'c')]];
    const [illegal, none] = await walkLogProbs(policy, [
      { task, paths },
      { task: lonely, paths: [[step('d', 'a')]] },
    ]);
    expect(illegal).toEqual([NaN, NaN, NaN, NaN]);
    expect(none).toEqual([NaN]);
  });

  test('does not depend on other walks of the request', async () => {
    const { graph, samples } = toyTwoHop();
    const tasks = samples.map(({ task }) => task);
    const policy = await noisePolicy(graph, tasks, { horizon: 2, equalAtStep1: false });
    const given = samples.map(({ task, gold }) => ({ task, paths: [gold.path] }));
    const alone = await Promise.all(given.map(async (one) => (await walkLogProbs(policy, [one]))[0]));
    const many = Array.from({ length: 600 }, (_, i) => given[i % given.length]!);
    expect(await walkLogProbs(policy, many)).toEqual(many.map((_, i) => alone[i % alone.length]));
  });
});
