import { describe, expect, test } from '@jest/globals';
import type { Decision, MatchDecision } from '../../../../src/llm/decision.js';
import { questionAgents } from '../../../../agents/question-agents.js';
import { askFiske, graphOf, resourcesOf, townFacts, townReading } from '../clock-town.js';

const matchOf = (asked: readonly Decision[], phase: string) =>
  asked.filter((decision): decision is MatchDecision => decision.phase === phase);

test('two hops take six calls, and every answer of the last relation is found', async () => {
  const { answer, names, phases, asked } = await askFiske(townReading);
  expect(asked[0]).toMatchObject({ question: 'which person repaired the clocks that Orla Brandt bought' });
  expect(phases).toEqual(['clues', 'relation-map', 'entity-map', 'relation-map', 'entity-map', 'answer']);
  // Two clocks lead to Jon Weil, one to Mia Kop.
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  expect(answer).toMatchObject({ verified: true, degraded: false, stop: 'covered', literals: [] });
});

describe('clues', () => {
  test('mapping is asked for what is not covered yet; without state for all, every time', async () => {
    const targets = async (stateful: boolean) =>
      matchOf((await askFiske(townReading, { stateful })).client.asked, 'relation-map').map(
        (decision) => decision.targets,
      );
    expect(await targets(true)).toEqual([['bought', 'repaired'], ['repaired']]);
    expect((await targets(false)).every(({ length }) => length === 3)).toBe(true);
  });

  test('the answer type goes last and need not be covered', async () => {
    const { names, client } = await askFiske({
      ...townReading,
      clues: ['which person', 'Orla Brandt', 'bought', 'repaired'],
    });
    expect(matchOf(client.asked, 'relation-map')[0]!.targets).toEqual(['bought', 'repaired', 'which person']);
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  });

  test('a start is found by its words in another order', async () => {
    const { names } = await askFiske({ ...townReading, clues: ['Brandt, Orla', 'bought', 'repaired'] });
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  });

  test('a statement has a verdict and no entity', async () => {
    const { answer } = await askFiske({ ...townReading, answers: ['true'] }, { task: { form: 'truth' } });
    expect(answer).toMatchObject({ truth: true, entities: [] });
  });
});

test('a common word that is also a name is not a start next to a capitalized name', async () => {
  const facts = [...townFacts, ['clocks', 'tag_of', 'Blue Clock'] as const];
  const question = 'which person repaired the clocks that Orla Brandt bought';
  const starts = async (switches: object, asked = question) => {
    const { events } = await askFiske(townReading, { facts, clues: 'names', task: { question: asked }, ...switches });
    return events.flatMap((event) => (event.event === 'start' ? [event.entities.length] : []));
  };
  expect(await starts({})).toEqual([1]);
  expect(await starts({}, 'who repaired clocks')).toEqual([1]);
  // A statement may claim something that is written small.
  expect(await starts({ task: { question, form: 'truth' } })).toEqual([2]);
});

describe('sharing of calls', () => {
  const facts = [...townFacts, ['Harbour Clock', 'made_of', 'oak']] as const;

  test('heads with the same uncovered clues share a call; with the same relations too; or none', async () => {
    const calls = async (share: string) =>
      matchOf((await askFiske(townReading, { facts, share })).client.asked, 'relation-map').length;
    expect(await calls('clues')).toBe(2);
    expect(await calls('relations')).toBe(3);
    expect(await calls('none')).toBe(3);
    expect((await askFiske(townReading, { facts, share: 'none' })).names).toEqual(['Jon Weil', 'Mia Kop']);
  });

  test('candidates are asked in batches', async () => {
    const { client } = await askFiske(townReading, { batchSize: 2 });
    for (const { candidates } of matchOf(client.asked, 'relation-map'))
      expect(candidates.length).toBeLessThanOrEqual(2);
    expect(matchOf(client.asked, 'entity-map')).toHaveLength(2);
  });
});

