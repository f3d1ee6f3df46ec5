import { describe, expect, test } from '@jest/globals';
import { openCompletionStore } from '../../../../src/llm/client/completion-store.js';
import type {
  ChainsDecision,
  ChooseManyDecision,
  ChooseOneDecision,
  Decision,
  JudgeDecision,
  MatchDecision,
} from '../../../../src/llm/decision.js';
import { byLikelihood } from '../../../../src/llm/decisions/likelihood/by-likelihood.js';
import type { LanguageModel, ScoreRequest } from '../../../../src/llm/language-model.js';
import { scriptedModel } from '../../../fixtures/scripted-model.js';
import { answer, choose, clientsOf, storeFile } from './sample-decisions.js';

const relations: ChooseOneDecision = {
  ...choose,
  question: 'who drew Ivo Marr',
  context: [{ label: 'Path', lines: ['Ivo Marr → ~kept_by'] }],
  candidates: ['drawn_by', '~built_in'].map((text, relation) => ({ kind: 'relation', relation, text })),
  allowNone: false,
};

/** Alone all texts are worth a nat a letter; after a question `drawn by` is worth a third of that. */
function scoring(): { model: LanguageModel; asked: { request: ScoreRequest; texts: readonly string[] }[] } {
  const asked: { request: ScoreRequest; texts: readonly string[] }[] = [];
  const model = scriptedModel(() => ({ answers: ['x'] }), {
    scoreTexts(request, texts) {
      asked.push({ request, texts });
      const fits = (text: string) => !request.body.startsWith('\n?') && text === ' drawn by';
      return Promise.resolve({
        logProbs: Float64Array.from(texts, (text) => -text.length / (fits(text) ? 3 : 1)),
        tokens: Int32Array.from(texts, (text) => text.trim().split(' ').length),
        usage: { promptTokens: 10 * texts.length, cachedTokens: 5, completionTokens: 0 },
      });
    },
  });
  return { model, asked };
}

const likelihood = { choices: 'likelihood' as const };

test('a choice goes by the words of the candidates, less what they are worth after the same path alone', async () => {
  const { model, asked } = scoring();
  const { client, calls } = clientsOf(model, openCompletionStore(storeFile()), likelihood).clientFor('q1');
  expect(client.byLikelihood).toBe(true);
  const { reply, confidence, text, stage } = await client.decide(relations);
  expect([reply, text, stage]).toEqual([{ choice: 0 }, 'drawn by', 'constrained']);
  expect(confidence).toBeGreaterThan(0.9);
  expect(confidence).toBeLessThanOrEqual(1);
  expect(asked.map(({ request }) => request.body)).toEqual(['\n? = kept by, then', '\nwho drew it? = kept by, then']);
  expect(asked[1]!.texts).toEqual([' drawn by', ' built in']);
  expect(calls()).toMatchObject([{ promptTokens: 40, cachedTokens: 10, completionTokens: 0, attempt: 0 }]);
});

test('free text is written all the same', async () => {
  const { model, asked } = scoring();
  const { client, calls } = clientsOf(model, openCompletionStore(storeFile()), likelihood).clientFor('q1');
  expect(await client.decide(answer)).not.toHaveProperty('confidence');
  expect(asked).toHaveLength(0);
  expect(calls()).toHaveLength(1);
});

test('numbers that are no log-probabilities are an error of the question', async () => {
  const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 0 };
  const scores = { logProbs: Float64Array.of(NaN, NaN), tokens: Int32Array.of(1, 1), usage };
  const broken = { ...scoring().model, scoreTexts: () => Promise.resolve(scores) };
  const { client } = clientsOf(broken, openCompletionStore(storeFile()), likelihood).clientFor('q1');
  await expect(client.decide(relations)).rejects.toThrow(/expected log-probabilities, got NaN/);
});

