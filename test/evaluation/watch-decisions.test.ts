import { expect, test } from '@jest/globals';
import { confidenceOf, watchDecisions } from '../../evaluation/watch-decisions.js';
import type { Decided, Decision, DecisionClient } from '../../src/llm/decision.js';
import * as sample from '../fixtures/sample-decisions.js';
import { scriptedClient } from '../fixtures/scripted-client.js';

test('the agent gets the client with its keys and no others', async () => {
  const own = scriptedClient(() => ({ choice: 0 }), 3);
  const { client, taken } = watchDecisions(own);
  expect(Object.keys(client)).toEqual(['decide']);
  expect(Object.getPrototypeOf(client)).toBe(own);
  const decision = sample.chooseOneDecision();
  expect(await client.decide(decision)).toMatchObject({ reply: { choice: 0 } });
  expect(own.asked).toEqual([decision]);
  expect(own.asked[0]).toBe(decision);
  expect([client.remaining, client.byLikelihood]).toEqual([own.remaining, own.byLikelihood]);
  expect(taken()).toEqual([{ decision, decided: expect.objectContaining({ reply: { choice: 0 } }) }]);
});

test('decisions are in the order of asking, not of ending; a failed one is left out', async () => {
  const ends: (() => void)[] = [];
  const slow: DecisionClient = {
    ...{ remaining: 9, byLikelihood: true },
    decide: <D extends Decision>({ phase }: D) =>
      new Promise<Decided<D>>((resolve, reject) => {
        const end = () => resolve({ stage: 'constrained', text: phase, confidence: 0.5 });
        ends.push(phase === 'b' ? () => reject(new Error('spent')) : end);
      }),
  };
  const { client, taken } = watchDecisions(slow);
  const asked = ['a', 'b', 'c'].map((phase) => client.decide(sample.scoreDecision({ phase })));
  for (const end of ends.toReversed()) end();
  await Promise.allSettled(asked);
  expect(taken().map(({ decision }) => decision.phase)).toEqual(['a', 'c']);
  expect(confidenceOf(taken(), slow)).toBe(0.25);
});

test('written choices have no confidence; by likelihood it is 1 without a choice', () => {
  const written = { decision: sample.scoreDecision(), decided: { stage: 'constrained', text: '' } } as const;
  const free = { decision: sample.answerDecision(), decided: { stage: 'constrained', text: '' } } as const;
  const likely = { ...scriptedClient(() => undefined), byLikelihood: true } as DecisionClient;
  const plain = { ...scriptedClient(() => undefined), byLikelihood: false } as DecisionClient;
  expect(confidenceOf([], likely)).toBe(1);
  expect(confidenceOf([free], likely)).toBe(1);
  expect(confidenceOf([written], likely)).toBeUndefined();
  expect(confidenceOf([free], plain)).toBeUndefined();
});

test('one named choice gives no confidence over all, an empty list gives none', () => {
  const likely = { ...scriptedClient(() => undefined), byLikelihood: true } as DecisionClient;
  const scored = {
    ...{ decision: sample.chooseOneDecision() },
    decided: { stage: 'constrained', text: '', confidence: 0.5 },
  } as const;
  const named = (decision: Decision) => ({ decision, decided: { stage: 'constrained', text: '' } }) as const;
  const allowed = ['Port Vell', 'Tamsin Orrel'];
  expect(confidenceOf([named(sample.judgeDecision())], likely)).toBeUndefined();
  expect(confidenceOf([named(sample.answerDecision({ allowed }))], likely)).toBeUndefined();
  expect(confidenceOf([scored, named(sample.judgeDecision())], likely)).toBeUndefined();
  expect(confidenceOf([scored, named(sample.chooseOneDecision({ candidates: [] }))], likely)).toBe(0.5);
});
