/** The reference's bugs, by their ids in the specification: what each would have broken. */
import { expect, test } from '@jest/globals';
import { answerMetrics, matchAnswers } from '../../src/metrics/answers.js';
import type { MatchDecision } from '../../src/llm/decision.js';
import { askFiske, graphOf, townFacts, townReading } from '../agents/prompted/clock-town.js';

const matches = (asked: readonly { kind: string }[]) => asked.filter(({ kind }) => kind === 'match') as MatchDecision[];

test('B-FISKE-1: every start has its own depth', async () => {
  const facts = [...townFacts, ['repaired', 'is_a', 'bought'], ['bought', 'is_a', 'word']] as const;
  const { answer, names } = await askFiske(
    { ...townReading, clues: ['repaired', 'bought', 'Orla Brandt'] },
    { facts, startPolicy: 'sequential', zeroCallShortcut: false },
  );
  expect(answer.stop).toBe('covered');
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
});

test('B-FISKE-2: every batch of every start is asked about once', async () => {
  const relations = Array.from({ length: 45 }, (_, i) => `r${String(i).padStart(2, '0')}`);
  const facts = ['Ann', 'Bo'].flatMap((head) =>
    relations.map((relation) => [head, relation, `${head} ${relation}`] as const),
  );
  const { client } = await askFiske({ clues: ['Ann', 'Bo', 'other'] }, { facts, startPolicy: 'sequential' });
  const shown = matches(client.asked).map(({ candidates }) => candidates.map(({ text }) => text));
  expect(shown.map(({ length }) => length)).toEqual([20, 20, 5, 20, 20, 5]);
  expect(shown.slice(0, 3).flat()).toEqual(relations);
  expect(shown.slice(3).flat()).toEqual(relations);
});

test('B-FISKE-3: one partial branch alone is shown to the model', async () => {
  const { answer, client } = await askFiske(
    {
      clues: ['Orla Brandt', 'bought', 'painted'],
      relations: { '~purchased_by': 'bought' },
      entities: { '~purchased_by → Harbour Clock': 'bought' },
    },
    { gateAnswer: false },
  );
  expect(client.asked.at(-1)!.evidence).toEqual([['Harbour Clock', 'purchased_by', 'Orla Brandt']]);
  expect(answer).toMatchObject({ verified: false, stop: 'dead-end' });
});

test('B-FISKE-4: a relation whose name begins like another, or holds a clue, is matched by number alone', async () => {
  const facts = [
    ['Ann', 'place', 'Vell'],
    ['Ann', 'place_of_birth', 'Skarn'],
    ['Ann', 'place_of_birth_9', 'Orm'],
  ] as const;
  const { names } = await askFiske({ clues: ['Ann', 'place'], relations: { place_of_birth: 'place' } }, { facts });
  expect(names).toEqual(['Skarn']);
});

test('B-FISKE-4: a clue that stands inside the name of a relation is not covered by it', async () => {
  const reached = async (relation: string) =>
    (await askFiske({ clues: ['Ann', 'Skarn', 'birth'] }, { facts: [['Ann', relation, 'Skarn']] })).answer.stop;
  expect(await reached('birth')).toBe('covered');
  for (const longer of ['place_of_birth', 'birthplace', 'no_birth']) expect(await reached(longer)).toBe('dead-end');
});

test('B-FISKE-5: every matched entity counts, with any number of unmatched ones between', async () => {
  const facts = Array.from({ length: 9 }, (_, i) => ['Ann', 'owns', `Clock ${i}`] as const);
  const kept = [0, 3, 4, 8];
  const entities = Object.fromEntries(kept.map((i) => [`owns → Clock ${i}`, 'clocks']));
  const { names } = await askFiske({ clues: ['Ann', 'clocks'], relations: { owns: 'clocks' }, entities }, { facts });
  expect(names).toEqual(kept.map((i) => `Clock ${i}`));
});

test('B-FISKE-6: a question whose clues cannot be read is answered all the same, and marked', async () => {
  const { answer, names, events } = await askFiske({ ...townReading, clues: undefined });
  expect(events).toContainEqual({
    event: 'decision',
    phase: 'clues',
    summary: 'Orla Brandt; repaired; clocks; bought',
  });
  expect(answer.degraded).toBe(true);
  expect(names).toEqual([]);
  expect(answer.stop).toBe('dead-end');
});

test.each([2, 3, 4, 5, 6, 30])(
  'B-FISKE-7: with a budget of %i no call is made beyond it, the answer included',
  async (budget) => {
    const { phases, answer } = await askFiske(townReading, { budget });
    expect(phases.length).toBeLessThanOrEqual(budget);
    expect(phases.at(-1)).toBe(budget < 6 ? 'direct-answer' : 'answer');
    expect(answer.stop).toBe(budget < 6 ? 'budget' : 'covered');
  },
);

