import { describe, expect, test } from '@jest/globals';
import { questionAgents } from '../../../agents/question-agents.js';
import type { Decision } from '../../../src/llm/decision.js';
import { mostAnswers } from '../../../src/llm/decisions/forms/answer.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { graphOf, resourcesOf, taskOf, townFacts } from './clock-town.js';

const graph = graphOf(townFacts);
const topics = [{ name: 'Orla Brandt', entity: graph.entityId('Orla Brandt') }];
const chain = (...names: string[]) => names.map((name) => graph.relationId(name));
const right = chain('~purchased_by', 'repaired_by');

/** Plans what it is told to, and answers with every tail of `repaired_by`. */
const planner = (plans: number[][] | undefined) => (decision: Decision) => {
  if (decision.kind === 'chains') return plans && { chains: plans };
  const repairers = decision.evidence.filter(([, relation]) => relation === 'repaired_by').map(([, , tail]) => tail);
  return { answers: [...new Set(repairers)] };
};

async function ask(plans: number[][] | undefined, switches = {}, { budget = Infinity, task = {} } = {}) {
  const agent = await questionAgents.create('rog', resourcesOf(graph), switches);
  const client = scriptedClient(planner(plans), budget);
  const answer = await agent.answer(taskOf({ topics, hops: 2, ...task }), { client, trace: () => {} });
  return { answer, names: answer.entities.map((entity) => graph.entityNames[entity]).sort(), asked: client.asked };
}

test('plans, walks and answers from what was found, in two calls', async () => {
  const { answer, names, asked } = await ask([right]);
  expect(asked.map(({ phase }) => phase)).toEqual(['propose', 'answer']);
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  expect(answer).toMatchObject({ stop: 'answered', degraded: false, chain: right });
});

test('answers with everything that the first plan leads to where asked to, in one call', async () => {
  const { names, asked, answer } = await ask([right], { answers: 'frontier' });
  expect([asked.length, answer.stop]).toEqual([1, 'frontier']);
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
});

describe('nothing is answered by heart', () => {
  test('a plan that leads nowhere is marked as such', async () => {
    const { answer, asked } = await ask([chain('lives_in', 'repaired_by')], { vocabulary: 'all' });
    expect(asked.map(({ phase }) => phase)).toEqual(['propose']);
    expect(answer).toMatchObject({ stop: 'nowhere', degraded: true, entities: [], literals: [] });
  });

  test('neither without a readable plan, nor a topic, nor a call left', async () => {
    expect((await ask(undefined)).answer).toMatchObject({ stop: 'unparsed', degraded: true, entities: [] });
    expect((await ask([right], {}, { task: { topics: [] } })).answer).toMatchObject({ stop: 'no-topic' });
    const spent = await ask([right], {}, { budget: 1 });
    expect([spent.answer.stop, spent.asked.length]).toEqual(['budget', 0]);
  });
});

test('a plan that is not grounded may hold relations that lead nowhere, a grounded one may not', async () => {
  const offered = async (vocabulary: string) => {
    const [first] = (await ask([right], { vocabulary })).asked;
    return first!.kind === 'chains' ? first!.allowed.map(String) : [];
  };
  const nowhere = String(chain('lives_in', 'repaired_by'));
  expect(await offered('all')).toContain(nowhere);
  expect(await offered('reachable')).not.toContain(nowhere);
});

test('a name that two plans lead to is what the better one leads to', async () => {
  const twins = graphOf([...townFacts, ['Tower Clock', 'stands_in', 'JON WEIL']]);
  const sequence = (...names: string[]) => names.map((name) => twins.relationId(name));
  const plans = [sequence('~purchased_by', 'repaired_by'), sequence('~purchased_by', 'stands_in')];
  const agent = await questionAgents.create('rog', resourcesOf(twins));
  const own = [{ name: 'Orla Brandt', entity: twins.entityId('Orla Brandt') }];
  const client = scriptedClient((decision) =>
    decision.kind === 'chains' ? { chains: plans } : { answers: ['Jon Weil'] },
  );
  const { entities } = await agent.answer(taskOf({ topics: own, hops: 2 }), { client, trace: () => {} });
  expect(entities).toEqual([twins.entityId('Jon Weil')]);
});

test('a list that the form cut stands for all of the plan that it was read from, which is named', async () => {
  const many = Array.from({ length: 40 }, (_, i) => [`Smith ${i}`, 'lives_in', 'Skarn'] as const);
  const town = graphOf([...townFacts, ...many]);
  const sequence = (...names: string[]) => names.map((name) => town.relationId(name));
  const plans = [sequence('~purchased_by', 'repaired_by'), sequence('lives_in', '~lives_in')];
  const agent = await questionAgents.create('rog', resourcesOf(town));
  const own = [{ name: 'Orla Brandt', entity: town.entityId('Orla Brandt') }];
  const smiths = many.map(([smith]) => smith).slice(0, mostAnswers);
  const client = scriptedClient((decision) => (decision.kind === 'chains' ? { chains: plans } : { answers: smiths }));
  const answer = await agent.answer(taskOf({ topics: own, hops: 2 }), { client, trace: () => {} });
  expect(answer.chain).toEqual(plans[1]);
  expect(answer.entities).toHaveLength(40);
});
