import { describe, expect, test } from '@jest/globals';
import { hasMorePaths, realPaths } from '../../../agents/prompted/gcr/path-space.js';
import { questionAgents } from '../../../agents/question-agents.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { Decision } from '../../../src/llm/decision.js';
import { textQueries } from '../../../src/llm/decisions/likelihood/by-likelihood.js';
import { pathText } from '../../../src/llm/decisions/prompt-text.js';
import { replyFormat } from '../../../src/llm/decisions/reply-forms.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { graphOf, resourcesOf, taskOf, townFacts } from './clock-town.js';

const town = graphOf(townFacts);
const wanted = 'Orla Brandt → ~purchased_by → Tower Clock → repaired_by → Mia Kop';

/** Names the paths with the given texts, and answers with every tail of `repaired_by`. */
const reader = (texts: readonly string[]) => (decision: Decision) => {
  if (decision.kind === 'paths') {
    const paths = decision.allowed.flatMap((path, i) => (texts.includes(pathText(decision, path)) ? [i] : []));
    return paths.length > 0 ? { paths } : undefined;
  }
  const repairers = decision.evidence.filter(([, relation]) => relation === 'repaired_by').map(([, , tail]) => tail);
  return { answers: [...new Set(repairers)] };
};

async function ask(graph: Graph, texts: readonly string[], switches = {}, task = {}, budget = Infinity) {
  const agent = await questionAgents.create('gcr', resourcesOf(graph), switches);
  const client = scriptedClient(reader(texts), budget);
  const topics = [{ name: 'Orla Brandt', entity: graph.entityId('Orla Brandt') }];
  const answer = await agent.answer(taskOf({ topics, hops: 2, ...task }), { client, trace: () => {} });
  return { answer, names: answer.entities.map((entity) => graph.entityNames[entity]).sort(), asked: client.asked };
}

test('names real paths and answers from what their relations lead to, in two calls', async () => {
  const { answer, names, asked } = await ask(town, [wanted]);
  expect(asked.map(({ phase }) => phase)).toEqual(['paths', 'answer']);
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  expect(answer).toMatchObject({ stop: 'answered', degraded: false });
});

test('at the level of paths, answers from the named ones alone', async () => {
  expect((await ask(town, [wanted], { level: 'path' })).names).toEqual(['Mia Kop']);
});

test('every path that may be named is one of the graph, walked in either direction', async () => {
  const [decision] = (await ask(town, [wanted])).asked;
  if (decision?.kind !== 'paths') throw new TypeError('expected paths');
  expect(decision.allowed.length).toBeGreaterThan(1);
  for (const path of decision.allowed) {
    for (const triple of path) expect(town.edgeIndex(...triple)).toBeGreaterThanOrEqual(0);
  }
});

test('a question without any path is answered with nothing, and is there all the same', async () => {
  const { answer, asked } = await ask(town, [], {}, { topics: [{ name: 'x', entity: -1 }] });
  expect([answer.stop, answer.entities, asked.length]).toEqual(['no-topic', [], 0]);
  const builder = new GraphBuilder();
  builder.add('Orla Brandt', 'lives_in', 'Skarn');
  const lonely = builder.build('lonely', { addInverses: false });
  const nowhere = await ask(lonely, []);
  expect([nowhere.answer.stop, nowhere.answer.entities, nowhere.asked.length]).toEqual(['no-path', [], 0]);
});

test('what cannot be read is marked, and the budget is kept', async () => {
  expect((await ask(town, ['nothing'])).answer).toMatchObject({ stop: 'unparsed', degraded: true });
  const spent = await ask(town, [wanted], {}, {}, 1);
  expect([spent.answer.stop, spent.asked.length]).toEqual(['budget', 0]);
});

