import { describe, expect, test } from '@jest/globals';
import { hasMorePaths, realPaths } from '../../../agents/prompted/gcr/gcr-agent.js';
import type { Decision, RewriteDecision } from '../../../src/llm/decision.js';
import { mostAnswers } from '../../../src/llm/decisions/forms/answer.js';
import { textQueries } from '../../../src/llm/decisions/likelihood/by-likelihood.js';
import { pathText } from '../../../src/llm/decisions/prompt-text.js';
import { readReply, replyFormat } from '../../../src/llm/decisions/reply-forms.js';
import { type Facts, type Ways, graphOf, townAsker, townFacts } from './clock-town.js';

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

describe('gcr', () => {
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
});