test('B-FISKE-7: the direct answer is a call like any other', async () => {
  const { phases, client } = await askFiske({ clues: ['Nobody'], answers: ['Jon Weil'] });
  expect(phases).toEqual(['clues', 'direct-answer']);
  expect(client.asked.at(-1)!.final).toBe(true);
});

test('B-FISKE-8: facts are written in the direction of the graph, also when walked backwards', async () => {
  const { answer, client } = await askFiske(townReading);
  expect(answer.evidence).toContainEqual(['Harbour Clock', 'purchased_by', 'Orla Brandt']);
  expect(answer.evidence).toContainEqual(['Harbour Clock', 'repaired_by', 'Jon Weil']);
  expect(client.asked.at(-1)!.evidence).toEqual(answer.evidence);
});

test('B-FISKE-9: starts and neighbours are found for any case and punctuation of clues', async () => {
  const started = await askFiske({ ...townReading, clues: ['orla  BRANDT', 'bought', 'repaired'] });
  expect(started.names).toEqual(['Jon Weil', 'Mia Kop']);
  const { names, phases } = await askFiske({ clues: ['Ida Rem', 'the BLUE clock!'], answers: [] });
  expect(phases).toEqual(['clues', 'answer']);
  expect(names).toEqual([]);
});

test('B-FISKE-10: the same question gives the same prompt for any order of the graph file', async () => {
  const shown = async (facts: typeof townFacts) =>
    (await askFiske(townReading, { facts })).client.asked.map((decision) => ({
      phase: decision.phase,
      candidates: 'candidates' in decision ? decision.candidates.map(({ text }) => text) : [],
      targets: 'targets' in decision ? decision.targets : [],
    }));
  const once = await shown(townFacts);
  expect(await shown(townFacts)).toEqual(once);
  expect(await shown([...townFacts].reverse())).toEqual(once);
});

test('B-FISKE-11: all homonyms start, and those beyond the limit are reported', async () => {
  const facts = [
    ...['Lark', 'lark', 'LARK'].map((head, i) => [head, 'built_by', `Builder ${i}`] as const),
    ['Wren', 'built_by', 'Builder 9'],
  ] as const;
  const reading = { clues: ['lark', 'built'], relations: { built_by: 'built' } };
  expect((await askFiske(reading, { facts })).names).toEqual(['Builder 0', 'Builder 1', 'Builder 2']);
  const limited = await askFiske(reading, { facts, maxStarts: 2 });
  expect(limited.names).toEqual(['Builder 0', 'Builder 1']);
  expect(limited.events).toContainEqual({ event: 'note', text: '1 homonyms left out' });
});

test('B-FISKE-11: entities beyond the limit are cut in a fixed order and reported, or accepted as one group', async () => {
  const facts = Array.from({ length: 50 }, (_, i) => ['Ann', 'owns', `Clock ${i}`] as const);
  const reading = { clues: ['Ann', 'owned'], relations: { owns: 'owned' } };
  const cut = await askFiske(reading, { facts, maxCandidates: 30, overflow: 'truncate' });
  expect(cut.names).toEqual(facts.slice(0, 30).map(([, , tail]) => tail));
  expect(cut.events).toContainEqual({ event: 'note', text: '20 of 50 entities of owns cut' });
  const whole = await askFiske(reading, { facts, maxCandidates: 30 });
  expect(whole.names).toHaveLength(50);
  expect(whole.phases).toEqual(['clues', 'relation-map', 'answer']);
  expect(whole.events).toContainEqual({ event: 'note', text: '50 entities of owns taken whole' });
});

test('B-FISKE-12: partial and complete match are those of the one matcher', async () => {
  const graph = graphOf(townFacts);
  const golds = ['Jon Weil', 'Mia Kop'].map((name) => ({ name, entity: graph.entityId(name) }));
  const scored = async (multiAnswerRule: boolean) => {
    const entities = { ...townReading.entities, 'repaired_by → Mia Kop': 'repaired' };
    const { answer } = await askFiske({ ...townReading, entities, answers: [] }, { multiAnswerRule });
    return answerMetrics(matchAnswers(answer, { golds, topics: [] }), golds.length);
  };
  const all = await askFiske(townReading);
  expect(answerMetrics(matchAnswers(all.answer, { golds, topics: [] }), 2)).toMatchObject({ partial: 1, complete: 1 });
  expect(await scored(true)).toMatchObject({ partial: 1, complete: 0 });
});