describe('what scores come to', () => {
  const decideBy = <D extends Decision>(decision: D, ...scores: number[][]) =>
    byLikelihood(decision, ({ target = 0 }) => Promise.resolve(Float64Array.from(scores[target]!)));
  const match: MatchDecision = {
    ...{ ...choose, kind: 'match', phase: 'relation-map', examples: [] },
    candidates: relations.candidates,
    targets: ['drawn', 'built'],
  };

  test('of two pairs that clearly belong together one speaks more clearly than the other', async () => {
    const { reply } = await decideBy(match, [4.2, 0.1], [0.2, 3.9]);
    expect(reply!.matches).toMatchObject([0, 1].map((i) => ({ candidate: i, target: i })));
    expect(reply!.matches[0]!.score).toBeGreaterThan(reply!.matches[1]!.score);
    expect(reply!.matches[0]!.score).toBeLessThanOrEqual(10);
  });

  test('of pairs that are hardly likelier than by themselves the likeliest belongs together; none where it is not likelier', async () => {
    const { reply } = await decideBy(match, [0.9, 0.4], [0, -0.2]);
    expect(reply).toEqual({ matches: [{ candidate: 0, target: 0, score: 5 }] });
    expect((await decideBy(match, [0, -0.4], [-0.1, -0.2])).reply).toEqual({ matches: [] });
    expect((await decideBy(match, [1.3, 0.4], [0, 1.4])).reply!.matches).toHaveLength(2);
  });

  test('sure of a match is who is far ahead, and where there is one candidate all are', async () => {
    const sure = await decideBy(match, [4, 0], [0, 0]);
    const torn = await decideBy(match, [4, 0], [0, 3.9]);
    expect(sure.confidence).toBeGreaterThan(0.9);
    expect(torn.confidence).toBeLessThan(0.6);
    expect((await decideBy({ ...match, candidates: match.candidates.slice(0, 1) }, [2], [0])).confidence).toBe(1);
  });

  test('the same lead is surer among chains than among relations', async () => {
    const chains: JudgeDecision = {
      ...{ ...choose, kind: 'judge', phase: 'judge', examples: [], withAnswers: false },
      candidates: ['drawn_by', 'built_in'].map((text, i) => ({ kind: 'chain', relations: [i], answers: [], text })),
    };
    const [ofChains, ofRelations] = [await decideBy(chains, [1, 0]), await decideBy(relations, [1, 0])];
    expect(ofChains.confidence).toBeGreaterThan(0.9);
    expect(ofRelations.confidence).toBeLessThan(0.8);
  });

  test('several are chosen where they are hardly behind the best', async () => {
    const many: ChooseManyDecision = { ...relations, kind: 'choose-many', maxChoices: 2, examples: [] };
    expect((await decideBy(many, [1, 0.75])).reply).toEqual({ choices: [0, 1] });
    expect((await decideBy(many, [0.6, 1])).reply).toEqual({ choices: [1] });
  });
});

test('of chains of different lengths the whole wins over its beginning where the question speaks for all of it', async () => {
  // In nats above what they are worth alone; a token each word.
  const worth: Record<string, number> = {
    'drawn by': 2,
    'drawn by, then built in': 3,
    'kept by': 0,
    'drawn by, then kept by': 1,
  };
  const model = scriptedModel(() => ({ answers: ['x'] }), {
    scoreTexts: ({ body }, texts) =>
      Promise.resolve({
        logProbs: Float64Array.from(texts, (text) => -10 + (body.startsWith('\n?') ? 0 : worth[text.trim()]!)),
        tokens: Int32Array.from(texts, (text) => text.trim().split(' ').length),
        usage: { promptTokens: 1, cachedTokens: 0, completionTokens: 0 },
      }),
  });
  const names = ['drawn_by', 'built_in', 'kept_by'];
  const propose = (allowed: number[][]): ChainsDecision => ({
    ...{ ...answer, kind: 'chains', phase: 'propose', hops: 2, count: 4, allowed, examples: [] },
    relationName: (relation) => names[relation]!,
  });
  const { client } = clientsOf(model, openCompletionStore(storeFile()), likelihood).clientFor('q1');
  const uneven = await client.decide(propose([[0], [2], [0, 2], [0, 1]]));
  expect(uneven.reply).toEqual({ chains: [[0, 1], [0], [0, 2], [2]] });
  const links = [[2], [1]].map((last) => [0, ...last]);
  expect((await client.decide(propose(links))).reply).toEqual({ chains: links.toReversed() });
});
