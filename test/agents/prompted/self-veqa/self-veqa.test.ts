import { describe, expect, test } from '@jest/globals';
import { type MemoryEntry, chainMemory, trainEntries } from '../../../../agents/prompted/self-veqa/chain-memory.js';
import { hashedEncoder } from '../../../../src/encoder/hashed-encoder.js';
import { textVectors } from '../../../../src/encoder/state-encoder.js';
import { readReply } from '../../../../src/llm/decisions/reply-forms.js';
import { scriptedClient } from '../../../fixtures/scripted-client.js';
import {
  type Asked,
  type Script,
  ask,
  chainOf,
  graph,
  relation,
  solved,
  townAgent,
  townTask,
  train,
} from './town-asker.js';

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

describe('a memory of chains', () => {
  const entry = (masked: string, ...chain: number[]): MemoryEntry => ({
    ...{ masked, chain },
    source: { kind: 'train', questionId: masked },
  });
  const memoryOf = (...entries: MemoryEntry[]) => chainMemory(textVectors(hashedEncoder(256)), entries);
  const options = { shots: 8, shotsPerChain: 2, shotDiversity: 0.3 };
  const repaired = chainOf('~purchased_by', 'repaired_by');

  test('examples are of the same length, nearest first, at most two of one chain', async () => {
    const memory = memoryOf(
      entry('who repaired the clocks of [E]', 1, 2),
      entry('who repaired the old clocks of [E]', 1, 2),
      entry('who repaired the new clocks of [E]', 1, 2),
      entry('where stand the clocks of [E]', 1, 3),
      entry('where lives [E]', 4),
    );
    const chosen = await memory.select('who repaired the clocks of [E]', { ...options, hops: 2 });
    expect(chosen[0]!.masked).toBe('who repaired the clocks of [E]');
    expect(chosen.map(({ chain }) => chain.join())).toEqual(['1,2', '1,2', '1,3']);
    expect(await memory.select('who repaired the clocks of [E]', { ...options, shots: 0 })).toEqual([]);
    expect(await memory.select('any', options)).toHaveLength(4);
  });

  test('diversity prefers what is unlike the examples already chosen', async () => {
    const memory = memoryOf(
      entry('who repaired the clocks of [E] today', 1, 2),
      entry('who repaired the clocks of [E] now', 1, 2),
      entry('who repaired something', 1, 3),
    );
    const chosen = async (shotDiversity: number) =>
      (await memory.select('who repaired the clocks of [E]', { ...options, shots: 2, shotDiversity })).map(
        ({ chain }) => chain[1],
      );
    expect(await chosen(0)).toEqual([2, 2]);
    expect(await chosen(0.9)).toEqual([2, 3]);
  });

  test('what is known is not stored again; one question may have two chains', () => {
    const memory = memoryOf(entry('who [E]', 1), entry('who [E]', 1), entry('who [E]', 2));
    expect(memory.entries).toHaveLength(2);
    expect(memory.add(entry('who [E]', 2))).toBe(false);
    expect(memory.add(entry('who [E]', 3))).toBe(true);
  });

  test('train is masked, and may be bounded for every chain by a seeded draw', () => {
    expect(trainEntries(train, 0, 1).map(({ masked }) => masked)).toContain('who repaired the clocks that [E] bought');
    const many = Array.from({ length: 40 }, (_, i) => solved(`t-${i}`, `who fixed ${i} clocks`, 'clocks', repaired));
    const drawn = trainEntries(many, 5, 1);
    expect(drawn).toHaveLength(5);
    expect(trainEntries(many, 5, 1)).toEqual(drawn);
    expect(trainEntries(many, 5, 2)).not.toEqual(drawn);
  });

  test('the prompt shows masked questions with their chains, the most similar last, so that a tight budget drops the others', async () => {
    const { proposals } = await ask({ rounds: [[repaired]] });
    const block = proposals[0]!.context!.find(({ role }) => role === 'history')!;
    expect(block.lines).toEqual([
      'where do the clocks stand that [E] bought = ~purchased_by → stands_in',
      'who repaired the clocks that [E] bought = ~purchased_by → repaired_by',
    ]);
    const off = await ask({ rounds: [[repaired]] }, { memory: 'off' });
    expect(off.proposals[0]!.context!.some(({ role }) => role === 'history')).toBe(false);
  });

  test('online memory serves the next question, frozen memory does not', async () => {
    const shown = async (memory: string) => {
      const mended = { question: 'who mended the clocks', topics: [{ ...townTask.topics[0]!, span: undefined! }] };
      const first = await ask({ rounds: [[repaired]] }, { memory, task: { ...mended, id: 'first' } });
      const { proposals } = await ask(
        { rounds: [[repaired]] },
        { agent: first.agent, task: { ...mended, id: 'second' } },
      );
      return proposals[0]!.context!.find(({ role }) => role === 'history')!.lines;
    };
    expect((await shown('online')).at(-1)).toBe('who mended the clocks = ~purchased_by → repaired_by');
    expect(await shown('frozen')).toHaveLength(2);
    expect(await shown('empty')).toEqual(['who mended the clocks = ~purchased_by → repaired_by']);
  });

  test('a memory from nothing shows no example at first, and takes nothing from a verifier that accepted nothing', async () => {
    const none = () => ({ choice: -1, reason: '', answers: [] });
    const first = await ask({ rounds: [[repaired]], judge: none }, { memory: 'empty', rounds: 1 });
    const second = await ask({ rounds: [[repaired]] }, { agent: first.agent, task: { id: 'second' } });
    for (const { proposals } of [first, second]) {
      expect(proposals[0]!.context!.some(({ role }) => role === 'history')).toBe(false);
    }
  });
});

