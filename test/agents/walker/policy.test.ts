import { describe, expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../agents/actor.js';
import type { StateBatch } from '../../../agents/walker/heads/head.js';
import { type Policy, StateReader, walkerActor } from '../../../agents/walker/policy.js';
import { defaultWalkRules, initialState } from '../../../envs/dialogue-walk/rules.js';
import { laterSample, reachableStates, toyFeaturizer } from '../../fixtures/toy-walker.js';
import type { Graph } from '../../../src/kg/graph.js';
import { graphOf, graphOfIds, sampleOf, toyTwoHop } from '../../fixtures/toy-walks.js';
import type { StateRequest } from '../../../agents/walker/features/featurizer.js';
import { stateTextSettings } from '../../../envs/settings.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';

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
  const relations = Array.from({ length: degree / 100 }, (_, i) => `r-${i}`);
  const edge = (i: number) => [Number(i === degree), Math.floor(i / 100) % relations.length, i % 100];
  return graphOfIds(
    100,
    relations,
    Array.from({ length: degree + 1 }, (_, i) => edge(i)),
  );
}

async function requestsAt(graph: Graph, starts: readonly number[]) {
  const edges = [0, 1].map((head) => [`e${head}`, 'r-0', 'e0'] as const);
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

const films = graphOf('films', [
  ['heat', 'directed_by', 'mann'],
  ['heat', 'genre', 'crime'],
  ['mann', '~directed_by', 'heat'],
  ['mann', '~directed_by', 'ali'],
]);
const filmSamples = ['what else', 'who made it'].map((text, i) =>
  laterSample(films, `d${i}`, `d${i}`, ['I like heat a lot', 'so do I', text], [], [['heat', 'directed_by', 'mann']]),
);
const statesOf = (): StateRequest[] => reachableStates({ graph: films, samples: filmSamples });
const settings = (changes = {}) => stateTextSettings.parse({ encode: 'per-step', ...changes });

describe('a reader of states', () => {
  test('gives each state the vector of its text', async () => {
    const reader = new StateReader(hashedEncoder(32), films, settings());
    const states = statesOf();
    await reader.read(states);
    const texts = await reader.texts(states);
    const { matrix, rows } = await hashedEncoder(32).encode(texts);
    states.forEach(({ vector }, i) => {
      expect([...vector!]).toEqual([...matrix.subarray(32 * rows[i]!, 32 * rows[i]! + 32)]);
    });
    expect(new Set(texts).size).toBe(states.length);
  });

  test('B-ARK-17: encodes distinct states once, and nothing that has its vector', async () => {
    const encoder = hashedEncoder(32);
    const reader = new StateReader(encoder, films, settings());
    const [first] = statesOf();
    const copies = Array.from({ length: 8 }, () => ({ ...first! }));
    await reader.read(copies);
    expect(encoder.counters).toMatchObject({ encodes: 1, requests: 8 });
    await reader.read(copies);
    expect(encoder.counters).toMatchObject({ encodes: 1, requests: 8 });
  });

  test('trims every state of a task alike, by the encoder’s own tokens', async () => {
    const reader = new StateReader(hashedEncoder(32), films, settings({ maxTokens: 80, walkTokens: 20 }));
    const texts = await reader.texts(statesOf());
    for (const text of texts) {
      expect(text).not.toContain('I like heat a lot');
      expect(text).toMatch(/what else|who made it/);
    }
    const whole = await new StateReader(hashedEncoder(32), films, settings()).texts(statesOf());
    for (const text of whole) expect(text).toContain('I like heat a lot');
  });

  test('ends once it is stopped', async () => {
    const reader = new StateReader(hashedEncoder(32), films, settings(), AbortSignal.abort());
    await expect(reader.read(statesOf())).rejects.toMatchObject({ code: 'stopped' });
  });
});
