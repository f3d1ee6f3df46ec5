/** Bugs of prompts and of their readers, by their ids in the catalogue, on what every prompted agent really asks. */
import { describe, expect, test } from '@jest/globals';
import { arkAgent, arkPrompts } from '../../agents/prompted/ark/ark-agent.js';
import { questionAgents } from '../../agents/question-agents.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { runSettings } from '../../presets/index.js';
import type { Decision } from '../../src/llm/decision.js';
import { checkExamples } from '../fixtures/check-examples.js';
import { readReply } from '../../src/llm/decisions/reply-forms.js';
import { renderPrompt } from '../../src/llm/decisions/render-prompt.js';
import { graphOf, resourcesOf, taskOf, townFacts } from '../agents/prompted/clock-town.js';
import { answerDecision, candidates, chooseOneDecision, judgeDecision } from '../fixtures/sample-decisions.js';
import { scriptedClient } from '../fixtures/scripted-client.js';

const graph = graphOf(townFacts);
const start = graph.entityId('Orla Brandt');

/** Continues as far as possible, never satisfied: so every phase occurs. */
function restless(decision: Decision): unknown {
  switch (decision.kind) {
    case 'score':
      return { scores: decision.candidates.map(() => 5) };
    case 'judge':
      return { choice: -1, reason: 'Not yet.', answers: [] };
    case 'extract':
      return { items: ['Orla Brandt', 'bought', 'repaired'] };
    case 'match':
      return {
        matches: decision.candidates.map((_, candidate) => ({ candidate, target: 0, score: 9 })),
      };
    case 'chains':
      return { chains: decision.allowed.slice(0, decision.count) };
    case 'rewrite':
      return { texts: [decision.question, 'Orla Brandt lives somewhere'].slice(0, decision.count) };
    case 'paths':
      return { paths: [...decision.allowed.keys()].slice(0, decision.count) };
    case 'answer':
      return { answers: [] };
    default:
      return { choice: 0, choices: [0] };
  }
}

/** Every decision that prompted agents make on the town, by questions and statements, with what may be read and what may not. */
async function everyDecision(): Promise<Decision[]> {
  const asked: Decision[] = [];
  const variants = [
    ...['io', 'cot', 'fiske', 'self-veqa', 'rog', 'gcr', 'structgpt', 'kg-gpt', 'pog', 'knowledge-navigator'].map(
      (name) => ({ name, switches: {} }),
    ),
    { name: 'kg-gpt', switches: { direction: 'kept' } },
    { name: 'pog', switches: { answers: 'frontier' } },
    { name: 'knowledge-navigator', switches: { union: 'entity', direction: 'kept', aggregate: false } },
    { name: 'structgpt', switches: { answers: 'frontier' } },
    ...['triples', 'cot'].map((finalPolicy) => ({ name: 'tog', switches: { finalPolicy, depth: 2, width: 9 } })),
    { name: 'self-veqa', switches: { verifier: 'reference' } },
    { name: 'rog', switches: { vocabulary: 'free' } },
    { name: 'gcr', switches: { hub: 1, level: 'path' } },
    { name: 'reader', switches: { walker: 'any' } },
    { name: 'reader', switches: { walker: 'any', answers: 'frontier' } },
  ];
  const walks = [['lives_in'], ['~purchased_by', 'repaired_by']].map((names) => ({
    ...{ relations: names.map((relation) => graph.relationId(relation)), probability: 0.5 },
  }));
  const walker = () => {
    return Promise.resolve({ prepare: async () => {}, shares: async () => undefined, walks: async () => walks });
  };
  const topics = [{ name: 'Orla Brandt', entity: start, span: [29, 40] as const }];
  for (const { name, switches } of variants) {
    for (const form of ['entities', 'truth'] as const) {
      for (const script of [restless, (decision: Decision) => decision.kind === 'extract' && { items: ['Nobody'] }]) {
        const agent = await questionAgents.create(name, { ...resourcesOf(graph), walker }, switches);
        const client = scriptedClient((decision) => script(decision) || undefined);
        await agent.answer(taskOf({ topics, hops: 2, form }), { client, trace: () => {} });
        asked.push(...client.asked);
      }
    }
  }
  const task: WalkTask = {
    ...{ id: 'd#1', dialogueId: 'd', sender: 'assistant', start, startName: 'Orla Brandt' },
    messages: ['Hello.', 'Who repaired it?'].map((text) => ({ sender: 'user', text })),
    earlierPaths: [[[start, graph.relationId('lives_in'), graph.entityId('Skarn')]]],
  };
  for (const prompt of arkPrompts) {
    const client = scriptedClient(restless);
    const clientFor = () => ({ client, cost: () => ({}) });
    await arkAgent(prompt, { graph, clientFor, beamWidth: 5 }).answer([task]);
    asked.push(...client.asked);
  }
  return asked;
}

const asked = await everyDecision();

