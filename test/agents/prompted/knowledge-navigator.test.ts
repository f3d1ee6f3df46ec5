import { describe, expect, test } from '@jest/globals';
import { votersOf } from '../../../agents/prompted/knowledge-navigator/vote.js';
import type { Decision } from '../../../src/llm/decision.js';
import { renderPrompt } from '../../../src/llm/decisions/render-prompt.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { chooses, type Facts, graphOf, paraphrases, taskOf, townAsker, townFacts, wise } from './clock-town.js';

const ask = townAsker('knowledge-navigator', { hops: 2 });

const votes = ['relation', 'relation-2', 'relation-3'];
const relationVotes = (asked: readonly Decision[]) => asked.filter(({ phase }) => phase.startsWith('relation'));

describe('KnowledgeNavigator', () => {
  test('has the question rephrased once, votes at every hop and answers from the facts, with every answer', async () => {
    const { answer, names, phases, asked } = await ask(wise);
    expect(phases).toEqual(['paraphrase', ...votes, ...votes, 'answer']);
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer).toMatchObject({ stop: 'answered', degraded: false, literals: [] });
    expect(relationVotes(asked).map(({ question }) => question)).toEqual([
      ...[taskOf().question, ...paraphrases],
      ...[taskOf().question, ...paraphrases],
    ]);
    expect(asked[4]!.context).toEqual([{ label: 'Path', lines: ['Orla Brandt → ~purchased_by'] }]);
    expect(asked.at(-1)!.task).toContain('every answer');
  });

  test('by any union comes to the same answer: of a hop, of the same relations, of an entity', async () => {
    const calls = await Promise.all(
      ['hop', 'signature', 'entity'].map(async (union) => {
        const { names, phases, answer } = await ask(wise, { union });
        expect([names, answer.stop]).toEqual([['Jon Weil', 'Mia Kop'], 'answered']);
        return phases.length;
      }),
    );
    // The Harbour Clock has one relation: alone it needs no vote, and its signature is its own.
    expect(calls).toEqual([8, 8, 8]);
  });

  test('asks each entity for itself, or those of the same relations together, or all of a hop', async () => {
    const facts: Facts = [
      ...townFacts,
      ['Harbour Clock', 'stands_in', 'Skarn'],
      ['Blue Clock', 'purchased_by', 'Orla Brandt'],
    ];
    const subjects = async (union: string) => {
      const { asked } = await ask(wise, { facts, union, paraphrases: 0 });
      return relationVotes(asked)
        .slice(1)
        .map((decision) => decision.subjects!.length);
    };
    expect(await subjects('hop')).toEqual([3]);
    // The Blue Clock leads to Sten Holm as well.
    expect((await subjects('signature')).sort()).toEqual([1, 2]);
    expect(await subjects('entity')).toEqual([1, 1, 1]);
    const { asked } = await ask(wise, { facts, union: 'entity', paraphrases: 0 });
    expect(
      asked.find(({ phase, subjects: [one] = [] }) => phase === 'relation' && one !== undefined)!.context![1]!.label,
    ).toBe('Entity');
  });

  test('keeps the votes of entities separate: each follows its vote', async () => {
    const facts: Facts = [...townFacts, ['Harbour Clock', 'stands_in', 'Skarn']];
    const graph = graphOf(facts);
    const { answer } = await ask(
      (decision) =>
        decision.kind === 'choose-one' && decision.subjects?.includes(graph.entityId('Harbour Clock'))
          ? chooses(decision, 'stands_in')
          : wise(decision),
      { facts, union: 'entity', paraphrases: 0 },
    );
    expect(answer.evidence).toContainEqual(['Harbour Clock', 'stands_in', 'Skarn']);
    expect(answer.evidence).not.toContainEqual(['Harbour Clock', 'repaired_by', 'Jon Weil']);
    expect(answer.evidence).not.toContainEqual(['Tower Clock', 'stands_in', 'Vell']);
  });
});

