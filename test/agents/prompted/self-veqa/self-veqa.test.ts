import { describe, expect, test } from '@jest/globals';
import { scriptedClient } from '../../../fixtures/scripted-client.js';
import { ask, chainOf, graph, relation, townAgent, townTask } from './town-asker.js';

const repaired = chainOf('~purchased_by', 'repaired_by');
const stands = chainOf('~purchased_by', 'stands_in');
const lives = chainOf('~purchased_by', 'purchased_by');
const lines = (context: readonly { label: string; lines: readonly string[] }[] = [], label: string) =>
  context.find((block) => block.label.startsWith(label))?.lines ?? [];

test('one round: chains are proposed, executed, and one is chosen with all it leads to', async () => {
  const { answer, names, phases, judgements } = await ask({ rounds: [[stands, repaired]] });
  expect(phases).toEqual(['propose', 'verify']);
  // Two clocks lead to Jon Weil, one to Mia Kop.
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  expect(answer).toMatchObject({ verified: true, degraded: false, stop: 'verified', chain: repaired });
  expect(answer.evidence).toContainEqual(['Tower Clock', 'repaired_by', 'Mia Kop']);
  expect(judgements[0]!.candidates.map(({ text }) => text)).toEqual([
    'Orla Brandt → ~purchased_by → stands_in → Vell (1)',
    'Orla Brandt → ~purchased_by → repaired_by → Jon Weil; Mia Kop (2)',
  ]);
});

test('only chains that exist from the topic may be written, and none that is followed by nothing but the topic', async () => {
  const { proposals } = await ask({ rounds: [[repaired]] });
  // Who bought the clocks is the topic, which never comes back.
  expect(proposals[0]!.allowed).toEqual([repaired, stands].sort((a, b) => a[1]! - b[1]!));
  expect(proposals[0]!.allowed).not.toContainEqual(lives);
  expect(proposals[0]).toMatchObject({ hops: 2, count: 2 });
});

test('a rejected round hands its critique on, and what was tried cannot be written again', async () => {
  const { answer, names, proposals, phases } = await ask({ rounds: [[stands], [repaired]] }, { chains: 1 });
  expect(phases).toEqual(['propose', 'verify', 'propose', 'verify']);
  expect(proposals[1]!.allowed).toEqual([repaired]);
  expect(lines(proposals[1]!.context, 'Tried')).toEqual(['~purchased_by → stands_in']);
  expect(lines(proposals[1]!.context, 'What was wrong')).toEqual(['No chain ends at who repaired them.']);
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  expect(answer.verified).toBe(true);
});

describe('length of chains', () => {
  test('any, if it is not given', async () => {
    const { proposals } = await ask({ rounds: [[repaired]] }, { hops: 'none', maxHops: 2 });
    expect(new Set(proposals[0]!.allowed.map(({ length }) => length))).toEqual(new Set([1, 2]));
  });

  test('more chains than the grammar may hold are cut to those most like the question', async () => {
    const { proposals, events } = await ask({ rounds: [[repaired]] }, { hops: 'none', maxChains: 3 });
    expect(proposals[0]!.allowed).toHaveLength(3);
    expect(events).toContainEqual({ event: 'note', text: 'only the 3 chains most like the question may be written' });
    const blind = { memory: 'off', triples: 0, hops: 'none', maxChains: 3 };
    const { events: noted } = await ask({ rounds: [[repaired]] }, blind);
    expect(noted).toContainEqual({ event: 'note', text: 'only the first 3 chains by id may be written' });
  });
});

describe('vocabulary', () => {
  test('of the examples alone', async () => {
    const { proposals } = await ask({ rounds: [[repaired]] }, { vocabulary: 'examples', shots: 1 });
    expect(proposals[0]!.allowed).toEqual([repaired]);
    expect(lines(proposals[0]!.context, 'Relations')).toEqual([]);
  });

  test('all relations: chains that lead nowhere get a critique without a call', async () => {
    const nowhere = chainOf('~purchased_by', 'lives_in');
    const { phases, proposals, names } = await ask(
      { rounds: [[nowhere], [repaired]] },
      { vocabulary: 'all', chains: 1 },
    );
    expect(phases).toEqual(['propose', 'propose', 'verify']);
    expect(lines(proposals[1]!.context, 'What was wrong')).toEqual([
      '~purchased_by → lives_in leads nowhere at lives_in.',
    ]);
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  });

  test('all relations of a graph that has too many is an error', async () => {
    await expect(ask({ rounds: [[]] }, { vocabulary: 'all', maxChains: 10 })).rejects.toThrow('at most maxChains = 10');
  });
});