describe('a hub of ten thousand paths', () => {
  const builder = new GraphBuilder();
  for (let i = 0; i < 10_000; i++) {
    builder.add(`Clock ${i}`, 'purchased_by', 'Orla Brandt');
    builder.add(`Clock ${i}`, 'repaired_by', `Smith ${i % 500}`);
  }
  builder.add('Orla Brandt', 'lives_in', 'Skarn');
  builder.add('Skarn', 'lies_in', 'Vell');
  const hub = builder.build('hub', { addInverses: true });
  const repaired = ['~purchased_by', 'repaired_by'].map((name) => hub.relationId(name));
  const topics = [{ name: 'Orla Brandt', entity: hub.entityId('Orla Brandt') }];

  /** Chooses what ends with a repairer. */
  const repairs = (decision: Decision) => {
    if (decision.kind === 'chains') {
      return { chains: decision.allowed.filter((chain) => chain.join() === repaired.join()) };
    }
    if (decision.kind === 'paths') {
      return { paths: [...decision.allowed.keys()].filter((i) => decision.allowed[i]!.at(-1)![1] === repaired[1]) };
    }
    return { answers: decision.evidence.map(([, , tail]) => tail) };
  };
  async function asked(switches = {}, byLikelihood = false, budget = Infinity) {
    const agent = await questionAgents.create('gcr', resourcesOf(hub), switches);
    const client = scriptedClient(repairs, budget, byLikelihood);
    const answer = await agent.answer(taskOf({ topics, hops: 2 }), { client, trace: () => {} });
    const scored = client.asked.flatMap((decision) => (byLikelihood ? textQueries(decision)! : []));
    const texts = scored.reduce((sum, query) => sum + query.texts.length, 0);
    return { answer, kinds: client.asked.map(({ kind }) => kind), decisions: client.asked, texts };
  }

  test('is asked about by relation sequences, none of which is cut: all right answers are kept', async () => {
    const { answer, kinds, decisions, texts } = await asked({}, true);
    expect(kinds).toEqual(['chains']);
    expect(decisions[0]).toMatchObject({ allowed: expect.arrayContaining([repaired]) as unknown });
    expect(texts).toBeLessThan(10);
    expect([answer.stop, answer.entities.length]).toEqual(['frontier', 500]);
    expect((await asked()).kinds).toEqual(['chains', 'answer']);
  });

  test('is asked about by paths of the best sequences where single paths count: a bounded number of texts', async () => {
    const { answer, kinds, texts } = await asked({ level: 'path', beams: 1 }, true);
    expect(kinds).toEqual(['chains', 'paths']);
    expect(texts).toBeLessThanOrEqual(210);
    expect(answer.entities.length).toBeGreaterThan(0);
    expect(answer.chain).toEqual(repaired);
  });

  test('makes small grammars', async () => {
    const { decisions, kinds } = await asked({ level: 'path' });
    expect(kinds).toEqual(['chains', 'paths', 'answer']);
    for (const decision of decisions) {
      const format = replyFormat(decision);
      expect(JSON.stringify(format).length).toBeLessThan(60_000);
    }
  });

  test('keeps the budget', async () => {
    const spent = await asked({ level: 'path' }, false, 2);
    expect([spent.answer.stop, spent.kinds]).toEqual(['budget', ['chains']]);
    expect((await asked({}, true, 1)).answer.stop).toBe('frontier');
  });

  test('is one beyond a number that can be set; below it paths are named, some of every sequence', async () => {
    const { decisions } = await asked({ hub: 20_000 });
    const [decision] = decisions;
    if (decision?.kind !== 'paths') throw new TypeError('expected paths');
    expect(decision.allowed.length).toBeLessThanOrEqual(200);
    const texts = decision.allowed.map((path) => pathText(decision, path));
    expect(texts).toContain('Orla Brandt → lives_in → Skarn → lies_in → Vell');
    expect(texts.some((text) => text.includes('repaired_by'))).toBe(true);
    const topic = [topics[0]!.entity];
    expect(realPaths(hub, topic, topic, [repaired], 7)).toHaveLength(7);
    expect(hasMorePaths(hub, topic, topic, [repaired], 9999)).toBe(true);
    expect(hasMorePaths(hub, topic, topic, [repaired], 10_000)).toBe(false);
  });
});

test('of more sequences than paths may be named none is lost', async () => {
  const facts = Array.from({ length: 300 }, (_, i) => ['Orla Brandt', `relation ${i}`, `Thing ${i}`] as const);
  const wide = graphOf(facts);
  const last = [wide.relationId('relation 299')];
  const agent = await questionAgents.create('gcr', resourcesOf(wide), { answers: 'frontier' });
  const client = scriptedClient((decision) => {
    const found = decision.kind === 'chains' && decision.allowed.find((chain) => chain.join() === last.join());
    return found ? { chains: [found] } : undefined;
  });
  const own = [{ name: 'Orla Brandt', entity: wide.entityId('Orla Brandt') }];
  const answer = await agent.answer(taskOf({ topics: own, hops: 1 }), { client, trace: () => {} });
  expect(answer.entities.map((entity) => wide.entityNames[entity])).toEqual(['Thing 299']);
});
