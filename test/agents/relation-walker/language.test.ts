/** A language model as the network of a relation walker. */
import { describe, expect, test } from '@jest/globals';
import { choicesOf } from '../../../agents/relation-walker/language/choices.js';
import { openWalkModel } from '../../../agents/relation-walker/language/walk-model.js';
import { relationActor, relationReader, type RelationRequest } from '../../../agents/relation-walker/network.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { actionLogProbs } from '../../../trainers/actor.js';
import { llamaCppLogits } from '../../fixtures/llama-cpp-logits.js';
import { shake } from '../../fixtures/toy-relation-walker.js';
import { walkingLlama } from '../../fixtures/walking-llama.js';

describe('choices', () => {
  const of = (texts: number[][], actions = [...texts.keys()]) => choicesOf(actions, (action) => texts[action]!, 99);

  test('part at the first token that differs, and nothing is chosen where one is left', () => {
    expect(
      of([
        [1, 5],
        [1, 6, 7],
        [2, 3, 4],
      ]).branchings,
    ).toEqual([
      {
        before: [],
        edges: [
          { token: 1, actions: [0, 1] },
          { token: 2, actions: [2] },
        ],
      },
      {
        before: [1],
        edges: [
          { token: 5, actions: [0] },
          { token: 6, actions: [1] },
        ],
      },
    ]);
    expect(
      of(
        [
          [1, 5],
          [1, 6, 7],
          [2, 3, 4],
        ],
        [1],
      ),
    ).toEqual({ branchings: [], alike: new Map() });
  });

  test('a text that begins another one ends in a token of its own', () => {
    expect(of([[1], [1, 6]]).branchings).toEqual([
      {
        before: [1],
        edges: [
          { token: 99, actions: [0] },
          { token: 6, actions: [1] },
        ],
      },
    ]);
  });

  test('equal texts share what theirs has', () => {
    const { branchings, alike } = of([[1, 2], [1, 2], [3]]);
    expect(branchings).toEqual([
      {
        before: [],
        edges: [
          { token: 1, actions: [0, 1] },
          { token: 3, actions: [2] },
        ],
      },
    ]);
    expect([...alike]).toEqual([
      [0, 2],
      [1, 2],
    ]);
  });
});

describe('the relation walker that is a language model', () => {
  const opened = walkingLlama();

  async function requestsOf(): Promise<RelationRequest[]> {
    const { graph, samples, network } = await opened;
    const stop = graph.numRelations;
    const all = (begin: number) => Uint8Array.from({ length: stop + 1 }, (_, action) => Number(action >= begin));
    const requests = [
      { task: samples[0]!.task, relations: Int32Array.of(), mask: all(0).fill(0, stop) },
      { task: samples[3]!.task, relations: Int32Array.of(2), mask: all(0) },
      { task: samples[3]!.task, relations: Int32Array.of(2), mask: all(3) },
      { task: samples[0]!.task, relations: Int32Array.of(2, 5), mask: all(stop) },
    ];
    await network.prepare(requests);
    return requests;
  }

  test('gives probabilities of legal actions, the same in any batch, recorded or not', async () => {
    const { network, graph } = await opened;
    const size = graph.numRelations + 1;
    const requests = await requestsOf();
    const scores = await network.scores(requests);
    requests.forEach(({ mask }, i) => {
      const sum = mask.reduce((all, legal, action) => all + legal * Math.exp(scores[i * size + action]!), 0);
      expect(sum).toBeCloseTo(1, 6);
    });
    expect(await network.recorded(requests).read()).toEqual(scores);
    for (const [i, request] of requests.entries()) {
      expect(await network.scores([request])).toEqual(scores.slice(i * size, (i + 1) * size));
    }
    const { task, relations, mask } = requests[2]!;
    const reader = await relationReader(network).of(task);
    expect(await reader(relations, mask)).toEqual(scores.slice(2 * size, 3 * size));
    const { logProbs } = await actionLogProbs(relationActor(network), [requests[1]!]);
    logProbs.forEach((logProb, action) => expect(logProb).toBeCloseTo(scores[size + action]!, 5));
  });

  test('both directions of a relation have the same words, and half of their probability each', async () => {
    const { network, graph } = await opened;
    const scores = await network.scores(await requestsOf());
    graph.inverseOf.forEach((inverse, relation) => expect(scores[relation]).toBe(scores[inverse]));
  });

  test('is the choice of llama.cpp among the tokens that lead to a legal action', async () => {
    const { network, model, path, graph } = await opened;
    const [, request] = await requestsOf();
    const { prompts } = model;
    const body = prompts.bodyOf(request!);
    expect(body).toMatch(/\? = \w+$/);
    const { branchings } = prompts.choicesOf(request!);
    const expected = new Float64Array(graph.numRelations + 1);
    for (const { before, edges } of branchings) {
      const ids = Int32Array.from([...prompts.head, ...prompts.tokensOf(body), ...before]);
      const [logits] = await llamaCppLogits(path, ids, Int32Array.of(ids.length - 1), { contextSize: 1024 });
      const sum = edges.reduce((all, { token }) => all + Math.exp(logits![token]!), 0);
      for (const { token, actions } of edges) {
        for (const action of actions) expected[action]! += logits![token]! - Math.log(sum);
      }
    }
    const { alike } = prompts.choicesOf(request!);
    const scores = await network.scores([request!]);
    expect(Math.max(...expected) - Math.min(...expected)).toBeGreaterThan(0.5);
    expected.forEach((logProb, action) => {
      // It rounds states to eight bits before it multiplies them with these weights.
      expect(Math.abs(scores[action]! - (logProb - Math.log(alike.get(action) ?? 1)))).toBeLessThan(0.05);
    });
  });

  test('begins as the model is, whatever the seed, and forgets what other weights said', async () => {
    const { networkOf } = await opened;
    const requests = await requestsOf();
    const [one, two] = [networkOf(3), networkOf(4)];
    const before = await one.scores(requests);
    expect(await two.scores(requests)).toEqual(before);
    await shake(one);
    const after = await one.scores(requests);
    expect(after).not.toEqual(before);
    two.parameters.import(await one.parameters.export());
    expect(await two.scores(requests)).toEqual(after);
    expect(await one.recorded(requests).read()).toEqual(after);
  });

  test('without solved questions before the question, other states follow', async () => {
    const { model } = await walkingLlama({ examples: false });
    const [request] = await requestsOf();
    expect(model.prompts.bodyOf(request!)).toBe('who directed it? =');
    expect(model.prompts.head.length).toBeLessThan((await opened).model.prompts.head.length);
  });

  test.each<[string | undefined, number, RegExp]>([
    ['hashed:32', 1, /expected encoder.model=MODEL.gguf with relationWalker.reads=model, got hashed:32/],
    [undefined, 1, /got none/],
    ['demo', 9, /expected at most 4 layers, as .*kgwalk-demo.gguf has, got relationWalker.model.layers=9/],
  ])('refuses %s with %d layers', async (place, layers, message) => {
    const model = { layers, rank: 2, alpha: 4, examples: true };
    await expect(openWalkModel(new SimdExecutor(), place, [], { model })).rejects.toThrow(message);
  });
});
