import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openCompletionStore } from '../../../../src/llm/client/completion-store.js';
import type { ClientSettings } from '../../../../src/llm/client/create-clients.js';
import type { LanguageModel } from '../../../../src/llm/language-model.js';
import { BudgetSpent, type ScoreDecision } from '../../../../src/llm/decision.js';
import { checkProperty } from '../../../fixtures/property.js';
import { scriptedModel } from '../../../fixtures/scripted-model.js';
import { answer, candidates, choose, clientsOf, score, secondOrX, storeFile } from './sample-decisions.js';

const withStore = (model: LanguageModel, more?: Partial<ClientSettings>) =>
  clientsOf(model, openCompletionStore(storeFile()), more);

describe('a decision', () => {
  test('is asked once, read, and stands in the ledger', async () => {
    const model = secondOrX();
    const { client, calls, totals } = withStore(model).clientFor('q1');
    expect(client.remaining).toBe(Infinity);
    expect(await client.decide(choose)).toEqual({ reply: { choice: 1 }, stage: 'constrained', text: '{"choice":2}' });
    await client.decide(answer);
    expect(model.asked).toHaveLength(2);
    expect(model.asked[0]).toMatchObject({ temperature: 0, seed: 0, attempt: 0, decision: choose });
    expect(calls()).toMatchObject([
      { phase: 'pick', seq: 0, attempt: 0, stage: 'constrained', completionTokens: 1, temperature: 0 },
      { phase: 'answer', seq: 1, attempt: 0, stage: 'constrained' },
    ]);
    expect(calls()[0]!.cut).toEqual({ history: 0, examples: 0, evidence: 0, candidates: 0 });
    expect(totals()).toMatchObject({
      calls: 2,
      completionTokens: 2,
      phases: { pick: { calls: 1, stages: { constrained: 1 } }, answer: { calls: 1, stages: { constrained: 1 } } },
    });
  });

  test('that could not be read is asked again once, with a reminder, which is a call', async () => {
    const model = scriptedModel((_, { attempt }) => (attempt === 0 ? '???' : { choice: 0 }));
    const { client, calls } = withStore(model).clientFor('q1');
    expect(await client.decide(choose)).toMatchObject({ reply: { choice: 0 }, stage: 'asked-again' });
    expect(model.asked[1]!.body.startsWith(model.asked[0]!.body)).toBe(true);
    expect(model.asked[1]!.body).toMatch(/could not be read/);
    expect(model.asked[1]!.head).toBe(model.asked[0]!.head);
    expect(calls()).toMatchObject([
      { seq: 0, attempt: 0, stage: 'unparsed' },
      { seq: 0, attempt: 1, stage: 'asked-again' },
    ]);
  });

  test('that could not be read twice has no reply', async () => {
    const model = scriptedModel(() => '???');
    const { client, totals } = withStore(model).clientFor('q1');
    expect(await client.decide(choose)).toEqual({ stage: 'unparsed', text: '???' });
    expect(totals()).toMatchObject({ calls: 2, phases: { pick: { stages: { unparsed: 2 } } } });
  });

  test('that does not fit is cut, and candidates that were not shown score 0', async () => {
    const long = candidates(...['a', 'b', 'c', 'd'].map((name) => `${name} ${'word '.repeat(50)}`));
    const model = scriptedModel((decision) => ({ scores: (decision as ScoreDecision).candidates.map(() => 5) }), {
      contextLength: 400,
    });
    const { client, calls } = withStore(model).clientFor('q1');
    const { reply } = await client.decide({ ...score, candidates: long });
    const shown = 4 - calls()[0]!.cut.candidates;
    expect(shown).toBeGreaterThan(0);
    expect(shown).toBeLessThan(4);
    expect(reply!.scores).toEqual([5, 5, 5, 5].map((full, i) => (i < shown ? full : 0)));
  });

  test('may be sampled at a temperature, with a separate seed', async () => {
    const model = { ...secondOrX(), temperature: 0.4 };
    const clients = withStore(model);
    for (const id of ['q1', 'q2']) {
      const { client } = clients.clientFor(id);
      await client.decide(choose);
      await client.decide(answer);
    }
    const [first, plain, second] = model.asked;
    expect([first!.temperature, plain!.temperature]).toEqual([0.4, 0.4]);
    expect(new Set([first!.seed, plain!.seed, second!.seed]).size).toBe(3);
  });

  test('cut at its limit is asked again and never read, however much of it could be', async () => {
    const model = scriptedModel(() => ({ choice: 0 }));
    const cut: typeof model = {
      ...model,
      complete: async (request) => ({ ...(await model.complete(request)), stop: 'length' }),
    };
    const { client, totals } = withStore(cut).clientFor('q1');
    expect(await client.decide(choose)).toEqual({ stage: 'unparsed', text: expect.stringContaining('{') });
    expect(totals()).toMatchObject({ calls: 2, remarks: { cut: 2 }, phases: { pick: { stages: { unparsed: 2 } } } });
  });

  test('by likelihood need a model that scores texts', () => {
    const clients = () => withStore(secondOrX(), { choices: 'likelihood' });
    expect(clients).toThrow(/expected a model that scores texts, got .* at --choices likelihood/);
  });
});

