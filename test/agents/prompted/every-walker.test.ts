/** Bounds of every agent that walks whole sets of entities by a model's choices. */
import { describe, expect, test } from '@jest/globals';
import { claimOf, type Facts, townAsker, wise } from './clock-town.js';

const hub: Facts = [
  ['Harbour Clock', 'purchased_by', 'Orla Brandt'],
  ['Harbour Clock', 'stands_in', 'Vell'],
  ...Array.from({ length: 10_000 }, (_, i) => ['Harbour Clock', 'repaired_by', `Repairer ${i}`] as const),
];

describe.each([
  { name: 'kg-gpt', given: { hops: 2 }, first: ['split', 'relations'], budget: 3, unread: 'dead-end' },
  { name: 'pog', given: {}, first: ['objectives', 'relations', 'entities'], budget: 4, unread: 'half-stop' },
  { name: 'knowledge-navigator', given: { hops: 2 }, first: ['paraphrase', 'relation'], budget: 3, unread: 'dead-end' },
  { name: 'structgpt', given: {}, first: ['relation', 'judge'], budget: 3, unread: 'unread' },
])('$name', ({ name, given, first, budget, unread }) => {
  const ask = townAsker(name, given);

  test('answers on the reserved call when the budget is spent, and not at all without one', async () => {
    const { answer, phases } = await ask(wise, { budget });
    expect([phases, answer.stop]).toEqual([[...first, 'answer'], 'budget']);
    expect((await ask(wise, { budget: 0 })).answer).toMatchObject({ stop: 'budget', entities: [], degraded: true });
  });

  test('leaves a question without a topic to the model; with scored texts there is no call', async () => {
    const change = { topics: [] };
    expect(await ask(wise, { change })).toMatchObject({ phases: ['answer'], answer: { stop: 'no-topic' } });
    const scored = await ask(wise, { change, byLikelihood: true });
    expect(scored).toMatchObject({ phases: [], answer: { stop: 'no-topic', entities: [] } });
  });

  test('takes the one relation that the pre-filter leaves without a call, and is as sure of it as that was', async () => {
    const { phases } = await ask(wise, { prefilter: 'bm25', keep: 1 });
    expect(phases.filter((phase) => phase.startsWith('relation'))).toEqual([]);
    if (name === 'knowledge-navigator') return;
    const ways = { prefilter: 'bm25', keep: 1, hops: 'given', answers: 'frontier', change: { hops: 1 } };
    const { answer } = await ask(wise, { ...ways, byLikelihood: true });
    expect(answer.confidence).toBeCloseTo(1 / 2, 12);
  });

  test('takes a single relation without a call, and has nothing to ask where there is none', async () => {
    const line: Facts = hub.slice(0, 2);
    const asked = await ask(wise, { facts: line, hops: 'given', change: { hops: 2 } });
    expect(asked.phases.filter((phase) => phase.startsWith('relation'))).toEqual([]);
    const short = await ask(wise, { facts: line.slice(0, 1), hops: 'given', change: { hops: 2 } });
    expect(short).toMatchObject({ answer: { stop: unread === 'unread' ? 'no-way' : unread } });
  });

  test('holds a statement where it names something that the walk leads to', async () => {
    const said = async (who: string) =>
      (await ask(wise, { byLikelihood: true, hops: 'given', change: { ...claimOf(who), hops: 2 } })).answer.truth;
    expect([await said('Mia Kop'), await said('Ida Rem')]).toEqual([true, false]);
  });

  test('shows some facts of ten thousand, and answers with all where the walk is the answer', async () => {
    const { asked } = await ask(wise, { facts: hub, answers: 'model', hops: 'given', change: { hops: 2 } });
    expect(asked.at(-1)!.evidence.length).toBeLessThanOrEqual(60);
    const scored = await ask(wise, { facts: hub, byLikelihood: true, hops: 'given', change: { hops: 2 } });
    expect(scored.answer.entities).toHaveLength(10_000);
  });

  test('never drops a question for replies that cannot be read', async () => {
    const { answer, phases } = await ask(() => undefined);
    expect(answer).toMatchObject({ degraded: true, entities: [], literals: [], stop: unread });
    expect(phases.at(-1)).toBe('answer');
  });
});