describe('ends', () => {
  test('a neighbour that a clue names is taken without a call, and the answer is what stands before it', async () => {
    const { names, phases } = await askFiske({
      clues: ['Orla Brandt', 'Jon Weil', 'bought'],
      relations: { '~purchased_by': 'bought' },
      entities: { '~purchased_by → Harbour Clock': 'bought', '~purchased_by → Tower Clock': 'bought' },
    });
    // The second mapping is for Jon Weil, who starts as well; the step from a clock to him takes none.
    expect(phases).toEqual(['clues', 'relation-map', 'entity-map', 'relation-map', 'answer']);
    expect(names).toEqual(['Harbour Clock', 'Tower Clock']);
  });

  test('without the multi-answer rule a last hop without a match is a dead end', async () => {
    const { answer, phases } = await askFiske(townReading, { multiAnswerRule: false });
    expect(answer).toMatchObject({ entities: [], verified: false, stop: 'dead-end' });
    expect(phases.at(-1)).toBe('direct-answer');
  });

  test('a branch goes straight back over another fact only, or never, or always', async () => {
    const facts = [...townFacts, ['Tower Clock', 'made_by', 'Jon Weil']] as const;
    const last = async (relation: string, backtracking: string) => {
      const reading = {
        clues: ['Jon Weil', 'repaired', 'whoever'],
        relations: { '~repaired_by': 'repaired', [relation]: 'whoever' },
        entities: { '~repaired_by → Harbour Clock': 'repaired', '~repaired_by → Tower Clock': 'repaired' },
      };
      const { client } = await askFiske(reading, { facts, backtracking });
      return matchOf(client.asked, 'entity-map')
        .slice(1)
        .flatMap(({ candidates }) => candidates.map(({ text }) => text));
    };
    const [again, other] = ['repaired_by → Jon Weil', 'made_by → Jon Weil'];
    expect(await last('repaired_by', 'other-facts')).toEqual(['repaired_by → Mia Kop']);
    expect(await last('repaired_by', 'always')).toEqual([again, 'repaired_by → Mia Kop']);
    expect(await last('made_by', 'other-facts')).toEqual([other]);
    expect(await last('made_by', 'never')).toEqual([]);
  });

  test.each([{ maxHops: 1 }, { relationThreshold: 10 }])('%o leaves no way on', async (bound) => {
    expect((await askFiske(townReading, bound)).answer.stop).toBe('dead-end');
  });

  test.each(['joint', 'sequential'].flatMap((one) => ['whole-frontier', 'best-first'].map((order) => [one, order])))(
    'starts %s, %s, find the same',
    async (startPolicy, order) => {
      expect((await askFiske(townReading, { startPolicy, order })).names).toEqual(['Jon Weil', 'Mia Kop']);
    },
  );

  test('what the model says is grounded only where the graph shows nothing', async () => {
    const { answer, names } = await askFiske({ clues: ['Nobody'], answers: ['mia kop', 'A Stranger'] });
    expect(names).toEqual(['Mia Kop']);
    expect(answer).toMatchObject({ literals: ['A Stranger'], text: 'mia kop; A Stranger', stop: 'no-start' });
  });
});

describe('FiSKE over whole sets', () => {
  const sets = { answers: 'frontier', clues: 'names' };

  test('takes clues from the question, asks about relations alone and answers where it ends', async () => {
    const { names, phases, answer, events } = await askFiske(townReading, {
      ...sets,
      hops: 'given',
      task: { hops: 2 },
    });
    expect(phases).toEqual(['relation-map', 'relation-map']);
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer).toMatchObject({ stop: 'hops', degraded: false, literals: [] });
    expect(events).toContainEqual({
      event: 'decision',
      phase: 'clues',
      summary: 'Orla Brandt; repaired; clocks; bought',
    });
  });

  test('the given length with clues left open is neither covered nor verified', async () => {
    const { names, answer } = await askFiske(townReading, { ...sets, hops: 'given', task: { hops: 1 } });
    expect(names).toEqual(['Harbour Clock', 'Tower Clock']);
    expect(answer).toMatchObject({ stop: 'hops', verified: false });
    const whole = await askFiske(townReading, {
      ...{ ...sets, hops: 'given', maxHops: 1 },
      task: { hops: 1, question: 'Orla Brandt bought' },
    });
    expect(whole.answer).toMatchObject({ stop: 'covered', verified: true });
  });

  test('a branch that covers all clues early continues to the given length', async () => {
    const short = { ...townReading, relations: { '~purchased_by': 'bought', repaired_by: 'bought' } };
    const task = { hops: 2, question: 'Orla Brandt bought' };
    const { names, answer } = await askFiske(short, { ...sets, hops: 'given', task });
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer).toMatchObject({ stop: 'covered', verified: true });
  });

  test('when entities are chosen one by one, coverage decides for any given hops', async () => {
    const { names, answer } = await askFiske(townReading, { hops: 'given', task: { hops: 1 } });
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer).toMatchObject({ stop: 'covered', verified: true });
    const sourceOf = async (switches: Record<string, unknown>) =>
      (await questionAgents.create('fiske', resourcesOf(graphOf(townFacts)), switches)).hopSource?.(false);
    expect(await sourceOf({ hops: 'given' })).toBe('none');
    expect(await sourceOf({ hops: 'given', answers: 'frontier' })).toBe('given');
  });

  test('a relation that speaks for every clue covers one of them', async () => {
    const greedy = { ...townReading, relations: { '~purchased_by': 'bought', lives_in: 'repaired' } };
    const { names } = await askFiske(greedy, { ...sets, task: { hops: 1 } });
    expect(names).toEqual(['Harbour Clock', 'Tower Clock', 'Skarn']);
  });

  test('shows the model what the pre-filter leaves of each branch', async () => {
    const offered = async (switches: Record<string, unknown>) => {
      const { client } = await askFiske(townReading, { ...sets, task: { hops: 1 }, ...switches });
      return (client.asked[0] as MatchDecision).candidates.length;
    };
    expect(await offered({})).toBe(2);
    expect(await offered({ prefilter: 'bm25', keep: 1 })).toBe(1);
  });
});