describe('what prompted agents ask', () => {
  test('is here of every phase', () => {
    expect([...new Set(asked.map(({ phase }) => phase))].sort()).toEqual(
      [
        ...['io', 'cot', 'ark-standard', 'ark-normal', 'ark-opa'],
        ...['relation-prune', 'entity-prune', 'judge', 'answer', 'direct-answer'],
        ...['clues', 'relation-map', 'entity-map', 'propose', 'verify', 'paths', 'relation'],
        ...['split', 'relations', 'objectives', 'entities', 'memory', 'reflect', 'walk'],
        ...['paraphrase', 'relation-2', 'relation-3', 'plan'],
      ].sort(),
    );
    const prompted = [
      ...['io', 'cot', 'tog', 'fiske', 'self-veqa', 'rog', 'gcr', 'structgpt', 'kg-gpt', 'pog'],
      ...['knowledge-navigator', 'reader'],
    ];
    expect(questionAgents.names().filter((name) => !/-chain|^template-|^embedding-walk$/.test(name))).toEqual(prompted);
  });

  test('B-TOG-1, B-KGGPT-1: has examples, each of which the parser reads as the reply that it shows', () => {
    for (const decision of asked) {
      expect(decision.examples.length).toBeGreaterThan(0);
      expect(checkExamples(decision)).toEqual([]);
    }
  });

  test('B-TOG-8: has no placeholder, and every part on separate lines', () => {
    for (const decision of asked) {
      const { head, body } = renderPrompt(decision);
      const words = `${decision.task}\n${decision.examples.map((example) => JSON.stringify(example)).join('\n')}`;
      expect(words).not.toMatch(/undefined|null|NaN|\[object|%s|\$\{|\{\d*\}|\{\w+\}|<\w+>/);
      expect(`${head}${body}`).toMatch(/\n\nTask\nQuestion: .*\n(?:.*\n)*Reply with JSON only\..*\nReply:$/);
      expect(`${head}${body}`).not.toMatch(/\S(?:Question:|Facts:|Candidates:|Reply:)|Reply: *\S.*Question:/);
    }
  });

  test('B-TOG-8: speaks of facts only where there are some', () => {
    for (const { phase, task, kind, examples } of asked) {
      const shown = examples.some(({ evidence = [] }) => evidence.length > 0);
      if (kind === 'answer' && /from the facts/.test(task)) expect([phase, shown]).toEqual([phase, true]);
      if (kind === 'answer' && /from what you know/.test(task)) expect([phase, shown]).toEqual([phase, false]);
    }
  });
});

describe('B-SGPT-1: a reply is denied by whole words', () => {
  const read = (decision: Decision, text: string) => readReply(decision, text, { constrained: false })?.reply;
  const names = [
    ...['Norway', 'Noah', 'Nobody Knows', 'None Shall Escape', 'And Then There Were None'],
    ...['Unknown Pleasures', 'The Unknown', 'Nowhere', 'False River'],
  ];

  test.each(names)('%s is an answer', (name) => {
    for (const text of [name, `Answer: ${name}`, JSON.stringify({ answer: name }), `1. ${name}`]) {
      expect(read(answerDecision(), text)).toEqual({ answers: [name] });
    }
    const decision = chooseOneDecision({ candidates: candidates('owns', name), allowNone: true });
    for (const text of [name, name.toLowerCase()]) expect(read(decision, text)).toEqual({ choice: 1 });
  });

  test('a verdict is none where it only begins like one', () => {
    for (const text of ['Nominated ships are listed.', 'Noted.', 'Yesterday it sailed.']) {
      expect(read(judgeDecision(), text)).toBeUndefined();
      expect(read(answerDecision({ form: 'truth' }), text)).toBeUndefined();
    }
    expect(read(judgeDecision(), 'No, too few.')).toMatchObject({ choice: -1 });
    expect(read(answerDecision({ form: 'truth' }), 'No, it does not.')).toEqual({ answers: ['false'] });
  });

  // Taking letters off instead of a prefix or an ending would eat the names.
  test.each(['Answersmith', 'Output', 'Repo Man', 'JSON', 'Anna', 'a', 'response', 'swan'])(
    'nothing is taken off %s with what stands around it',
    (name) => {
      for (const text of [
        `Answer: ${name}`,
        `Output: ${name}`,
        `A: ${name}`,
        `\`\`\`\n${name}\n\`\`\``,
        `${name}</s>`,
      ]) {
        expect(read(answerDecision(), text)).toEqual({ answers: [name] });
      }
    },
  );
});

test('B-SGPT-1: an agent continues to its depth while the facts do not suffice', async () => {
  for (const depth of [1, 2, 3]) {
    const agent = await questionAgents.create('tog', resourcesOf(graph), { depth, width: 9 });
    const client = scriptedClient(restless);
    const topics = [{ name: 'Orla Brandt', entity: start }];
    await agent.answer(taskOf({ topics }), { client, trace: () => {} });
    expect(client.asked.filter(({ phase }) => phase === 'judge')).toHaveLength(depth);
  }
});

describe('B-TOG-9: defaults', () => {
  test('of every agent’s switches are values that the switches take', () => {
    for (const name of questionAgents.names()) {
      const defaults = questionAgents.settings(name, {});
      expect(questionAgents.settings(name, defaults)).toEqual(defaults);
      for (const [key, value] of Object.entries(defaults)) {
        if (typeof value === 'number')
          expect(() => questionAgents.settings(name, { [key]: String(value) })).toThrow(/switches/);
        if (typeof value === 'boolean')
          expect(() => questionAgents.settings(name, { [key]: 'False' })).toThrow(/switches/);
      }
    }
  });

  test('of every setting of a run are values that the setting takes', () => {
    const defaults = runSettings.parse({});
    expect(runSettings.parse(defaults)).toEqual(defaults);
  });
});
