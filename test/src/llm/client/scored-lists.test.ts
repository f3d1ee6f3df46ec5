/** Lists that are scored by likelihood: long, empty, equal, at once, and stopped or failed in the middle. */
import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { type CompletionStore, openCompletionStore, replayModel } from '../../../../src/llm/client/completion-store.js';
import type { AnswerDecision, ChooseOneDecision, PathsDecision } from '../../../../src/llm/decision.js';
import type { LanguageModel, ScoreRequest } from '../../../../src/llm/language-model.js';
import { throwIfStopped } from '../../../../src/run/stop.js';
import { often } from '../../../fixtures/long-tests.js';
import { scriptedModel } from '../../../fixtures/scripted-model.js';
import { answer, choose, clientsOf, score, storeFile } from './sample-decisions.js';

const likelihood = { choices: 'likelihood' as const };
const relations = (question: string, ...names: string[]): ChooseOneDecision => ({
  ...choose,
  ...{ questionId: question, question, allowNone: false },
  candidates: names.map((text, relation) => ({ kind: 'relation', relation, text })),
});

interface Asked {
  head: string;
  body: string;
  texts: readonly string[];
}
const isPrior = ({ body }: Pick<Asked, 'body'>) => body.startsWith('\n?');

/** Scores depend on the whole request, like the last bits of a real model's numbers. */
function scoring(before: (request: ScoreRequest, texts: readonly string[]) => Promise<void> | void = () => {}) {
  const asked: Asked[] = [];
  const model: LanguageModel = scriptedModel(() => undefined, {
    async scoreTexts(request, texts) {
      asked.push({ head: request.head, body: request.body, texts });
      await before(request, texts);
      throwIfStopped(request.signal);
      return {
        logProbs: Float64Array.from(texts, (text) => -text.length - request.body.length / 1000 - texts.length / 1e6),
        tokens: Int32Array.from(texts, (text) => text.trim().split(' ').length),
        usage: { promptTokens: texts.length, cachedTokens: 0, completionTokens: 0 },
      };
    },
  });
  return { model, asked };
}

describe('a hub', () => {
  const size = often(2000, 10_000);
  const paths: PathsDecision = {
    ...{ questionId: 'q1', question: 'who sailed on the Lark?', task: 'Do it.', evidence: [], examples: [] },
    ...{ kind: 'paths', phase: 'paths', count: 3 },
    allowed: Array.from({ length: size }, (_, i) => [[0, 0, i + 1]] as const),
    entityName: (entity) => (entity === 0 ? 'Lark' : `Sailor ${entity}`),
    relationName: () => 'crew_members',
  };

  test('of thousands of paths is scored whole, uncut and in one request, by a context that holds one of them', async () => {
    const { model, asked } = scoring();
    const file = storeFile();
    const store = openCompletionStore(file);
    const small = { ...model, contextLength: 200 };
    const { client, calls } = clientsOf(small, store, { ...likelihood, budget: 2 }).clientFor('q1');
    const { reply, confidence } = await client.decide(paths);
    expect(reply!.paths).toHaveLength(3);
    expect(confidence).toBeGreaterThan(0);
    expect(asked.map(({ texts }) => texts.length)).toEqual([size, size]);
    expect(calls()).toMatchObject([{ promptTokens: 2 * size, cut: { candidates: 0, evidence: 0, history: 0 } }]);
    store.close();
    // Counted in what is kept, not in seconds: a line, whose length is in proportion.
    expect(readFileSync(file).length).toBeLessThan(250 * size);
    const kept = openCompletionStore(file, { readOnly: true });
    const replayed = clientsOf(replayModel(kept), kept, likelihood).clientFor('q1');
    expect(await replayed.client.decide(paths)).toEqual({
      reply,
      confidence,
      stage: 'constrained',
      text: expect.anything(),
    });
    kept.close();
  });

  test('whose names of rare signs have more tokens than the longest name still fits, for they are counted', async () => {
    const { model, asked } = scoring();
    // As of byte pairs: plain letters four a token, others a token a byte.
    const countTokens = (text: string) => [...text].reduce((sum, sign) => sum + (sign < '\x7f' ? 0.25 : 4), 0);
    const names = ['a long and plain name of many words that says little', '🦆'.repeat(25)];
    const facts = Array.from({ length: 100 }, (_, i) => ['Lark', 'crew', `Sailor ${i}`] as const);
    const decision: AnswerDecision = { ...answer, question: 'who?', evidence: facts, allowed: names };
    const context = { ...model, countTokens, contextLength: 500 };
    const { client } = clientsOf(context, openCompletionStore(storeFile()), likelihood).clientFor('q1');
    await client.decide(decision);
    const { head, body } = asked.at(-1)!;
    expect(body).toContain('Sailor 0');
    expect(body).not.toContain('Sailor 99');
    expect(countTokens(`${head}${body} ${names[1]}`)).toBeLessThan(500);
  });
});