// Failure modes of Self-VEQA in the specification (§2.5), one test each.
describe('where the model fails', () => {
  const repaired = chainOf('~purchased_by', 'repaired_by');
  const stands = chainOf('~purchased_by', 'stands_in');
  const judgement =
    (choice: number, answers: string[] = [], reason = 'Because.'): Script['judge'] =>
    () => ({ choice, reason, answers });

  test('prose around the verdict, and bare True and False, are read', async () => {
    const { judgements } = await ask({ rounds: [[stands, repaired]] });
    const [decision] = judgements;
    const read = (text: string) => readReply(decision!, text, { constrained: false })?.reply.choice;
    expect(read('Let me see. {"choice": 2, "reason": "It ends there."} I hope this helps.')).toBe(1);
    const written = (await ask({ rounds: [[repaired]], judge: judgement(0, ['Jon Weil']) }, { verifier: 'reference' }))
      .judgements[0]!;
    expect(
      readReply(written, '{"success": False, "veri_answer": "", "critique": "No."}', { constrained: false })?.reply
        .choice ?? -1,
    ).toBe(-1);
  });

  test('an answer that no chain leads to is made up: the verdict does not count', async () => {
    const { answer } = await ask(
      { rounds: [[repaired], undefined], judge: judgement(0, ['Jon Weil', 'Ida Rem']) },
      { verifier: 'reference', chains: 1 },
    );
    expect(answer).toMatchObject({ verified: false, stop: 'rounds' });
  });

  test('success without an answer does not count', async () => {
    const { answer } = await ask(
      { rounds: [[repaired], undefined], judge: judgement(0, []) },
      { verifier: 'reference', chains: 1 },
    );
    expect(answer.verified).toBe(false);
  });

  test('answers copied from a chain are that chain’s, and only those', async () => {
    const { names, answer } = await ask(
      { rounds: [[stands, repaired]], judge: judgement(0, ['mia kop']) },
      { verifier: 'reference' },
    );
    expect(names).toEqual(['Mia Kop']);
    expect(answer).toMatchObject({ verified: true, chain: repaired });
  });

  test('an empty critique is replaced by what is known', async () => {
    const { proposals } = await ask({ rounds: [[stands], [repaired]], judge: judgement(-1, [], ' ') }, { chains: 1 });
    expect(proposals[1]!.context!.at(-1)!.lines).toEqual([
      'None of these answers the question: ~purchased_by → stands_in.',
    ]);
  });

  test('chains repeated in one reply count once', async () => {
    const { judgements } = await ask({ rounds: [[repaired, repaired, stands]] });
    expect(judgements[0]!.candidates).toHaveLength(2);
  });

  test('a reply of chains that cannot be read costs a round and is marked', async () => {
    const { answer, phases } = await ask({ rounds: [undefined, [repaired]] });
    expect(phases).toEqual(['propose', 'propose', 'verify']);
    expect(answer).toMatchObject({ degraded: true, verified: true });
  });

  test('a verdict that cannot be read accepts nothing and is marked', async () => {
    const { answer } = await ask({ rounds: [[repaired], [stands]], judge: () => undefined }, { chains: 1 });
    expect(answer).toMatchObject({ degraded: true, verified: false, chain: repaired });
  });

  test('a wrong chain that was never accepted is never remembered; an accepted one is, once', async () => {
    const task = {
      question: 'who mended the clocks of Orla Brandt',
      topics: [{ ...townTask.topics[0]!, span: [25, 36] as const }],
    };
    const writes = ({ events }: Asked) => events.filter(({ event }) => event === 'memory-write');
    const online = { memory: 'online', chains: 1, task };
    expect(writes(await ask({ rounds: [[stands], [repaired]], judge: judgement(-1) }, online))).toEqual([]);
    const accepted = await ask({ rounds: [[stands], [repaired]] }, online);
    expect(writes(accepted)).toEqual([{ event: 'memory-write', key: 'who mended the clocks of [E]', chain: repaired }]);
    expect(writes(await ask({ rounds: [[repaired]] }, { task, agent: accepted.agent }))).toEqual([]);
  });
});
