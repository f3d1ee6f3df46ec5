import { describe, expect, test } from '@jest/globals';
import { hasMorePaths, realPaths } from '../../../agents/prompted/gcr/gcr-agent.js';
import type { Decision } from '../../../src/llm/decision.js';
import { textQueries } from '../../../src/llm/decisions/likelihood/by-likelihood.js';
import { pathText } from '../../../src/llm/decisions/prompt-text.js';
import { replyFormat } from '../../../src/llm/decisions/reply-forms.js';
import { type Facts, graphOf, townAsker, townFacts, type Ways } from './clock-town.js';

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

const townAsk = townAsker('gcr', { hops: 2 });
const ask = (texts: readonly string[], ways: Ways = {}) => townAsk(reader(texts), ways);

test('names real paths and answers from what their relations lead to, in two calls', async () => {
  const { answer, names, asked } = await ask([wanted]);
  expect(asked.map(({ phase }) => phase)).toEqual(['paths', 'answer']);
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  expect(answer).toMatchObject({ stop: 'answered', degraded: false });
});

test('at the level of paths, answers from the named ones alone', async () => {
  expect((await ask([wanted], { level: 'path' })).names).toEqual(['Mia Kop']);
});

test('every path that may be named is one of the graph, walked in either direction', async () => {
  const [decision] = (await ask([wanted])).asked;
  if (decision?.kind !== 'paths') throw new TypeError('expected paths');
  expect(decision.allowed.length).toBeGreaterThan(1);
  for (const path of decision.allowed) {
    for (const triple of path) expect(town.edgeIndex(...triple)).toBeGreaterThanOrEqual(0);
  }
});

test('a question without any path is answered with nothing, and is there all the same', async () => {
  const { answer, asked } = await ask([], { change: { topics: [{ name: 'x', entity: -1 }] } });
  expect([answer.stop, answer.entities, asked.length]).toEqual(['no-topic', [], 0]);
  const nowhere = await ask([], { facts: [['Orla Brandt', 'lives_in', 'Skarn']] });
  expect([nowhere.answer.stop, nowhere.answer.entities, nowhere.asked.length]).toEqual(['no-path', [], 0]);
});

test('what cannot be read is marked, and the budget is kept', async () => {
  expect((await ask(['nothing'])).answer).toMatchObject({ stop: 'unparsed', degraded: true });
  const spent = await ask([wanted], { budget: 1 });
  expect([spent.answer.stop, spent.asked.length]).toEqual(['budget', 0]);
});

describe('a hub of ten thousand paths', () => {
  const facts: Facts = [
    ...Array.from({ length: 10_000 }, (_, i): Facts => [
      [`Clock ${i}`, 'purchased_by', 'Orla Brandt'],
      [`Clock ${i}`, 'repaired_by', `Smith ${i % 500}`],
    ]).flat(),
    ['Orla Brandt', 'lives_in', 'Skarn'],
    ['Skarn', 'lies_in', 'Vell'],
  ];
  const hub = graphOf(facts);
  const repaired = ['~purchased_by', 'repaired_by'].map((name) => hub.relationId(name));

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
    const { answer, asked: decisions } = await townAsk(repairs, { ...switches, facts, byLikelihood, budget });
    const scored = decisions.flatMap((decision) => (byLikelihood ? textQueries(decision)! : []));
    const texts = scored.reduce((sum, query) => sum + query.texts.length, 0);
    return { answer, kinds: decisions.map(({ kind }) => kind), decisions, texts };
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
    const topic = [hub.entityId('Orla Brandt')];
    expect(realPaths(hub, topic, topic, [repaired], 7)).toHaveLength(7);
    expect(hasMorePaths(hub, topic, topic, [repaired], 9999)).toBe(true);
    expect(hasMorePaths(hub, topic, topic, [repaired], 10_000)).toBe(false);
  });
});

test('of more sequences than paths may be named none is lost', async () => {
  const facts = Array.from({ length: 300 }, (_, i) => ['Orla Brandt', `relation ${i}`, `Thing ${i}`] as const);
  const last = String(graphOf(facts).relationId('relation 299'));
  const script = (decision: Decision) => {
    const found = decision.kind === 'chains' && decision.allowed.find((chain) => chain.join() === last);
    return found ? { chains: [found] } : undefined;
  };
  const { names } = await townAsk(script, { facts, answers: 'frontier', change: { hops: 1 } });
  expect(names).toEqual(['Thing 299']);
});