describe('a vote', () => {
  /** At the first hop the question chooses the wrong relation, its paraphrases the right one. */
  const divided = (decision: Decision) =>
    decision.phase === 'relation' ? chooses(decision, 'lives_in') : wise(decision);

  test('of two paraphrases that agree outweighs the question; at a lower weight it does not', async () => {
    const chosen = async (weight: number) => (await ask(divided, { weight, change: { hops: 1 } })).answer.evidence;
    expect((await chosen(0.51)).every(([, relation]) => relation === 'purchased_by')).toBe(true);
    expect((await chosen(0.49)).every(([, relation]) => relation === 'lives_in')).toBe(true);
    // Of equals the earlier voter's.
    expect((await chosen(0.5)).every(([, relation]) => relation === 'lives_in')).toBe(true);
  });

  test('keeps the given number of relations, and is skipped for so few', async () => {
    const { asked, answer } = await ask(wise, { best: 2, facts: [...townFacts, ['Orla Brandt', 'born_in', 'Vell']] });
    expect(relationVotes(asked)[0]).toMatchObject({ kind: 'choose-many', maxChoices: 2 });
    expect(answer.entities.length).toBeGreaterThan(0);
    // Two relations lead on from the topic, and two from its clocks.
    expect((await ask(wise, { best: 2 })).phases).toEqual(['paraphrase', 'answer']);
  });

  test('that cannot be read counts for nothing; of none nothing is followed that was chosen before', async () => {
    const { names, answer } = await ask((decision) => (decision.phase === 'relation-2' ? undefined : wise(decision)));
    expect([names, answer.degraded]).toEqual([['Jon Weil', 'Mia Kop'], true]);

    const twice: Facts = [
      ...townFacts,
      ['Jon Weil', 'purchased_by', 'Ida Rem'],
      ['Tower Clock', 'purchased_by', 'Jon Weil'],
    ];
    let read = 0;
    const lost = await ask((decision) => (decision.kind === 'choose-one' && ++read > 3 ? undefined : wise(decision)), {
      facts: twice,
    });
    expect(lost.answer).toMatchObject({ stop: 'dead-end', degraded: true });
    expect(lost.answer.evidence.every(([, , tail]) => tail === 'Orla Brandt')).toBe(true);
  });

  test('of an entity that cannot be read leaves that entity out, never with the relation of the one before', async () => {
    const facts: Facts = [...townFacts, ['Harbour Clock', 'stands_in', 'Skarn']];
    const graph = graphOf(facts);
    const { answer } = await ask(
      (decision) =>
        decision.kind === 'choose-one' && decision.subjects?.includes(graph.entityId('Tower Clock'))
          ? undefined
          : wise(decision),
      { facts, union: 'entity' },
    );
    expect(answer.evidence).toContainEqual(['Harbour Clock', 'repaired_by', 'Jon Weil']);
    expect(answer.evidence.flat()).not.toContain('Tower Clock');
    expect(answer.degraded).toBe(true);
  });

  test('distinguishes relations with equal ends, and takes names with quotes and brackets as they are', async () => {
    const facts: Facts = [
      [`O'Hara "Bo" {x}`, 'base.a.made.by', `D'Arc \\ "Jo"`],
      [`O'Hara "Bo" {x}`, 'base.b.made.by', 'Somebody'],
    ];
    const graph = graphOf(facts);
    const topics = [{ name: `O'Hara "Bo" {x}`, entity: graph.entityId(`O'Hara "Bo" {x}`) }];
    const { asked, names } = await ask(
      (decision) => {
        if (decision.kind === 'rewrite') return { texts: [decision.question] };
        if (decision.kind === 'choose-one') return chooses(decision, 'base.a.made.by');
        return { answers: decision.evidence.map(([, , tail]) => tail) };
      },
      { facts, change: { topics, hops: 1, question: `what did O'Hara "Bo" {x} make` } },
    );
    expect(relationVotes(asked)[0]).toMatchObject({
      candidates: [{ text: 'base.a.made.by' }, { text: 'base.b.made.by' }],
    });
    expect(names).toEqual([`D'Arc \\ "Jo"`]);
  });
});

describe('voters', () => {
  const task = taskOf({ topics: [{ name: 'Orla Brandt', entity: 0, span: [29, 40] }] });
  const written = async (texts: readonly string[] | undefined, settings = { paraphrases: 2, weight: 0.51 }) => {
    const { voters, degraded } = await votersOf(
      task,
      scriptedClient(() => texts && { texts }),
      settings,
    );
    return { texts: voters.map(({ text }) => text), weights: voters.map(({ weight }) => weight), degraded };
  };
  const itself = task.question;

  test('are the question and its paraphrases', async () => {
    expect(await written(paraphrases)).toEqual({
      ...{ texts: [itself, ...paraphrases], weights: [1, 0.51, 0.51], degraded: false },
    });
  });

  test('are the question again where paraphrases are too few or ask for something else', async () => {
    expect((await written([paraphrases[0]!])).texts).toEqual([itself, paraphrases[0], itself]);
    expect((await written(['who mended clocks', paraphrases[1]!])).texts).toEqual([itself, paraphrases[1], itself]);
    expect(await written([itself])).toMatchObject({ texts: [itself, itself, itself], degraded: false });
  });

  test('are the question alone where no paraphrase is of use, or none is asked for', async () => {
    for (const texts of [undefined, ['who mended clocks']]) {
      expect(await written(texts)).toEqual({ texts: [itself], weights: [1], degraded: true });
    }
    expect(await written(undefined, { paraphrases: 0, weight: 0.51 })).toMatchObject({
      texts: [itself],
      degraded: false,
    });
    expect((await ask(wise, { paraphrases: 0 })).phases).toEqual(['relation', 'relation', 'answer']);
  });

  test('have a phase each, so that no call of one stands for that of another', async () => {
    const { asked } = await ask((decision) => (decision.kind === 'rewrite' ? { texts: [itself] } : wise(decision)));
    const prompts = asked.slice(1, 4).map((decision) => renderPrompt(decision).body);
    expect(new Set(prompts).size).toBe(1);
    expect(asked.slice(1, 4).map(({ phase }) => phase)).toEqual(votes);
  });
});

