import { describe, expect, test } from '@jest/globals';
import { embedKgqa } from '../../../../agents/readers/embed-kgqa/embed-kgqa.js';
import type { ReaderFacts } from '../../../../agents/readers/facts.js';
import type { Reader } from '../../../../agents/readers/reader.js';
import { readerSettings } from '../../../../agents/readers/settings.js';
import { frontierTrie } from '../../../../envs/relation-walk/frontier-trie.js';
import { hashedEncoder } from '../../../../src/encoder/hashed-encoder.js';
import { filmGraph, filmQuestions } from '../../../fixtures/toy-questions.js';

const graph = filmGraph();
const samples = filmQuestions(graph);
const [train, others] = [samples.filter((_, i) => i % 2 === 0), samples.filter((_, i) => i % 2 === 1)];

const factsOf = (more: object = {}): ReaderFacts => ({
  graph,
  settings: readerSettings.parse({
    ...{ kind: 'embed-kgqa', matching: 2, questionWidth: 24, negatives: 8 },
    table: { dim: 16, epochs: 30, batchSize: 8, negatives: 8 },
    fit: { learningRate: 0.005, maxGradNorm: 5 },
    ...more,
  }),
  ...{ horizon: 3, maxTokens: 32, frontiers: frontierTrie(graph), encoder: hashedEncoder(32, true), seed: 5 },
  folder: 'none',
});

async function opened(facts = factsOf()): Promise<Reader> {
  return embedKgqa.create(facts, await embedKgqa.basis(facts, train));
}

async function steps(reader: Reader, from: number, to: number, batch = train): Promise<number[]> {
  const losses: number[] = [];
  for (let step = from; step < to; step++) {
    losses.push((await reader.step(batch, { step, learningRate: 0.005 })).loss);
  }
  return losses;
}

const ask = (reader: Reader, at: number, of = train) => reader.answer(of[at]!.task, { trace() {} });

describe('EmbedKGQA', () => {
  test('overfits a few questions, and answers them', async () => {
    const reader = await opened();
    const losses = await steps(reader, 0, 150);
    expect(losses.at(-1)).toBeLessThan(losses[0]! / 2);
    for (const [i, { gold }] of train.entries()) {
      const { entities, confidence, stop } = await ask(reader, i);
      expect(gold.answers.map(({ entity }) => entity)).toContain(entities[0]);
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThanOrEqual(1);
      expect(stop).toBe('ranked');
    }
  });

  test('is moved by train alone: asking changes no byte, and the table before the first question is of the graph', async () => {
    const reader = await opened();
    await steps(reader, 0, 2);
    const before = await reader.state();
    await reader.prepare?.(others.map(({ task }) => task));
    for (const i of others.keys()) await ask(reader, i, others);
    expect(await reader.state()).toEqual(before);
    const facts = factsOf();
    const [one, other] = [await embedKgqa.basis(facts, train), await embedKgqa.basis(facts, others.slice(1))];
    expect(one.tensors['table/entities']).toEqual(other.tensors['table/entities']);
    expect(one.tensors.mean).not.toEqual(other.tensors.mean);
  });

  test('freezes the table with trainedOn=0', async () => {
    const table = { dim: 16, epochs: 2, batchSize: 8, negatives: 8, trainedOn: 0 };
    const reader = await opened(factsOf({ table }));
    const before = (await reader.state()).tensors['table/entities'];
    await steps(reader, 0, 3);
    expect((await reader.state()).tensors['table/entities']).toEqual(before);
  });

  test('leaves out questions without a topic or an answer in the graph, and says how many it asked', async () => {
    const reader = await opened();
    const [first, second] = train;
    const strange = { ...second!, task: { ...second!.task, topics: [] } };
    const { figures } = await reader.step([first!, strange], { step: 0, learningRate: 0.005 });
    expect(figures!['train/asked']).toBe(0.5);
    const { stop, entities } = await reader.answer(strange.task, { trace() {} });
    expect({ stop, entities }).toEqual({ stop: 'no topic', entities: [] });
  });

  test('without matching it has nothing of it', async () => {
    const reader = await opened(factsOf({ matching: 0 }));
    expect(Object.keys((await reader.state()).tensors).some((name) => name.includes('match'))).toBe(false);
  });
});
