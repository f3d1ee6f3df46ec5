import { describe, expect, test } from '@jest/globals';
import type { Decision, RewriteDecision } from '../../../src/llm/decision.js';
import { mostAnswers } from '../../../src/llm/decisions/forms/answer.js';
import { readReply } from '../../../src/llm/decisions/read-reply.js';
import { type Facts, graphOf, townAsker, townFacts, type Ways } from './clock-town.js';

const graph = graphOf(townFacts);
const chain = (...names: string[]) => names.map((name) => graph.relationId(name));
const right = chain('~purchased_by', 'repaired_by');

/** Makes the given plans, and answers with every tail of `repaired_by`. */
const planner = (plans: number[][] | undefined) => (decision: Decision) => {
  if (decision.kind === 'chains') return plans && { chains: plans };
  const repairers = decision.evidence.filter(([, relation]) => relation === 'repaired_by').map(([, , tail]) => tail);
  return { answers: [...new Set(repairers)] };
};

const townAsk = townAsker('rog', { hops: 2 });
const ask = (plans: number[][] | undefined, switches: Ways = {}) => townAsk(planner(plans), switches);

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
    expect((await ask([right], { change: { topics: [] } })).answer).toMatchObject({ stop: 'no-topic' });
    const spent = await ask([right], { budget: 1 });
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
  const facts: Facts = [...townFacts, ['Tower Clock', 'stands_in', 'JON WEIL']];
  const twins = graphOf(facts);
  const plans = ['repaired_by', 'stands_in'].map((last) => ['~purchased_by', last].map((one) => twins.relationId(one)));
  const script = ({ kind }: Decision) => (kind === 'chains' ? { chains: plans } : { answers: ['Jon Weil'] });
  expect((await townAsk(script, { facts })).answer.entities).toEqual([twins.entityId('Jon Weil')]);
});

test('a list that the form cut stands for all of the plan that it was read from, which is named', async () => {
  const many = Array.from({ length: 40 }, (_, i) => [`Smith ${i}`, 'lives_in', 'Skarn'] as const);
  const facts = [...townFacts, ...many];
  const town = graphOf(facts);
  const plans = [
    ['~purchased_by', 'repaired_by'],
    ['lives_in', '~lives_in'],
  ].map((plan) => plan.map((one) => town.relationId(one)));
  const smiths = many.map(([smith]) => smith).slice(0, mostAnswers);
  const script = ({ kind }: Decision) => (kind === 'chains' ? { chains: plans } : { answers: smiths });
  const { answer } = await townAsk(script, { facts });
  expect(answer.chain).toEqual(plans[1]);
  expect(answer.entities).toHaveLength(40);
});

describe('plans in the model’s own words', () => {
  const write = async (texts: string[] | undefined, switches: Ways = {}) => {
    const script = (decision: Decision) => (decision.kind === 'rewrite' ? texts && { texts } : planner([])(decision));
    const asked = await townAsk(script, { vocabulary: 'free', ...switches });
    return { ...asked, notes: asked.events.flatMap((event) => (event.event === 'note' ? event.text : [])) };
  };

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
    expect((await write(['purchased_by'], { budget: 1 })).answer.stop).toBe('budget');
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
    const facts: Facts = [
      ['Harbour Clock', 'town.clock.keeper', 'Orla Brandt'],
      ['Harbour Bell', 'town.bell.keeper', 'Orla Brandt'],
    ];
    const ends = async (plan: string) => {
      const { names, answer } = await write([plan], { facts, plans: 5, answers: 'frontier', change: { hops: 1 } });
      return [names, answer.evidence.length];
    };
    expect(await ends('town.bell.keeper')).toEqual([['Harbour Bell'], 1]);
    expect(await ends('keeper')).toEqual([['Harbour Clock'], 2]);
  });
});

test.each(['graph', 'free'])(
  'where words are scored, %s plans over all relations, and what reads alike is one plan',
  async (vocabulary) => {
    const first = chain('purchased_by', '~repaired_by');
    const script = (decision: Decision) => {
      if (decision.kind !== 'chains') return undefined;
      const alike = (one: readonly number[]) =>
        one.every(
          (id, i) => graph.relationNames[id]!.replace('~', '') === graph.relationNames[first[i]!]!.replace('~', ''),
        );
      return { chains: decision.allowed.toSorted((a, b) => Number(alike(b)) - Number(alike(a))) };
    };
    const { answer, asked } = await townAsk(script, { vocabulary, plans: 1, byLikelihood: true });
    expect(asked).toMatchObject([{ kind: 'chains' }]);
    if (asked[0]?.kind === 'chains') expect(asked[0].allowed).toHaveLength(graph.numRelations ** 2);
    expect([answer.stop, answer.chain]).toEqual(['frontier', right]);
  },
);
