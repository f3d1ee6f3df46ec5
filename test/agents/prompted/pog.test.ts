import { describe, expect, test } from '@jest/globals';
import { frontierOf, putTogether, startWalk, stepWalk, takenApart } from '../../../agents/prompted/frontier-steps.js';
import { Pool } from '../../../agents/prompted/pog/notes.js';
import type { ChooseManyDecision, Decision } from '../../../src/llm/decision.js';
import { fitToContext } from '../../../src/llm/decisions/fit-to-context.js';
import { renderPrompt } from '../../../src/llm/decisions/render-prompt.js';
import { type Facts, graphOf, taskOf, townAsker, townFacts, wise } from './clock-town.js';

const ask = townAsker('pog');

const ofPhase = (asked: readonly Decision[], phase: string) => asked.filter((decision) => decision.phase === phase);
const textsOf = (decision: Decision | undefined) =>
  decision && 'candidates' in decision ? decision.candidates.map(({ text }) => text) : [];
const labels = (decision: Decision) => (decision.context ?? []).map(({ label }) => label);

describe('Plan-on-Graph', () => {
  test('splits the question, explores, remembers, judges and reflects until the facts suffice', async () => {
    const { answer, names, phases, asked } = await ask(wise);
    const depth = ['relations', 'entities', 'memory', 'judge'];
    expect(phases).toEqual(['objectives', ...depth, 'reflect', ...depth]);
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer).toMatchObject({ stop: 'suffices', verified: true, degraded: false });
    expect(labels(asked[1]!)).toEqual(['Objectives', 'Path']);
    expect(asked.at(-1)!.context).toContainEqual({
      label: 'Memory',
      lines: ['the clocks are known'],
      role: 'notes',
    });
  });

  test('goes without objectives, memory or reflection where they are off', async () => {
    const without = async (switches: Record<string, unknown>) => (await ask(wise, switches)).phases;
    expect(await without({ guidance: 'off' })).not.toContain('objectives');
    expect(await without({ memory: false })).not.toContain('memory');
    expect(await without({ reflection: false })).not.toContain('reflect');
    expect(await without({ reflections: 0 })).not.toContain('reflect');
    const { asked } = await ask(wise, { guidance: 'off', memory: false });
    expect(asked.flatMap(labels)).not.toContain('Objectives');
    expect(asked.flatMap(labels)).not.toContain('Memory');
  });

  test('asks once for all entities of a relation sequence, the reference for each by itself', async () => {
    const relations = async (calls: string) => ofPhase((await ask(wise, { calls })).asked, 'relations').length;
    expect(await relations('frontier')).toBe(2);
    // The Tower Clock has two relations that lead on; the Harbour Clock was repaired alone, and needs no call.
    const { names, asked } = await ask(wise, { calls: 'entity' });
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(ofPhase(asked, 'relations').map(({ subjects }) => subjects!.length)).toEqual([1, 1]);
  });

  test('walks the given length with scored texts, without free text and verdicts, and answers with a whole path', async () => {
    const { phases, names, answer, graph } = await ask(wise, { byLikelihood: true, change: { hops: 2 } });
    expect(phases).toEqual(['relations', 'relations', 'walk']);
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer).toMatchObject({
      stop: 'hops',
      chain: ['~purchased_by', 'repaired_by'].map((one) => graph.relationId(one)),
    });
  });

  test('offers paths of all lengths with scored texts and an unknown hop count', async () => {
    const { asked, names } = await ask(wise, { byLikelihood: true, depth: 2 });
    const lengths = textsOf(asked.at(-1)).map((text) => text.split(' → ').length);
    expect(new Set(lengths)).toEqual(new Set([1, 2]));
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  });

  test('makes no verdict, memory or objectives with scored texts, for any source of hops, and one without', async () => {
    const scored = await ask(wise, { byLikelihood: true, hops: 'none', depth: 2 });
    expect(scored.phases).toEqual(['relations', 'relations', 'walk']);
    expect(new Set(textsOf(scored.asked.at(-1)).map((text) => text.split(' → ').length))).toEqual(new Set([1, 2]));
    const given = await ask(wise, { hops: 'given' });
    expect(given.phases).toContain('judge');
    expect(given.answer).toMatchObject({ stop: 'suffices', verified: true });
    expect((await ask(wise, { hops: 'given', change: { hops: 2 } })).phases).toEqual([
      ...['objectives', 'relations', 'entities', 'relations', 'entities', 'answer'],
    ]);
  });

  test('asks among entities where words are scored only if the question names one', async () => {
    const question = 'who repaired the Tower Clock that Orla Brandt bought';
    const topics = [
      { name: 'Orla Brandt', entity: graphOf(townFacts).entityId('Orla Brandt'), span: [34, 45] as const },
    ];
    const { phases } = await ask(wise, { byLikelihood: true, change: { question, topics, hops: 2 } });
    expect(phases.filter((phase) => phase === 'entities')).toHaveLength(1);
  });

  test('excludes the inverse of the last relation, like the reference', async () => {
    const facts: Facts = [...townFacts, ['Blue Clock', 'repaired_by', 'Jon Weil']];
    const restless = (decision: Decision) =>
      decision.kind === 'judge' ? { choice: -1, reason: '', answers: [] } : wise(decision);
    const back = async (noReturn: string) =>
      ofPhase((await ask(restless, { facts, noReturn, depth: 3 })).asked, 'relations').flatMap(textsOf);
    expect(await back('topic')).toContain('~repaired_by');
    expect(await back('relation')).not.toContain('~repaired_by');
  });
});