describe('facts for the verifier', () => {
  test('are those around the topic that read most like the question', async () => {
    const { judgements } = await ask({ rounds: [[repaired]] }, { triples: 2 });
    expect(judgements[0]!.evidence).toHaveLength(2);
    expect(judgements[0]!.evidence.flat()).not.toContain('Sten Holm');
  });

  test('none are shown without any', async () => {
    const { judgements } = await ask({ rounds: [[repaired]] }, { triples: 0, memory: 'off' });
    expect(judgements[0]!.evidence).toEqual([]);
  });
});

test('a statement holds where it names what the chain leads to', async () => {
  const stated = async (name: string) => {
    const question = `true or false: ${name} repaired the clocks that Orla Brandt bought`;
    const begin = question.indexOf('Orla');
    const topics = [{ ...townTask.topics[0]!, span: [begin, begin + 11] as const }];
    return (await ask({ rounds: [[repaired]] }, { task: { form: 'truth', question, topics } })).answer;
  };
  expect(await stated('Mia Kop')).toMatchObject({ truth: true, entities: [] });
  expect(await stated('Ida Rem')).toMatchObject({ truth: false, entities: [] });
});

describe('ends', () => {
  test('without the verifier the first chain that leads anywhere counts', async () => {
    const { answer, phases } = await ask({ rounds: [[stands, repaired]] }, { verify: false });
    expect(phases).toEqual(['propose']);
    expect(answer).toMatchObject({ chain: stands, stop: 'unverified' });
    expect(answer.verified).toBeUndefined();
  });

  test('rounds without an accepted chain fall back on the first of those most agreed on', async () => {
    const none = () => ({ choice: -1, reason: '', answers: [] });
    const { answer } = await ask({ rounds: [[stands], [repaired]], judge: none }, { chains: 1 });
    expect(answer).toMatchObject({ verified: false, stop: 'rounds', chain: stands });
  });

  test('no chain left ends it', async () => {
    const none = () => ({ choice: -1, reason: '', answers: [] });
    const { answer, phases } = await ask({ rounds: [[stands, repaired]], judge: none });
    expect(phases).toEqual(['propose', 'verify']);
    expect(answer.stop).toBe('exhausted');
  });

  test('a topic that the graph lacks is answered with nothing, without a call', async () => {
    const { answer, client } = await ask({ rounds: [] }, { task: { topics: [{ name: 'Nobody', entity: -1 }] } });
    expect(client.asked).toEqual([]);
    expect(answer).toMatchObject({ entities: [], stop: 'no-topic' });
  });

  test.each([1, 2, 3, 4, 30])(
    'a budget of %i is kept, and no call is made that could change nothing',
    async (budget) => {
      const { answer, phases } = await ask({ rounds: [[stands], [repaired]] }, { chains: 1, budget });
      expect(phases).toHaveLength(budget === 3 ? 2 : Math.min(budget, 4));
      expect(answer.stop).toBe(budget < 4 ? 'budget' : 'verified');
      expect(answer.chain).toEqual(budget < 4 ? stands : repaired);
    },
  );
});

test('where words are scored it is as sure as of the first chain that it proposed', async () => {
  const agent = await townAgent({ verify: false });
  const client = scriptedClient(() => ({ chains: [repaired] }), Infinity, true);
  const decide: typeof client.decide = async (decision) => ({ ...(await client.decide(decision)), confidence: 0.4 });
  const session = { client: { byLikelihood: true, remaining: 9, decide }, trace: () => {} };
  expect(await agent.answer(townTask, session)).toMatchObject({ chain: repaired, confidence: 0.4 });
});

test('the agent says whether it learns while it answers', async () => {
  expect((await townAgent({ memory: 'online' })).online).toBe(true);
  expect((await townAgent()).online).toBe(false);
  expect(graph.relationNames[relation('~purchased_by')]).toBe('~purchased_by');
});

test('the length of chains comes from a classifier trained on train', async () => {
  const { proposals } = await ask({ rounds: [[repaired]] }, { hops: 'predicted', task: { hops: undefined! } });
  expect(proposals[0]!.allowed.every(({ length }) => length === 2)).toBe(true);
  const lives = {
    question: 'where does Orla Brandt live',
    topics: [{ ...townTask.topics[0]!, span: [11, 22] as const }],
  };
  const one = await ask({ rounds: [[chainOf('lives_in')]] }, { hops: 'predicted', task: lives });
  expect(one.proposals[0]!.hops).toBe(1);
});
