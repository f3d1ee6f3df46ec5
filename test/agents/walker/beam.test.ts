import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noisePolicy, taskAt } from '../../fixtures/noise-walker.js';
import { graphOf, graphOfIds, toyTwoHop } from '../../fixtures/toy-walks.js';
import { walkCollector } from '../../../agents/top-paths.js';
import { beamSearch, walkerAgent, walkLogProbs } from '../../../agents/walker/walker-agent.js';
import { actionLogProbs } from '../../../agents/actor.js';
import { type Policy, walkerActor } from '../../../agents/walker/policy.js';
import { applyAction, initialState, numActions, type WalkState } from '../../../envs/dialogue-walk/rules.js';
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { canonicalPath, type Path, pathKey, type Triple } from '../../../src/kg/graph.js';
import { checkProperty } from '../../fixtures/property.js';

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