describe('coming back', () => {
  const graph = graphOf(townFacts);
  const task = taskOf({ topics: [{ name: 'Orla Brandt', entity: graph.entityId('Orla Brandt') }] });
  const start = startWalk(task);
  const clocks = stepWalk(graph, start, graph.relationId('~purchased_by'));

  test('is possible to any visited entity, also after a cut of the list', async () => {
    const oneClock = (decision: Decision) =>
      decision.phase === 'entities' && textsOf(decision).includes('Harbour Clock')
        ? { choices: [textsOf(decision).indexOf('Harbour Clock')] }
        : wise(decision);
    const { asked } = await ask((decision) =>
      decision.kind === 'judge' ? { choice: -1, reason: '', answers: [] } : oneClock(decision),
    );
    expect(textsOf(ofPhase(asked, 'reflect')[0])).toEqual(['Tower Clock', 'Orla Brandt']);
  });

  test('leads on from there, by what was not followed before', async () => {
    let reflected = 0;
    const regretful = (decision: Decision): unknown => {
      if (decision.phase === 'reflect' && reflected++ === 0)
        return { choices: [textsOf(decision).indexOf('Orla Brandt')] };
      if (decision.phase === 'relations' && textsOf(decision).includes('lives_in')) return { choices: [0] };
      return wise(decision);
    };
    const { names, answer, asked } = await ask(regretful);
    expect(answer.stop).toBe('suffices');
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    // `lives_in` was tried: one relation is left, which needs no call.
    expect(ofPhase(asked, 'relations').map(textsOf)).toEqual([
      ['lives_in', '~purchased_by'],
      ['repaired_by', 'stands_in'],
    ]);
  });

  test('is asked no more than so often, and to nothing twice', async () => {
    const restless = (decision: Decision) => {
      if (decision.phase === 'reflect') return { choices: textsOf(decision).map((_, i) => i) };
      if (decision.kind === 'judge') return { choice: -1, reason: '', answers: [] };
      return wise(decision);
    };
    const { asked } = await ask(restless, { reflections: 1 });
    expect(ofPhase(asked, 'reflect')).toHaveLength(1);
    const pool = new Pool();
    pool.add(start);
    pool.add(clocks);
    expect(pool.leftBehind(graph, task, [clocks])).toEqual([graph.entityId('Orla Brandt')]);
    pool.comeBack([graph.entityId('Orla Brandt')]);
    expect(pool.leftBehind(graph, task, [clocks])).toEqual([]);
  });

  test('homonyms are separate entities', () => {
    const twins = graphOf([...townFacts, ['TOWER CLOCK', 'purchased_by', 'Orla Brandt']]);
    const walk = stepWalk(
      twins,
      startWalk({ ...task, topics: [{ name: 'Orla Brandt', entity: twins.entityId('Orla Brandt') }] }),
      twins.relationId('~purchased_by'),
    );
    const pool = new Pool();
    pool.add(walk);
    const one = twins.entityId('TOWER CLOCK');
    expect(pool.leftBehind(twins, task, [])).toContain(one);
    expect(pool.comeBack([one]).map((back) => [...frontierOf(back).entities])).toEqual([[one]]);
  });

  test('walks taken apart by entity are the same put together', () => {
    expect(putTogether(takenApart(clocks))).toEqual([clocks]);
  });
});

