import { describe, expect, test } from '@jest/globals';
import { heldBy } from '../../../agents/prompted/structgpt/structgpt-agent.js';
import { initialFrontier } from '../../../src/kg/frontier.js';
import type { Decision } from '../../../src/llm/decision.js';
import { renderPrompt } from '../../../src/llm/decisions/render-prompt.js';
import { checkExamples } from '../../fixtures/check-examples.js';
import { graphOf, townAsker, townFacts, wise } from './clock-town.js';

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
