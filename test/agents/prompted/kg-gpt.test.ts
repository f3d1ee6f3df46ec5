import { describe, expect, test } from '@jest/globals';
import {
  grownWalks,
  offeredCandidates,
  offeredRelations,
  segmentsOf,
} from '../../../agents/prompted/kg-gpt/segments.js';
import { frontierOf, startWalk } from '../../../agents/prompted/frontier-steps.js';
import { questionAgents } from '../../../agents/question-agents.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { ChooseManyDecision, Decision } from '../../../src/llm/decision.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { type Facts, graphOf, parts, resourcesOf, taskOf, townAsker, townFacts, wise } from './clock-town.js';

const ask = townAsker('kg-gpt', { hops: 2 });

const candidatesOf = (asked: readonly Decision[]) =>
  asked
    .filter((decision): decision is ChooseManyDecision => decision.kind === 'choose-many')
    .map(({ candidates }) => candidates.map(({ text }) => text));

describe('KG-GPT', () => {
  test('splits the question, chooses relations for each part and answers from all walks along them', async () => {
    const { answer, names, phases, asked } = await ask(wise);
    expect(phases).toEqual(['split', 'relations', 'relations', 'answer']);
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer).toMatchObject({ stop: 'answered', degraded: false, literals: [] });
    expect(asked[2]!.context).toEqual([
      { label: 'Part', lines: [parts[1]] },
      { label: 'Path', lines: ['Orla Brandt → ~purchased_by'] },
    ]);
    expect(asked[3]!.evidence).toContainEqual(['Tower Clock', 'repaired_by', 'Mia Kop']);
  });

  test('a last reply that cannot be read is no answer', async () => {
    const { answer } = await ask((decision) => (decision.kind === 'answer' ? undefined : wise(decision)));
    expect(answer).toMatchObject({ stop: 'unparsed', degraded: true, entities: [] });
  });

  test('offers relations by their bare names, unless their direction is kept', async () => {
    expect(candidatesOf((await ask(wise)).asked)[0]).toEqual(['lives_in', 'purchased_by']);
    expect(candidatesOf((await ask(wise, { direction: 'kept' })).asked)[0]).toEqual(['lives_in', '~purchased_by']);
  });

  test('offers a later part what lies that far from the topic, or what the parts before reached', async () => {
    const facts: Facts = [...townFacts, ['Skarn', 'capital_of', 'Norholm']];
    expect(candidatesOf((await ask(wise, { facts })).asked)[1]).toEqual(['capital_of', 'repaired_by', 'stands_in']);
    const reached = await ask(wise, { facts, offered: 'reached' });
    expect(candidatesOf(reached.asked)[1]).toEqual(['repaired_by', 'stands_in']);
  });

  test('chooses the given number of relations per part', async () => {
    const { asked } = await ask(wise, { relations: 2 });
    expect(asked.filter(({ kind }) => kind === 'choose-many')).toMatchObject([{ maxChoices: 2 }, { maxChoices: 2 }]);
  });

  test('keeps all tails of a node; the reference keeps the first alone, from the second hop on', async () => {
    expect((await ask(wise)).names).toEqual(['Jon Weil', 'Mia Kop']);
    const { names, answer } = await ask(wise, { evidence: 'reference' });
    expect(names).toEqual(['Jon Weil']);
    expect(answer.evidence.flat()).not.toContain('Mia Kop');
  });

  test('walks every relation in either direction', () => {
    const graph = graphOf([
      ['Ada', 'taught', 'Ben'],
      ['Cleo', 'taught', 'Ada'],
    ]);
    const start = startWalk(taskOf({ topics: [{ name: 'Ada', entity: graph.entityId('Ada') }] }));
    const offered = offeredRelations(graph, frontierOf(start), [], 'dropped');
    expect(offered.map(({ text, ways }) => [text, ways.length])).toEqual([['taught', 2]]);
    const [candidate] = offeredCandidates(offered);
    expect(candidate).toMatchObject({ relation: graph.relationId('taught'), inverse: graph.relationId('~taught') });
    const ends = grownWalks(graph, [start], offered, 'all').map((walk) => [...frontierOf(walk).entities]);
    expect(ends).toEqual([[graph.entityId('Ben')], [graph.entityId('Cleo')]]);
  });
});

