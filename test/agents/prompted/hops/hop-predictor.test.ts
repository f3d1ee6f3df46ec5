import { describe, expect, test } from '@jest/globals';
import { crossEntropyGrad, fitHops, hopPredictor } from '../../../../agents/prompted/hops/hop-predictor.js';
import type { QuestionSample } from '../../../../datasets/question.js';
import { hashedEncoder } from '../../../../src/encoder/hashed-encoder.js';
import { filmGraph, filmQuestions, questionOf } from '../../../fixtures/toy-questions.js';
import { graphOf, taskOf, townAsker, townFacts, wise } from '../clock-town.js';
import { ask, chainOf, townTask } from '../self-veqa/town-asker.js';

const graph = filmGraph();
const train = filmQuestions(graph);

/** Texts without a word that each have a vector. */
const textsOf = (...vectors: number[][]) => ({
  matrix: Float32Array.from(vectors.flat()),
  rows: Int32Array.from(vectors.keys()),
  dim: vectors[0]!.length,
  texts: vectors.map(() => ''),
});

describe('the hop predictor', () => {
  test('learns the number of hops of known templates and carries it to like ones', async () => {
    const { predict } = await hopPredictor(hashedEncoder(64), train);
    const tasks = train.map(({ task }) => task);
    expect(await predict(tasks)).toEqual(tasks.map(({ hops }) => hops));
    const like = questionOf(graph, 'x', 'who directed the film [inception]', [], []).task;
    expect(await predict([like])).toEqual([1]);
  });

  test('separates vectors by a line, with the shares of each side', async () => {
    const { shares, maxHops } = await fitHops(textsOf([1, 0], [0, 1]), [1, 3]);
    expect(maxHops).toBe(3);
    const asked = textsOf([1, 0], [0, 1], [0.5, 0.5]);
    expect(shares(asked, 0)[0]).toBeGreaterThan(0.95);
    expect(shares(asked, 1)[2]).toBeGreaterThan(0.95);
    expect(shares(asked, 2)[0]).toBeCloseTo(shares(asked, 2)[2]!, 6);
    expect(shares(asked, 2).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
  });

  test('reads words and their order where vectors are alike', async () => {
    const said = (...texts: string[]) => ({ ...textsOf(...texts.map(() => [1])), texts });
    const { shares } = await fitHops(said('who wrote [E]', 'who wrote about [E]', '[E] who'), [1, 2, 1]);
    const asked = said('who spoke about [E]', 'who wrote [E]', 'unheard of');
    expect(shares(asked, 0)[1]).toBeGreaterThan(0.5);
    expect(shares(asked, 1)[0]).toBeGreaterThan(0.9);
    expect(shares(asked, 2)[0]).toBeGreaterThan(0.5);
  });

  test('gives the shares of a text that is asked with several numbers of hops', async () => {
    const encoded = { ...textsOf([1]), rows: Int32Array.of(0, 0, 0, 0) };
    const [one, two] = (await fitHops(encoded, [1, 1, 1, 2])).shares(encoded, 0);
    expect(one).toBeCloseTo(0.75, 2);
    expect(two).toBeCloseTo(0.25, 2);
  });

  test('learns from more questions than a function takes arguments', async () => {
    const rows = Int32Array.from({ length: 150_000 }, (_, i) => i % 2);
    const encoded = { ...textsOf([1, 0], [0, 1]), rows };
    const hops = Array.from(rows, (row) => row + 1);
    expect((await fitHops(encoded, hops)).maxHops).toBe(2);
  });

  test('is the same every time', async () => {
    const encoded = textsOf([1, 0], [0, 1], [1, 1]);
    const first = (await fitHops(encoded, [1, 2, 2])).shares(encoded, 2);
    expect((await fitHops(encoded, [1, 2, 2])).shares(encoded, 2)).toEqual(first);
  });

  test('is judged on texts that it was not trained on', async () => {
    const asked = (question: string, count: number, hops: number) =>
      Array.from({ length: count }, (_, i): QuestionSample => {
        const { task, gold } = questionOf(graph, `${question} ${i}`, question, [], []);
        return { task, gold: { ...gold, chains: [Array<number>(hops).fill(0)] } };
      });
    // What is alone with its number of hops is missed, whatever the others say.
    const samples = [
      ...asked('who wrote [it]', 6, 1),
      ...asked('who wrote that [it]', 3, 1),
      ...asked('the town of the author of [it]', 1, 2),
    ];
    const { heldOut } = await hopPredictor(hashedEncoder(64), samples);
    expect(heldOut).toEqual({ n: 10, accuracy: 0.9, majority: 0.9 });
    const { heldOut: none } = await hopPredictor(hashedEncoder(64), asked('who wrote [it]', 2, 1));
    expect(none).toBeUndefined();
  });

  test('follows the gradients that its loss shows', () => {
    const logits = [0.3, -1.2, 2, 0, 0.5, -0.5];
    const targets = Float64Array.of(0.2, 0, 0.3, 0, 0.5, 0);
    const loss = (x: readonly number[]) =>
      [0, 3].reduce((sum, row) => {
        const partition = [0, 1, 2].reduce((total, k) => total + Math.exp(x[row + k]!), 0);
        return sum - [0, 1, 2].reduce((own, k) => own + targets[row + k]! * (x[row + k]! - Math.log(partition)), 0);
      }, 0);
    const grad = crossEntropyGrad(Float32Array.from(logits), targets, 3);
    logits.forEach((logit, i) => {
      const difference = (loss(logits.with(i, logit + 1e-5)) - loss(logits.with(i, logit - 1e-5))) / 2e-5;
      expect(grad[i]).toBeCloseTo(difference, 6);
    });
  });

  test('names the number of a vector that is not finite', async () => {
    const encoded = textsOf([1, 0], [0, NaN]);
    await expect(fitHops(encoded, [1, 2])).rejects.toThrow(
      'expected finite question vectors, got NaN, at number 1 of text 1 of the hop predictor',
    );
  });

  test('says that it needs chains', async () => {
    const blind = train.map((sample) => ({ ...sample, gold: { ...sample.gold, chains: [] } }));
    await expect(hopPredictor(hashedEncoder(64), blind)).rejects.toThrow(/expected train questions with chains/);
  });
});

describe('hops that are predicted', () => {
  const oneHop = (id: string): QuestionSample => {
    const graph = graphOf(townFacts);
    return {
      task: taskOf({ id, question: 'where does [E] live' }),
      gold: { answers: [], chains: [[graph.relationId('lives_in')]] } as unknown as QuestionSample['gold'],
    };
  };

  test('KnowledgeNavigator learns the number from train alone: the given count is not read', async () => {
    const { answer } = await townAsker('knowledge-navigator', { hops: 2 })(wise, {
      hops: 'predicted',
      train: [oneHop('t-1'), oneHop('t-2')],
      change: { hops: 2 },
    });
    expect(answer.evidence.every(([, relation]) => relation === 'purchased_by')).toBe(true);
  });

  test('Self-VEQA proposes chains of the predicted length', async () => {
    const { proposals } = await ask(
      { rounds: [[chainOf('~purchased_by', 'repaired_by')]] },
      { hops: 'predicted', task: { hops: undefined! } },
    );
    expect(proposals[0]!.allowed.every(({ length }) => length === 2)).toBe(true);
    const lives = {
      question: 'where does Orla Brandt live',
      topics: [{ ...townTask.topics[0]!, span: [11, 22] as const }],
    };
    const one = await ask({ rounds: [[chainOf('lives_in')]] }, { hops: 'predicted', task: lives });
    expect(one.proposals[0]!.hops).toBe(1);
  });
});