describe('replies that cannot be used', () => {
  test('an unreadable verdict is none: the question continues and is answered', async () => {
    const { answer, phases } = await ask((decision) => (decision.kind === 'judge' ? undefined : wise(decision)));
    expect(answer).toMatchObject({ degraded: true, stop: 'half-stop' });
    expect(phases.at(-1)).toBe('answer');
  });

  test('a good verdict without an answer does not count', async () => {
    const { answer, phases } = await ask((decision) =>
      decision.kind === 'judge' ? { choice: 0, reason: '', answers: [] } : wise(decision),
    );
    expect(answer.stop).not.toBe('suffices');
    expect(answer.verified).toBeUndefined();
    expect(phases.at(-1)).toBe('answer');
  });

  test('nothing kept at a depth ends it half way, with the answer from the facts so far', async () => {
    const blind = (decision: Decision) => (decision.phase === 'relations' ? { choices: [] } : wise(decision));
    expect(await ask(blind)).toMatchObject({
      phases: ['objectives', 'relations', 'answer'],
      answer: { stop: 'half-stop' },
    });
    const unread = await ask(() => undefined);
    expect(unread.answer).toMatchObject({ stop: 'half-stop', degraded: true, entities: [], literals: [] });
  });

  test('with an unreadable choice all entities are kept, and with an unreadable memory the old one', async () => {
    const { names, answer } = await ask((decision) =>
      decision.phase === 'entities' || decision.phase === 'memory' ? undefined : wise(decision),
    );
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer).toMatchObject({ degraded: true, stop: 'suffices' });
  });
});

describe('bounds', () => {
  const restless = (decision: Decision) =>
    decision.kind === 'judge' ? { choice: -1, reason: '', answers: [] } : wise(decision);

  test('a path is never longer than the depth, and ends in the answer from the facts or from memory', async () => {
    for (const depth of [1, 2]) {
      const { asked, answer } = await ask(restless, { depth });
      expect([ofPhase(asked, 'judge').length, answer.stop]).toEqual([depth, 'depth']);
      expect(asked.at(-1)!.evidence.length).toBeGreaterThan(0);
    }
    const { asked } = await ask(restless, { depth: 1, finalPolicy: 'alone' });
    expect(asked.at(-1)).toMatchObject({ kind: 'answer', evidence: [], withReasoning: true });
  });

  test('objectives and memory are the first that a prompt gives up: a model may write them as long as it likes', async () => {
    const long = Array.from({ length: 6 }, (_, i) => `${'known '.repeat(19)}${i}`);
    const { asked } = await ask((decision) =>
      decision.kind === 'rewrite'
        ? { texts: decision.about === 'memory' ? long : long.slice(0, 4) }
        : restless(decision),
    );
    const decision = ofPhase(asked, 'memory')[1]!;
    const countTokens = (text: string) => text.split(/\s+/).length;
    const { system, head, body } = renderPrompt(decision);
    const whole = countTokens(`${system}\n${head}${body}`);
    const { dropped } = fitToContext(decision, { maxPromptTokens: whole - 180, countTokens });
    expect(dropped).toEqual({ history: 9, examples: 0, evidence: 0, candidates: 0 });
  });

  const hub: Facts = [
    ['Orla Brandt', 'lives_in', 'Skarn'],
    ...Array.from({ length: 400 }, (_, i) => [`Clock ${i} x`, 'purchased_by', 'Orla Brandt'] as const),
  ];

  test('a hub is kept whole, or cut to those most similar to the question, or sampled by seed', async () => {
    const listed = async (overflow: string) => {
      const { asked } = await ask(restless, { facts: hub, overflow, depth: 1 });
      return textsOf(ofPhase(asked, 'entities')[0]);
    };
    expect(await listed('whole')).toEqual([]);
    expect(await listed('likest')).toHaveLength(70);
    const drawn = await listed('sample');
    expect(drawn).toHaveLength(70);
    expect(await listed('sample')).toEqual(drawn);
    expect(drawn).not.toEqual(await listed('likest'));
    const { asked } = await ask(restless, { facts: hub, depth: 1 });
    expect(ofPhase(asked, 'memory')[0]!.evidence.length).toBeLessThanOrEqual(60);
  });

  test('years and single entities are not asked about', async () => {
    const years: Facts = [
      ['Orla Brandt', 'born', '1901'],
      ['Orla Brandt', 'moved', '1911'],
      ['Orla Brandt', 'moved', '1921'],
    ];
    const all = (decision: Decision) =>
      decision.kind === 'choose-many' ? { choices: [...decision.candidates.keys()] } : restless(decision);
    const { asked } = await ask(all, { facts: years, depth: 1 });
    expect(ofPhase(asked, 'relations')).toHaveLength(1);
    expect(ofPhase(asked, 'entities') as ChooseManyDecision[]).toEqual([]);
  });
});
