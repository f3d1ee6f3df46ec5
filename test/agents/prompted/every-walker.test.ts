/** Bounds of every agent that walks whole sets of entities by a model's choices. */
import { describe, expect, test } from '@jest/globals';
import { frontierOf, startWalk } from '../../../agents/prompted/frontier-steps.js';
import {
  grownWalks,
  offeredCandidates,
  offeredRelations,
  segmentsOf,
} from '../../../agents/prompted/kg-gpt/segments.js';
import { heldBy } from '../../../agents/prompted/structgpt/structgpt-agent.js';
import { questionAgents } from '../../../agents/question-agents.js';
import { initialFrontier } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { ChooseManyDecision, Decision } from '../../../src/llm/decision.js';
import { renderPrompt } from '../../../src/llm/decisions/render-prompt.js';
import { checkExamples } from '../../fixtures/check-examples.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { type Facts, claimOf, graphOf, parts, resourcesOf, taskOf, townAsker, townFacts, wise } from './clock-town.js';

const hub: Facts = [
  ['Harbour Clock', 'purchased_by', 'Orla Brandt'],
  ['Harbour Clock', 'stands_in', 'Vell'],
  ...Array.from({ length: 500 }, (_, i) => ['Harbour Clock', 'repaired_by', `Repairer ${i}`] as const),
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
    expect(scored.answer.entities).toHaveLength(500);
  });

  test('never drops a question for replies that cannot be read', async () => {
    const { answer, phases } = await ask(() => undefined);
    expect(answer).toMatchObject({ degraded: true, entities: [], literals: [], stop: unread });
    expect(phases.at(-1)).toBe('answer');
  });
});

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

describe('structgpt', () => {
  const graph = graphOf(townFacts);
  const id = (name: string) => graph.entityId(name);

  const ask = townAsker('structgpt');

  describe('StructGPT', () => {
    test('picks a relation and judges the facts, hop by hop, until they suffice', async () => {
      const { answer, phases, asked } = await ask(wise);
      expect(phases).toEqual(['relation', 'judge', 'relation', 'judge']);
      expect(answer).toMatchObject({ stop: 'answered', verified: true, degraded: false, literals: [] });
      expect(new Set(answer.entities)).toEqual(new Set([id('Jon Weil'), id('Mia Kop')]));
      expect(asked[2]!.context).toEqual([{ label: 'Path', lines: ['Orla Brandt → ~purchased_by'] }]);
    });

    test('walks the given hops without a verdict, and answers with all reached entities', async () => {
      const { answer, phases } = await ask(wise, { byLikelihood: true, change: { hops: 2 } });
      expect(phases).toEqual(['relation', 'relation']);
      expect(answer).toMatchObject({ stop: 'hops', entities: [id('Jon Weil'), id('Mia Kop')] });
    });

    test('is shown no answers where it is asked for none: its examples are replies that could be given', async () => {
      for (const answers of ['frontier', 'model']) {
        const { asked } = await ask(wise, { answers });
        const judged = asked.filter(({ kind }) => kind === 'judge');
        expect(judged).toHaveLength(2);
        for (const decision of judged) {
          expect(checkExamples(decision)).toEqual([]);
          expect(/answers/.test(JSON.stringify(renderPrompt(decision)))).toBe(answers === 'model');
        }
      }
    });

    test('says nothing of how sure it is of what was written', async () => {
      const ways = { prefilter: 'bm25', keep: 1, hops: 'given', answers: 'model', change: { hops: 2 } };
      expect((await ask(wise, ways)).answer.confidence).toBeUndefined();
    });

    test('answers by the names of what it reached alone: a name inside another is none', async () => {
      const script = (decision: Decision) =>
        decision.kind === 'judge' && decision.evidence.length > 2
          ? { choice: 0, reason: '', answers: ['Jon', 'Mia Kop', 'Skarn'] }
          : wise(decision);
      const { answer } = await ask(script);
      expect(answer.entities).toEqual([id('Mia Kop')]);
      expect(answer.literals).toEqual(['Jon', 'Skarn']);
    });
  });

  describe('nodes that stand for an event', () => {
    const events = graphOf([
      ['Ada', 'played', 'm.0x1'],
      ['Ada', 'played', 'g.0x2'],
      ['m.0x1', 'role', 'Bat'],
      ['m.0x1', 'on', '1911-02-03'],
      ['g.0x2', 'role', 'Batman'],
    ]);
    const parts = initialFrontier([events.entityId('m.0x1'), events.entityId('g.0x2')]);
    const kept = (...phrases: string[]) =>
      [...heldBy(events, parts, phrases).entities].map((entity) => events.entityNames[entity]);

    test('are kept where their facts hold what the question names, whole names and years', () => {
      expect(kept('bat')).toEqual(['m.0x1']);
      expect(kept('batman')).toEqual(['g.0x2']);
      expect(kept('1911')).toEqual(['m.0x1']);
    });

    test('all stay where none of them holds any', () => {
      expect(kept('Robin')).toHaveLength(2);
      expect(kept()).toHaveLength(2);
    });
  });
});
