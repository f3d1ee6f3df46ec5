import { env } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { questionAgents } from '../../../agents/question-agents.js';
import type { Decision, RewriteDecision } from '../../../src/llm/decision.js';
import { mostAnswers } from '../../../src/llm/decisions/forms/answer.js';
import { readReply } from '../../../src/llm/decisions/read-reply.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { importFilms } from '../../fixtures/toy-question-training.js';
import { graphOf, resourcesOf, taskOf, townFacts } from './clock-town.js';
import { meanOf, openOracleRun, worldOf } from './oracle-run.js';

useOwnHome();

const graph = graphOf(townFacts);
const topics = [{ name: 'Orla Brandt', entity: graph.entityId('Orla Brandt') }];
const chain = (...names: string[]) => names.map((name) => graph.relationId(name));
const right = chain('~purchased_by', 'repaired_by');

/** Makes the given plans, and answers with every tail of `repaired_by`. */
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

describe('nothing is answered from memory', () => {
  test('a plan that leads nowhere is marked as such', async () => {
    const { answer, asked } = await ask([chain('lives_in', 'repaired_by')], { vocabulary: 'graph' });
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
  expect(await offered('graph')).toContain(nowhere);
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

describe('plans in the model’s own words', () => {
  async function write(texts: string[] | undefined, switches = {}, budget = Infinity) {
    const agent = await questionAgents.create('rog', resourcesOf(graph), { vocabulary: 'free', ...switches });
    const script = (decision: Decision) => (decision.kind === 'rewrite' ? texts && { texts } : planner([])(decision));
    const client = scriptedClient(script, budget);
    const notes: string[] = [];
    const answer = await agent.answer(taskOf({ topics, hops: 2 }), {
      ...{ client, trace: (event) => void (event.event === 'note' && notes.push(event.text)) },
    });
    return { answer, names: answer.entities.map((id) => graph.entityNames[id]).sort(), asked: client.asked, notes };
  }

  test.each([
    '~purchased_by → repaired_by',
    'purchased by -> Repaired By',
    'some.domain.purchased_by, repaired_by',
    '"purchased_by" => "repaired_by"',
  ])('are walked along relations that read alike, in the direction that leads on: %s', async (plan) => {
    const { answer, names, asked, notes } = await write([plan]);
    expect(asked.map(({ phase }) => phase)).toEqual(['plan', 'answer']);
    expect([names, answer.chain, notes]).toEqual([['Jon Weil', 'Mia Kop'], right, []]);
  });

  test('name a direction by ~ alone', async () => {
    expect((await write(['~purchased_by → ~repaired_by'])).answer.stop).toBe('nowhere');
  });

  test('that name what the graph lacks cannot be followed, and are counted', async () => {
    const { answer, asked, notes } = await write(['bought_by → mended_by', 'lives_in → repaired_by']);
    expect([answer.stop, answer.degraded, answer.entities, asked.length]).toEqual(['nowhere', true, [], 1]);
    expect(notes).toEqual(['1 of 2 plans name what is no relation: bought_by, mended_by; 1 of 2 plans lead nowhere.']);
    const mixed = await write(['bought_by → mended_by', 'purchased_by → repaired_by']);
    expect(mixed.names).toEqual(['Jon Weil', 'Mia Kop']);
  });

  test('cannot be read, or afforded, or are longer than any walk', async () => {
    expect((await write(undefined)).answer).toMatchObject({ stop: 'unparsed', degraded: true });
    expect((await write(['purchased_by'], {}, 1)).answer.stop).toBe('budget');
    const loop = Array.from({ length: 40 }, () => 'lives_in').join(' → ');
    expect((await write([loop])).answer.stop).toBe('nowhere');
  });

  test('may be written as lists of relations', () => {
    const decision: RewriteDecision = {
      ...{ kind: 'rewrite', about: 'plan', phase: 'plan', questionId: 'q', question: 'who', task: 'Plan.' },
      ...{ examples: [], evidence: [], count: 3 },
    };
    const read = (text: string) => readReply(decision, text, { constrained: false })?.reply;
    const texts = ['a_b → c_d', 'e_f'];
    expect(read('{"texts":[["a_b","c_d"],["e_f"]]}')).toEqual({ texts });
    const long = [
      'people.person.sibling_s',
      'people.sibling_relationship.sibling',
      'people.person.spouse_s',
      'people.marriage.location_of_ceremony',
      'location.location.containedby',
    ];
    expect(read(JSON.stringify({ texts: [long] }))).toEqual({ texts: [long.join(' → ')] });
    expect(read('["a_b","c_d"]\n["e_f"]')).toEqual({ texts });
    expect(read('1. a_b → c_d\n2. e_f → g_h')).toEqual({ texts: ['a_b → c_d', 'e_f → g_h'] });
  });

  test('a relation of the whole name goes before others that end alike', async () => {
    const dotted = graphOf([
      ['Harbour Clock', 'town.clock.keeper', 'Orla Brandt'],
      ['Harbour Bell', 'town.bell.keeper', 'Orla Brandt'],
    ]);
    const own = [{ name: 'Orla Brandt', entity: dotted.entityId('Orla Brandt') }];
    const ends = async (plan: string) => {
      const switches = { vocabulary: 'free', plans: 5, answers: 'frontier' };
      const agent = await questionAgents.create('rog', resourcesOf(dotted), switches);
      const client = scriptedClient(() => ({ texts: [plan] }));
      const found = await agent.answer(taskOf({ topics: own, hops: 1 }), { client, trace: () => {} });
      return [found.entities.map((id) => dotted.entityNames[id]), found.evidence.length];
    };
    expect(await ends('town.bell.keeper')).toEqual([['Harbour Bell'], 1]);
    expect(await ends('keeper')).toEqual([['Harbour Clock'], 2]);
  });
});

test.each(['graph', 'free'])(
  'where words are scored, %s plans over all relations, and what reads alike is one plan',
  async (vocabulary) => {
    const agent = await questionAgents.create('rog', resourcesOf(graph), { vocabulary, plans: 1 });
    const first = chain('purchased_by', '~repaired_by');
    const script = (decision: Decision) => {
      if (decision.kind !== 'chains') return undefined;
      const alike = (one: readonly number[]) =>
        one.every(
          (id, i) => graph.relationNames[id]!.replace('~', '') === graph.relationNames[first[i]!]!.replace('~', ''),
        );
      return { chains: decision.allowed.toSorted((a, b) => Number(alike(b)) - Number(alike(a))) };
    };
    const client = scriptedClient(script, Infinity, true);
    const answer = await agent.answer(taskOf({ topics, hops: 2 }), { client, trace: () => {} });
    expect(client.asked.map(({ kind }) => kind)).toEqual(['chains']);
    const [asked] = client.asked;
    if (asked?.kind === 'chains') expect(asked.allowed).toHaveLength(graph.numRelations ** 2);
    expect([answer.stop, answer.chain]).toEqual(['frontier', right]);
  },
);

test.each(['graph', 'free'])('a model that never errs plans rightly over %s, in either mode', async (vocabulary) => {
  await importFilms();
  const world = await worldOf('films', ['1-hop', '2-hop'], { home: env.KGWALK_HOME! });
  for (const choices of ['written', 'likelihood'] as const) {
    const done = await (await openOracleRun('rog', world, { choices, switches: { vocabulary } })).run();
    expect(meanOf(done.rows, ({ metrics }) => metrics.complete!)).toBe(1);
    const half = await (await openOracleRun('rog', world, { choices, switches: { vocabulary }, error: 0.5 })).run();
    expect(meanOf(half.rows, ({ metrics }) => metrics.complete!)).toBeLessThan(0.95);
  }
});