test('one candidate is certain, equal ones are as sure as each other and the first wins, none is nothing asked', async () => {
  const { model, asked } = scoring();
  const { client, calls } = clientsOf(model, openCompletionStore(storeFile()), likelihood).clientFor('q1');
  expect(await client.decide(relations('one?', 'drawn_by'))).toMatchObject({ reply: { choice: 0 }, confidence: 1 });
  const twins = await client.decide(relations('two?', 'drawn_by', 'drawn_by'));
  expect(twins).toMatchObject({ reply: { choice: 0 }, confidence: 0.5 });
  expect(calls()).toHaveLength(2);
  const before = asked.length;
  expect(await client.decide(relations('none?'))).toMatchObject({ stage: 'unparsed' });
  expect(await client.decide({ ...score, candidates: [] })).toMatchObject({ reply: { scores: [] } });
  expect(await client.decide({ ...answer, allowed: [] })).toMatchObject({ reply: { answers: [] } });
  expect(asked).toHaveLength(before);
  expect(calls()).toHaveLength(2);
});

describe('what texts are worth by themselves', () => {
  const questions = [
    relations('who drew it', 'drawn_by', 'built_in'),
    relations('where was it built', 'built_in', 'kept_by'),
    relations('who keeps it', 'kept_by', 'drawn_by', 'sung_by'),
  ];
  /** Replies with the ledgers of their questions. */
  const decideAll = async (model: LanguageModel, store: CompletionStore, atOnce = false) => {
    const clients = clientsOf(model, store, likelihood);
    const ask = async (one: ChooseOneDecision) => {
      const { client, calls } = clients.clientFor(one.questionId);
      return { decided: await client.decide(one), calls: calls() };
    };
    const all = [];
    if (atOnce) all.push(...(await Promise.all(questions.map(ask))));
    else for (const one of questions) all.push(await ask(one));
    store.close();
    return all;
  };

  test('is asked once of each, and comes to equal bits, whether questions are asked at once or one after the other', async () => {
    const replies = [];
    for (const atOnce of [false, true]) {
      const { model, asked } = scoring();
      const file = storeFile();
      const all = await decideAll(model, openCompletionStore(file), atOnce);
      replies.push(all.map(({ decided }) => decided));
      const priors = asked.filter(isPrior).map(({ texts }) => texts);
      expect(priors).toEqual([[' drawn by', ' built in'], [' kept by'], [' sung by']]);
      // B-FISKE-10: a replay has the same replies and the same ledgers, with keys, tokens and stages.
      const kept = openCompletionStore(file, { readOnly: true });
      expect(await decideAll(replayModel(kept), kept)).toEqual(all);
    }
    expect(replies[1]).toEqual(replies[0]);
  });

  test('is asked again by who waited for a question that failed', async () => {
    let first = true;
    const { model } = scoring(() => {
      const fails = first;
      first = false;
      if (fails) throw new Error('no memory');
    });
    const clients = clientsOf(model, openCompletionStore(storeFile()), likelihood);
    const ends = await Promise.allSettled(
      questions.slice(0, 2).map((one) => clients.clientFor(one.questionId).client.decide(one)),
    );
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  test('stays with the next who needs it where the question fails that asked for it, so that a replay finds it', async () => {
    const { model } = scoring((request) => {
      if (request.decision.questionId === 'who drew it' && !isPrior(request)) throw new Error('no memory');
    });
    const file = storeFile();
    const store = openCompletionStore(file);
    const clients = clientsOf(model, store, likelihood);
    await expect(clients.clientFor('who drew it').client.decide(questions[0]!)).rejects.toThrow('no memory');
    const asked = clients.clientFor('where was it built');
    const decided = await asked.client.decide(questions[1]!);
    // Its list, one new prior, and the two that were not yet counted.
    expect(asked.totals().promptTokens).toBe(2 + 1 + 2);
    store.close();
    const kept = openCompletionStore(file, { readOnly: true });
    const replayed = clientsOf(replayModel(kept), kept, likelihood).clientFor('where was it built');
    expect(await replayed.client.decide(questions[1]!)).toEqual(decided);
    kept.close();
  });

  test.each([0, 1, 2, 3, 4, 5])(
    'stopped at request %i of six, the same questions resume to equal bytes',
    async (stop) => {
      const [whole, file] = [storeFile(), storeFile()];
      const expected = await decideAll(scoring().model, openCompletionStore(whole));
      const controller = new AbortController();
      let requests = 0;
      const halting = scoring(() => {
        if (requests++ === stop) controller.abort();
      });
      const store = openCompletionStore(file);
      const stopped = clientsOf(halting.model, store, { ...likelihood, signal: controller.signal });
      const ask = async () => {
        for (const one of questions) await stopped.clientFor(one.questionId).client.decide(one);
      };
      await expect(ask()).rejects.toMatchObject({ code: 'stopped' });
      store.close();
      expect(readFileSync(whole, 'utf8').startsWith(readFileSync(file, 'utf8'))).toBe(true);
      expect(await decideAll(scoring().model, openCompletionStore(file))).toEqual(expected);
      expect(readFileSync(file, 'utf8')).toBe(readFileSync(whole, 'utf8'));
    },
  );
});