describe('parts of a question', () => {
  const task = taskOf({ topics: [{ name: 'Orla Brandt', entity: 0, span: [29, 40] }] });
  const bounds = { hops: 2, maxHops: 3 };

  test('are walked from the one that names the topic on', () => {
    expect(segmentsOf(task, parts.toReversed(), bounds)).toEqual({ parts, split: true, open: false });
  });

  test('of which none names the topic, or too few or many, give way to the question itself, once a hop', () => {
    const whole = { parts: [task.question, task.question], split: false, open: false };
    for (const texts of [
      undefined,
      [],
      ['a b', 'c d'],
      ['the Orla Brandts met', 'x'],
      [parts[0]!],
      [...parts, 'more'],
    ]) {
      expect(segmentsOf(task, texts, bounds)).toEqual(whole);
    }
  });

  test('unknown hops are as many as were written, or leave the length open', () => {
    expect(segmentsOf(task, [parts[0]!], { hops: undefined, maxHops: 3 })).toMatchObject({
      parts: [parts[0]],
      open: false,
    });
    expect(segmentsOf(task, undefined, { hops: undefined, maxHops: 3 })).toMatchObject({ open: true, split: false });
  });
});

describe('where words are scored', () => {
  test('nothing is split, the likeliest relations are followed, and one of the walks is chosen as a whole', async () => {
    const { phases, names, answer, asked, graph } = await ask(wise, { byLikelihood: true });
    expect(phases).toEqual(['relations', 'relations', 'walk']);
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer.chain).toEqual(['~purchased_by', 'repaired_by'].map((name) => graph.relationId(name)));
    expect(asked[0]!.context).toEqual([{ label: 'Path', lines: ['Orla Brandt'] }]);
    expect(answer.degraded).toBe(false);
  });

  test('walks of every length are offered when the hop count is unknown', async () => {
    const { hops: _, ...open } = taskOf({
      topics: [{ name: 'Orla Brandt', entity: graphOf(townFacts).entityId('Orla Brandt') }],
    });
    const agent = await questionAgents.create('kg-gpt', resourcesOf(graphOf(townFacts)), {});
    const client = scriptedClient(wise, Infinity, true);
    await agent.answer(open, { client, trace: () => {} });
    const texts = client.asked.flatMap((one) => (one.kind === 'judge' ? one.candidates.map(({ text }) => text) : []));
    const lengths = new Set(texts.map((text) => text.split(' → ').length));
    expect(lengths.size).toBeGreaterThan(1);
  });
});

describe('replies that cannot be used', () => {
  test('leave no relations of an earlier part in force', async () => {
    const twice: Facts = [
      ...townFacts,
      ['Jon Weil', 'purchased_by', 'Ida Rem'],
      ['Tower Clock', 'purchased_by', 'Jon Weil'],
    ];
    let relations = 0;
    const { answer, asked } = await ask(
      (decision) => (decision.phase === 'relations' && ++relations > 1 ? undefined : wise(decision)),
      { facts: twice },
    );
    expect(answer).toMatchObject({ stop: 'dead-end', degraded: true });
    // The facts are those of the first hop: nothing was walked twice.
    expect(
      asked.at(-1)!.evidence.every(([, relation, tail]) => relation === 'purchased_by' && tail === 'Orla Brandt'),
    ).toBe(true);
  });
});

describe('bounds', () => {
  test('of homonyms the one counts that the walks lead to', async () => {
    const twins: Facts = [...townFacts, ['Blue Clock', 'stands_in', 'JON WEIL']];
    const { answer, graph } = await ask(
      (decision) => (decision.kind === 'answer' ? { answers: ['Jon Weil'] } : wise(decision)),
      { facts: twins },
    );
    expect(answer.entities).toEqual([(graph as Graph).entityId('Jon Weil')]);
  });
});