describe('facts', () => {
  test('are joined in the answer prompt, unless they are to stand apart; the answer carries them as they are', async () => {
    const joined = await ask(wise);
    expect(renderPrompt(joined.asked.at(-1)!).body).toContain(
      'Harbour Clock; Tower Clock | purchased_by | Orla Brandt',
    );
    const apart = await ask(wise, { aggregate: false });
    expect(renderPrompt(apart.asked.at(-1)!).body).toContain('Tower Clock | purchased_by | Orla Brandt\n');
    expect(joined.answer.evidence).toEqual(apart.answer.evidence);
    expect(joined.answer.evidence).toContainEqual(['Tower Clock', 'repaired_by', 'Mia Kop']);
  });

  test('follow a relation in both directions, or in the chosen one', async () => {
    const facts: Facts = [
      ['Orla Brandt', 'taught', 'Ben'],
      ['Cleo', 'taught', 'Orla Brandt'],
      ['Orla Brandt', 'lives_in', 'Skarn'],
    ];
    const script = (decision: Decision) =>
      decision.kind === 'choose-one' ? chooses(decision, 'taught') : wise(decision);
    const shown = async (direction: string) =>
      (await ask(script, { facts, direction, change: { hops: 1 } })).answer.evidence.flat().sort();
    expect(await shown('dropped')).toEqual(['Ben', 'Cleo', 'Orla Brandt', 'Orla Brandt', 'taught', 'taught']);
    expect(await shown('kept')).toEqual(['Ben', 'Orla Brandt', 'taught']);
  });
});

describe('hops', () => {
  test('that are unknown are walked to the longest, and walks of every length are offered', async () => {
    const open = await ask(wise, { hops: 'none', maxHops: 2, byLikelihood: true, paraphrases: 0 });
    const judged = open.asked.find(({ kind }) => kind === 'judge') as Extract<Decision, { kind: 'judge' }>;
    expect(judged.candidates.map(({ text }) => text)).toEqual(['~purchased_by → repaired_by', '~purchased_by']);
  });

  test('do not expand an entity twice when switched on', async () => {
    const ring: Facts = [
      ['Orla Brandt', 'knows', 'Ada'],
      ['Orla Brandt', 'knows', 'Ben'],
      ['Ada', 'knows', 'Ben'],
      ['Ben', 'knows', 'Cleo'],
    ];
    const reached = async (noReturn: string) =>
      (await ask(wise, { facts: ring, noReturn, direction: 'kept', answers: 'frontier', change: { hops: 3 } })).phases;
    // At the third hop Ben was already expanded.
    expect((await reached('topic')).length).toBeGreaterThan((await reached('seen')).length);
  });
});

describe('where words are scored', () => {
  test('everything that the one walk leads to is the answer, and no answer is asked for', async () => {
    const { phases, names, answer, asked, graph } = await ask(wise, { byLikelihood: true, paraphrases: 2 });
    expect(phases).toEqual(['paraphrase', ...votes, ...votes]);
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
    expect(answer.chain).toEqual(['~purchased_by', 'repaired_by'].map((name) => graph.relationId(name)));
    expect(asked[1]!.context).toEqual([{ label: 'Path', lines: ['Orla Brandt'] }]);
  });

  test('the answer is as sure as the votes agreed', async () => {
    const sure = async (script: (decision: Decision) => unknown) =>
      (await ask(script, { answers: 'frontier' })).answer.confidence!;
    expect(await sure(wise)).toBeCloseTo(1, 12);
    const divided = (decision: Decision) =>
      decision.phase === 'relation-3' ? chooses(decision, 'lives_in', 'stands_in') : wise(decision);
    expect(await sure(divided)).toBeCloseTo((1.51 / 2.02) ** 2, 12);
  });
});

describe('bounds', () => {
  const wide: Facts = Array.from({ length: 40 }, (_, i): Facts => [
    [`Clock ${i}`, 'purchased_by', 'Orla Brandt'],
    [`Clock ${i}`, 'repaired_by', `Repairer ${i}`],
    [`Clock ${i}`, 'stands_in', `Square ${i}`],
    [`Repairer ${i}`, 'lives_in', `Town ${i}`],
    [`Repairer ${i}`, 'taught', `Pupil ${i}`],
  ]).flat();

  test('hold three hops with a vote an entity within the budget, and what was voted for is answered from', async () => {
    const { phases, answer } = await ask(wise, { facts: wide, union: 'entity', budget: 30, change: { hops: 3 } });
    expect(phases).toHaveLength(30);
    expect(phases.at(-1)).toBe('answer');
    expect(answer.stop).toBe('budget');
    expect(answer.entities.length).toBeGreaterThan(0);
    // One vote for all entities of a hop stays far below it.
    expect((await ask(wise, { facts: wide, budget: 30, change: { hops: 3 } })).phases.length).toBeLessThan(12);
  });

  test('count the votes that were cast where the budget ends among them', async () => {
    const { phases, answer } = await ask(wise, { budget: 4, change: { hops: 1 } });
    expect(phases).toEqual(['paraphrase', 'relation', 'relation-2', 'answer']);
    expect(answer.evidence).toContainEqual(['Tower Clock', 'purchased_by', 'Orla Brandt']);
  });
});
