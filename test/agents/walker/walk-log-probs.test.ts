import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { walkLogProbs } from '../../../agents/walker/walker-agent.js';
import { walkerAgent } from '../../../agents/walker/walker-agent.js';
import type { StateBatch } from '../../../agents/walker/heads/head.js';
import type { Policy } from '../../../agents/walker/policy.js';
import type { WalkTask } from '../../../datasets/walk-sample.js';
import type { WalkRules } from '../../../envs/dialogue-walk/rules.js';
import type { Graph, Triple } from '../../../src/kg/graph.js';
import { subSeed } from '../../../src/run/seeds.js';
import { toyFeaturizer } from '../../fixtures/toy-walker.js';
import { graphOf, toyTwoHop } from '../../fixtures/toy-walks.js';

/** Logits that hang on the state and the action alone, and look like noise. */
const head = {
  infer: async ({ start, current, stateOf, relations, tails }: StateBatch) =>
    Float32Array.from(tails, (tail, i) => {
      const s = stateOf[i]!;
      return subSeed(0, 'logit', start[s]!, current[s]!, relations[i]!, tail) / 2 ** 30;
    }),
} as Policy['head'];

async function policyOver(graph: Graph, tasks: readonly WalkTask[], rules: WalkRules): Promise<Policy> {
  const samples = tasks.map((task) => ({ task, gold: { path: [], target: -1, inGraph: false } }));
  return { head, featurizer: await toyFeaturizer({ graph, samples }, { rules, edgeFeatures: false }) };
}

const taskAt = (graph: Graph, start: number): WalkTask => ({
  ...{ id: `from-${start}`, dialogueId: `from-${start}`, messages: [], sender: 'assistant', start },
  ...{ startName: graph.entityNames[start] ?? 'nowhere', earlierPaths: [] },
});

const names = ['a', 'b', 'c', 'd'];
const triples = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...names), fc.constantFrom('r', 's'), fc.constantFrom(...names)),
  { minLength: 1, maxLength: 14, selector: String },
);
const anyRules = fc.record({
  horizon: fc.integer({ min: 1, max: 3 }),
  equalAtStep1: fc.boolean(),
});

describe('the probability of a walk that a policy is given', () => {
  test('is the one that its beam ranks the walk by, and those of all legal walks sum to 1', async () => {
    await fc.assert(
      fc.asyncProperty(triples, anyRules, async (edges, rules) => {
        const graph = graphOf('any', edges);
        const tasks = Array.from({ length: graph.numEntities }, (_, entity) => taskAt(graph, entity));
        const policy = await policyOver(graph, tasks, rules);
        const agent = walkerAgent(policy, { name: 'toy', beamWidth: 5000 });
        const answers = await agent.answer(tasks);
        const given = tasks.map((task, i) => ({ task, paths: answers[i]!.paths.map(({ path }) => path) }));
        const found = await agent.logProbs!(given);
        answers.forEach(({ paths }, i) => {
          paths.forEach(({ logProb }, place) => expect(found[i]![place]).toBeCloseTo(logProb, 4));
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
    const policy = await policyOver(graph, [task, lonely], { horizon: 2, equalAtStep1: false });
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
    const policy = await policyOver(graph, tasks, { horizon: 2, equalAtStep1: false });
    const given = samples.map(({ task, gold }) => ({ task, paths: [gold.path] }));
    const alone = await Promise.all(given.map(async (one) => (await walkLogProbs(policy, [one]))[0]));
    const many = Array.from({ length: 600 }, (_, i) => given[i % given.length]!);
    expect(await walkLogProbs(policy, many)).toEqual(many.map((_, i) => alone[i % alone.length]));
  });
});
