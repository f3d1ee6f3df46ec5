import { describe, expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../agents/actor.js';
import type { StateBatch } from '../../../agents/walker/heads/head.js';
import { type Policy, walkerActor } from '../../../agents/walker/policy.js';
import { defaultWalkRules, initialState } from '../../../envs/dialogue-walk/rules.js';
import { reachableStates, toyFeaturizer } from '../../fixtures/toy-walker.js';
import { Graph } from '../../../src/kg/graph.js';
import { sampleOf, toyTwoHop } from '../../fixtures/toy-walks.js';

/** Scores actions by their tail and counts the actions of each call. */
function countingHead() {
  const calls: number[] = [];
  const infer = async (batch: StateBatch) => {
    calls.push(batch.tails.length);
    return Float32Array.from(batch.tails, (tail) => Math.sin(tail));
  };
  return { calls, head: { infer } as Policy['head'] };
}

/** A graph whose entity 0 has `degree` edges, by many relations to a hundred tails, and whose entity 1 has one. */
function hubGraph(degree: number): Graph {
  const names = Array.from({ length: 100 }, (_, i) => `entity-${i}`);
  const relations = Array.from({ length: degree / 100 }, (_, i) => `r-${i}`);
  return new Graph('hub', names, relations, {
    heads: Int32Array.from({ length: degree + 1 }, (_, i) => Number(i === degree)),
    relations: Int32Array.from({ length: degree + 1 }, (_, i) => Math.floor(i / 100) % relations.length),
    tails: Int32Array.from({ length: degree + 1 }, (_, i) => i % 100),
  });
}

async function requestsAt(graph: Graph, starts: readonly number[]) {
  const edges = [0, 1].map((head) => [`entity-${head}`, 'r-0', 'entity-0'] as const);
  const samples = edges.map((edge) => sampleOf(graph, edge[0], 'hello', edge[0], [edge]));
  const featurizer = await toyFeaturizer({ graph, samples }, { edgeFeatures: false });
  const requests = starts.map((start) => ({
    task: samples[start]!.task,
    state: initialState(graph, start, defaultWalkRules),
  }));
  return { featurizer, requests };
}

describe('log-probabilities of many states', () => {
  test('are those of each state by itself, however they are cut into chunks', async () => {
    const { featurizer, requests } = await requestsAt(hubGraph(7000), [0, 1, 0, 1, 0, 0, 0]);
    const { calls, head } = countingHead();
    const { logProbs, offsets } = await actionLogProbs(walkerActor({ head, featurizer }), requests);
    // At most 16,384 actions a call: two hubs, with the small states between.
    expect(calls).toEqual([14_002, 14_000, 7000]);
    expect([...offsets]).toEqual([0, 7000, 7001, 14_001, 14_002, 21_002, 28_002, 35_002]);
    for (const [i, request] of requests.entries()) {
      const alone = (await actionLogProbs(walkerActor({ head, featurizer }), [request])).logProbs;
      expect(logProbs.subarray(offsets[i], offsets[i + 1]).every((value, k) => value === alone[k])).toBe(true);
    }
    expect(logProbs[7000]).toBe(0);
  });

  test('of a hub larger than a chunk are all there', async () => {
    const { featurizer, requests } = await requestsAt(hubGraph(17_000), [0, 0]);
    const { calls, head } = countingHead();
    expect((await actionLogProbs(walkerActor({ head, featurizer }), requests)).logProbs).toHaveLength(34_000);
    expect(calls).toEqual([17_000, 17_000]);
  });

  test('of chosen actions are renormalised over those', async () => {
    const world = toyTwoHop();
    const featurizer = await toyFeaturizer(world);
    const [request] = reachableStates(world);
    const { head } = countingHead();
    const { logProbs } = await actionLogProbs(walkerActor({ head, featurizer }), [
      { ...request!, actions: Int32Array.of(1, 3) },
    ]);
    expect(Math.exp(logProbs[0]!) + Math.exp(logProbs[1]!)).toBeCloseTo(1, 6);
  });

  test('of no states are none', async () => {
    const featurizer = await toyFeaturizer(toyTwoHop());
    const { logProbs, offsets } = await actionLogProbs(walkerActor({ head: countingHead().head, featurizer }), []);
    expect([logProbs.length, ...offsets]).toEqual([0, 0]);
  });
});
