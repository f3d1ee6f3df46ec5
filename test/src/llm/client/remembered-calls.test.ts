import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import type { CallTiming } from '../../../../src/llm/client/ask-model.js';
import { type CompletionStore, openCompletionStore, replayModel } from '../../../../src/llm/client/completion-store.js';
import type { LanguageModel } from '../../../../src/llm/language-model.js';
import { WorkbenchError } from '../../../../src/run/errors.js';
import { type ScriptedModel, scriptedModel } from '../../../fixtures/scripted-model.js';
import { answer, candidates, choose, clientsOf, score, secondOrX, storeFile } from './sample-decisions.js';

describe('what was asked', () => {
  test('is not asked again: by no other question of a real model, and after a resume with an equal ledger', async () => {
    const file = storeFile();
    const model = secondOrX();
    const store = openCompletionStore(file);
    const timings: CallTiming[] = [];
    const clients = clientsOf(model, store, { onTiming: (timing) => timings.push(timing) });
    const [one, two] = [clients.clientFor('q1'), clients.clientFor('q2')];
    // Under way at once: the second waits for the first.
    await Promise.all([one.client.decide(choose), two.client.decide(choose)]);
    expect(model.asked).toHaveLength(1);
    expect(timings.map(({ cacheHit }) => cacheHit)).toEqual([false, true]);
    expect(two.calls()).toEqual(one.calls());
    store.close();

    const resumed = openCompletionStore(file);
    const again = clientsOf(model, resumed).clientFor('q1');
    await again.client.decide(choose);
    expect(again.calls()).toEqual(one.calls());
    expect(model.asked).toHaveLength(1);
    resumed.close();
  });

  test('and stored before a kill is not requested again, at any point of truncation', async () => {
    const questions = ['q1', 'q2', 'q3'];
    const run = async (model: ScriptedModel, file: string) => {
      const store = openCompletionStore(file);
      const clients = clientsOf(model, store);
      const calls = [];
      for (const questionId of questions) {
        const one = clients.clientFor(questionId);
        await one.client.decide({ ...choose, question: questionId });
        await one.client.decide({ ...answer, question: questionId });
        calls.push(one.calls());
      }
      store.close();
      return calls;
    };
    const file = storeFile();
    const unbroken = await run(secondOrX(), file);
    const bytes = readFileSync(file);
    for (let kept = 0; kept < bytes.length; kept += 97) {
      writeFileSync(file, bytes.subarray(0, kept));
      const store = openCompletionStore(file);
      const { size } = store;
      store.close();
      const model = secondOrX();
      expect(await run(model, file)).toEqual(unbroken);
      expect(model.asked.length + size).toBe(2 * questions.length);
    }
  });

  test('of a simulated model is shared by no two questions, phases or subjects', async () => {
    const model = scriptedModel(() => ({ choice: 0 }), { simulated: true });
    const clients = clientsOf(model, openCompletionStore(storeFile()));
    const { client } = clients.clientFor('q1');
    await client.decide(choose);
    await client.decide({ ...choose, phase: 'other' });
    await client.decide({ ...choose, subjects: [4] });
    await client.decide({ ...choose, questionId: 'q2' });
    await client.decide(choose);
    expect(model.asked).toHaveLength(4);
  });

  test('brings back the heads that the model held last', async () => {
    const file = storeFile();
    const model = secondOrX();
    const store = openCompletionStore(file);
    await clientsOf(model, store).prime();
    expect(model.primed).toEqual([]);
    const { client } = clientsOf(model, store).clientFor('q1');
    await client.decide(choose);
    await client.decide(answer);
    await client.decide({ ...choose, question: 'other' });
    await clientsOf(model, store).prime();
    expect(model.primed.map(({ head }) => head)).toEqual([model.asked[1]!.head, model.asked[0]!.head]);
  });
});

describe('a replay', () => {
  const script = (fail: boolean) =>
    scriptedModel(
      ({ question, ...decision }) => {
        if (fail && question === 'broken') throw new WorkbenchError('failure', 'the server is away');
        return decision.kind === 'score' ? { scores: decision.candidates.map(() => 3) } : { choice: 1 };
      },
      { contextLength: 400 },
    );
  const long = candidates(...['a', 'b', 'c', 'd'].map((name) => `${name} ${'word '.repeat(50)}`));

  test('B-FISKE-10: gives the same replies, ledgers and errors, without a model and a tokenizer', async () => {
    const file = storeFile();
    const run = async (model: LanguageModel, store: CompletionStore) => {
      const { client, calls } = clientsOf(model, store).clientFor('q1');
      const decided = [
        await client.decide(choose),
        await client.decide({ ...score, candidates: long }),
        await client.decide({ ...choose, question: 'broken' }).catch(String),
        await client.decide({ ...choose, question: 'word '.repeat(500) }).catch(String),
      ];
      store.close();
      return { decided, calls: calls() };
    };
    const first = await run(script(true), openCompletionStore(file));
    expect(first.decided.slice(2)).toEqual([
      expect.stringContaining('the server is away'),
      expect.stringContaining('expected a prompt of at most'),
    ]);
    const bytes = readFileSync(file);
    const store = openCompletionStore(file, { readOnly: true });
    expect(await run(replayModel(store), store)).toEqual(first);
    expect(readFileSync(file)).toEqual(bytes);

    // A resumed run believes no failure: it asks again.
    const { decided } = await run(script(false), openCompletionStore(file));
    expect(decided[2]).toMatchObject({ reply: { choice: 1 } });
  });

  test('names question and phase of a completion that is not there', async () => {
    const file = storeFile();
    const store = openCompletionStore(file);
    await clientsOf(secondOrX(), store).clientFor('q1').client.decide(choose);
    store.close();
    const replayed = openCompletionStore(file, { readOnly: true });
    const { client } = clientsOf(replayModel(replayed), replayed).clientFor('q1');
    await expect(client.decide(answer)).rejects.toMatchObject({
      code: 'data',
      message: expect.stringContaining('at question q1 (answer)'),
    });
  });

  test('of a store that no model wrote is refused', () => {
    expect(() => replayModel(openCompletionStore(storeFile()))).toThrow('expected completions of a model');
  });
});
