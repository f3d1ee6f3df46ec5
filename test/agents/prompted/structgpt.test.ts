import { describe, expect, test } from '@jest/globals';
import { questionAgents } from '../../../agents/question-agents.js';
import { heldBy } from '../../../agents/prompted/structgpt/structgpt-agent.js';
import { initialFrontier } from '../../../src/kg/frontier.js';
import type { Decision } from '../../../src/llm/decision.js';
import { renderPrompt } from '../../../src/llm/decisions/render-prompt.js';
import { checkExamples } from '../../fixtures/check-examples.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { graphOf, resourcesOf, taskOf, townFacts } from './clock-town.js';

const graph = graphOf(townFacts);
const id = (name: string) => graph.entityId(name);
const task = taskOf({ topics: [{ name: 'Orla Brandt', entity: id('Orla Brandt'), span: [29, 40] }] });

/** Follows `~purchased_by`, then `repaired_by`; is content with the second. */
function wise(decision: Decision): unknown {
  if (decision.kind === 'choose-one') {
    return { choice: decision.candidates.findIndex(({ text }) => ['~purchased_by', 'repaired_by'].includes(text)) };
  }
  if (decision.kind === 'judge') {
    const repairers = decision.evidence.filter(([, relation]) => relation === 'repaired_by').map(([, , tail]) => tail);
    const choice = repairers.length > 0 ? 0 : -1;
    return { choice, reason: 'nominated', answers: decision.withAnswers ? [...new Set(repairers)] : [] };
  }
  return { answers: ['Mia Kop'] };
}

interface Ways {
  budget?: number;
  byLikelihood?: boolean;
  change?: Partial<typeof task>;
  [name: string]: unknown;
}

async function ask(script: (decision: Decision) => unknown, { budget, byLikelihood, change, ...switches }: Ways = {}) {
  const client = scriptedClient(script, budget, byLikelihood);
  const agent = await questionAgents.create('structgpt', resourcesOf(graph), switches);
  const answer = await agent.answer({ ...task, ...change }, { client, trace: () => {} });
  return { answer, asked: client.asked, phases: client.asked.map(({ phase }) => phase) };
}

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

  test('takes the one relation that the pre-filter leaves without a call', async () => {
    const { phases } = await ask(wise, { prefilter: 'bm25', keep: 1 });
    expect(phases).not.toContain('relation');
  });

  test('is as sure of what the pre-filter alone left as that was, and of what was written it says nothing', async () => {
    const ways = { prefilter: 'bm25', keep: 1, hops: 'given', change: { hops: 2 } };
    const { confidence } = (await ask(wise, { ...ways, answers: 'frontier' })).answer;
    expect(confidence).toBeGreaterThan(0);
    expect(confidence).toBeLessThan(1);
    expect((await ask(wise, { ...ways, answers: 'model' })).answer.confidence).toBeUndefined();
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

  test('a spent budget leads to the answer on the reserved call', async () => {
    const { answer, phases } = await ask(wise, { budget: 3 });
    expect(phases).toEqual(['relation', 'judge', 'answer']);
    expect(answer).toMatchObject({ stop: 'budget', entities: [id('Mia Kop')] });
  });

  test('replies that cannot be read, and a question without a topic, are answered for all that', async () => {
    const unread = await ask(() => undefined);
    expect(unread.answer).toMatchObject({ stop: 'unread', degraded: true, entities: [] });
    const lost = await ask(wise, { change: { topics: [] } });
    expect(lost.answer).toMatchObject({ stop: 'no-topic', entities: [id('Mia Kop')] });
    expect(lost.phases).toEqual(['answer']);
  });

  test('a statement holds where it names something reached', async () => {
    const question = 'true or false: Mia Kop repaired a clock that Orla Brandt bought';
    const change = {
      question,
      form: 'truth',
      hops: 2,
      topics: [{ name: 'Orla Brandt', entity: id('Orla Brandt') }],
    } as const;
    expect((await ask(wise, { change, hops: 'given', answers: 'frontier' })).answer.truth).toBe(true);
    const other = { ...change, question: question.replace('Mia Kop', 'Ida Rem') };
    expect((await ask(wise, { change: other, hops: 'given', answers: 'frontier' })).answer.truth).toBe(false);
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