describe('a strict budget', () => {
  test('keeps its last call for the final decision', async () => {
    const { client } = withStore(secondOrX(), { budget: 3 }).clientFor('q1');
    expect(client.remaining).toBe(2);
    await client.decide(choose);
    await client.decide(choose);
    expect(client.remaining).toBe(0);
    await expect(client.decide(choose)).rejects.toBeInstanceOf(BudgetSpent);
    expect(await client.decide(answer)).toMatchObject({ reply: { answers: ['x'] } });
    await expect(client.decide(answer)).rejects.toBeInstanceOf(BudgetSpent);
  });

  test('allows no re-ask that it does not hold', async () => {
    const model = scriptedModel(() => '');
    const { client } = withStore(model, { budget: 2 }).clientFor('q1');
    expect(await client.decide(choose)).toMatchObject({ stage: 'unparsed' });
    expect(await client.decide(answer)).toMatchObject({ stage: 'unparsed' });
    expect(model.asked).toHaveLength(2);
  });

  test('of 0 allows nothing, and none is no whole number below it', async () => {
    const { client } = withStore(secondOrX(), { budget: 0 }).clientFor('q1');
    expect(client.remaining).toBe(0);
    await expect(client.decide(answer)).rejects.toBeInstanceOf(BudgetSpent);
    for (const budget of [-1, 1.5, NaN]) {
      expect(() => withStore(secondOrX(), { budget })).toThrow('--budget');
    }
  });

  test('B-FISKE-7: is never exceeded by concurrent calls or failing replies', async () => {
    const plan = fc.array(fc.array(fc.record({ final: fc.boolean(), fails: fc.nat(2) }), { maxLength: 4 }), {
      maxLength: 5,
    });
    await checkProperty(
      fc.asyncProperty(fc.nat(6), plan, async (budget, groups) => {
        const model = scriptedModel(({ task }, { attempt }) => (attempt < Number(task) ? '???' : { choice: 0 }));
        const { client, totals } = withStore(model, { budget }).clientFor('q1');
        let explored = 0;
        let number = 0;
        for (const group of groups) {
          const deciding = group.map(({ final, fails }) =>
            client
              .decide({ ...choose, final, task: String(fails), question: `${number++}` })
              .catch((error: unknown) => {
                if (!(error instanceof BudgetSpent)) throw error;
              }),
          );
          await Promise.all(deciding);
          if (group.every(({ final }) => !final)) explored = totals().calls;
        }
        expect(model.asked.length).toBeLessThanOrEqual(budget);
        expect(totals().calls).toBe(model.asked.length);
        const anyFinal = groups.flat().some(({ final }) => final);
        if (!anyFinal) expect(explored).toBeLessThanOrEqual(Math.max(0, budget - 1));
      }),
      { numRuns: 60 },
    );
  });
});

test('B-FISKE-7: in reference mode nothing is refused, and only who asks sees the budget spent', async () => {
  const settings = { budget: 2, budgetMode: 'reference' } as const;
  const { client, totals } = withStore(secondOrX(), settings).clientFor('q1');
  const seen: number[] = [];
  for (let i = 0; i < 4; i++) {
    seen.push(client.remaining);
    await client.decide({ ...choose, question: `${i}` });
  }
  expect(seen).toEqual([2, 1, 0, 0]);
  expect(totals().calls).toBe(4);
});
