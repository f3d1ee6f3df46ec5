import { expect, test } from '@jest/globals';
import { realPaths } from '../../../agents/prompted/gcr/path-space.js';
import { questionAgents } from '../../../agents/question-agents.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { Decision } from '../../../src/llm/decision.js';
import { pathText } from '../../../src/llm/decisions/prompt-text.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { graphOf, resourcesOf, taskOf, townFacts } from './clock-town.js';

const town = graphOf(townFacts);
const wanted = 'Orla Brandt → ~purchased_by → Tower Clock → repaired_by → Mia Kop';

/** Names the paths whose texts it is told, and answers with every tail of `repaired_by`. */
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

test('of a hub of ten thousand paths as many are offered as may be, of every sequence some', async () => {
  const builder = new GraphBuilder();
  for (let i = 0; i < 10_000; i++) {
    builder.add(`Clock ${i}`, 'purchased_by', 'Orla Brandt');
    builder.add(`Clock ${i}`, 'repaired_by', `Smith ${i % 500}`);
  }
  builder.add('Orla Brandt', 'lives_in', 'Skarn');
  builder.add('Skarn', 'lies_in', 'Vell');
  const hub = builder.build('hub', { addInverses: true });
  const { asked } = await ask(hub, []);
  const [decision] = asked;
  if (decision?.kind !== 'paths') throw new TypeError('expected paths');
  expect(decision.allowed.length).toBeLessThanOrEqual(200);
  const texts = decision.allowed.map((path) => pathText(decision, path));
  expect(texts).toContain('Orla Brandt → lives_in → Skarn → lies_in → Vell');
  expect(texts.some((text) => text.includes('repaired_by'))).toBe(true);
  const topic = [hub.entityId('Orla Brandt')];
  const chain = ['~purchased_by', 'repaired_by'].map((name) => hub.relationId(name));
  expect(realPaths(hub, topic, topic, [chain], 7)).toHaveLength(7);
});
