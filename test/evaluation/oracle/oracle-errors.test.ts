import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { judgeDecision } from '../../../evaluation/oracle/judge-decision.js';
import { questionFacts, shortestChains } from '../../../evaluation/oracle/question-facts.js';
import type { Decision, NamedTriple, ReplyOf } from '../../../src/llm/decision.js';
import { often } from '../../fixtures/long-tests.js';
import * as sample from '../../fixtures/sample-decisions.js';
import { graphOf } from '../../fixtures/toy-walks.js';
import { chain, entities, filmPaths, films, id, oracle, questions, relations, replyTo } from './film-oracle.js';

const evidence: NamedTriple[] = [
  ['tenet', 'directed_by', 'nolan'],
  ['dunkirk', 'directed_by', 'nolan'],
  ['inception', 'directed_by', 'nolan'],
];
const allowed = [
  ['directed_by', '~directed_by'],
  ['starring', '~starring'],
  ['year', '~year'],
].map((pair) => pair.map((name) => films.relationId(name)));
const offered = relations('year', 'directed_by', '~directed_by', 'starring');

/** One decision of every kind; each has something wrong to say. */
const kinds: ((more: { phase: string; questionId: string }) => Decision)[] = [
  (more) => sample.extractDecision(more),
  (more) => sample.chooseOneDecision({ ...more, candidates: offered, subjects: [id('tenet')] }),
  (more) => sample.chooseManyDecision({ ...more, candidates: offered }),
  (more) => sample.scoreDecision({ ...more, candidates: entities('directed_by', 'nolan', 'reitman') }),
  (more) => sample.matchDecision({ ...more, candidates: offered, targets: ['directed by', 'year'] }),
  (more) => sample.chainsDecision({ ...more, allowed, relationName: (relation) => films.relationNames[relation]! }),
  (more) => sample.rewriteDecision(more),
  (more) =>
    sample.pathsDecision({
      ...more,
      ...filmPaths(['tenet', 'directed_by', 'nolan', '~directed_by', 'dunkirk'], ['tenet', 'year', '2020']),
    }),
  (more) => sample.judgeDecision({ ...more, evidence, withAnswers: true }),
  (more) => sample.judgeDecision({ ...more, candidates: [chain(['year']), chain(['directed_by'], ['nolan'])] }),
  (more) => sample.answerDecision({ ...more, evidence }),
  (more) => sample.answerDecision({ ...more, evidence, allowed: ['nolan', 'tenet', 'dunkirk'] }),
];
const truth = (more: { phase: string }) =>
  sample.answerDecision({ ...more, questionId: 'wrong-claim', evidence, form: 'truth' });

describe('at an error rate', () => {
  test.each([0.1, 0.5, 1])('of %d, about so many decisions of every kind go wrong, all of them valid', async (rate) => {
    const [right, noisy] = [oracle(0), oracle(rate)];
    const repeats = often(16, 60);
    let wrong = 0;
    for (const make of [...kinds, truth]) {
      let own = 0;
      for (let i = 0; i < repeats; i++) {
        const decision = make({ phase: `p${i}`, questionId: i % 2 ? '2-0' : '2-1' });
        if (!isDeepStrictEqual(await replyTo(right, decision), await replyTo(noisy, decision))) own++;
      }
      expect(own).toBeGreaterThan(0);
      wrong += own;
    }
    const share = wrong / (repeats * (kinds.length + 1));
    // Four standard deviations of the share.
    const asked = repeats * (kinds.length + 1);
    expect(Math.abs(share - rate)).toBeLessThanOrEqual(4 * Math.sqrt((rate * (1 - rate)) / asked));
  });

  test('what goes wrong at a low rate goes wrong at a higher one in the same way', async () => {
    const [right, low, high] = [oracle(0), oracle(0.2), oracle(0.6)];
    for (let i = 0; i < often(36, 100); i++) {
      const decision = kinds[i % kinds.length]!({ phase: `p${i}`, questionId: '2-0' });
      const reply = await replyTo(low, decision);
      if (!isDeepStrictEqual(reply, await replyTo(right, decision))) {
        expect(await replyTo(high, decision)).toEqual(reply);
      }
    }
  });

  test('B-FISKE-10: replies do not depend on the order of calls', async () => {
    const decisions = kinds.map((make, i) => make({ phase: `p${i}`, questionId: '2-0' }));
    const ask = async (order: readonly Decision[]) => {
      const model = oracle(0.5);
      const replies = new Map<string, unknown>();
      for (const decision of order) replies.set(decision.phase, await replyTo(model, decision));
      return decisions.map(({ phase }) => replies.get(phase));
    };
    expect(await ask([...decisions].reverse())).toEqual(await ask(decisions));
  });

  test('a second attempt and another seed draw again', async () => {
    const replies = new Set<string>();
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      replies.add(JSON.stringify(await replyTo(oracle(0.5, seed), kinds[1]!({ phase: 'p', questionId: '2-0' }))));
    }
    expect(replies.size).toBeGreaterThan(1);
  });
});

test('replies are valid at any rate and for any offer', async () => {
  const name = fc.constantFrom(...films.entityNames, 'nobody');
  const fact = fc.tuple(name, fc.constantFrom(...films.relationNames), name);
  const someRelations = fc.subarray([...films.relationNames], { minLength: 1 }).map((names) => relations(...names));
  const someEntities = fc
    .tuple(fc.constantFrom(...films.relationNames), fc.subarray([...films.entityNames], { minLength: 1 }))
    .map(([relation, names]) => entities(relation, ...names));
  const world = fc.record({
    kind: fc.nat(10),
    more: fc.record({
      questionId: fc.constantFrom(...questions.map(({ task }) => task.id)),
      evidence: fc.array(fact, { maxLength: 5 }),
      subjects: fc.array(fc.nat(films.numEntities - 1), { maxLength: 3 }),
    }),
    candidates: fc.oneof(someRelations, someEntities),
    targets: fc.uniqueArray(fc.constantFrom('directed by', 'year', 'starring', 'x'), { minLength: 1 }),
    allowNone: fc.boolean(),
    rate: fc.constantFrom(0, 0.5, 1),
  });
  const relationName = (relation: number) => films.relationNames[relation]!;
  await fc.assert(
    fc.asyncProperty(world, async ({ kind, more, candidates, targets, allowNone, rate }) => {
      const { form } = questions.find(({ task }) => task.id === more.questionId)!.task;
      const decision: Decision = [
        sample.extractDecision(more),
        sample.chooseOneDecision({ ...more, candidates, allowNone }),
        sample.chooseManyDecision({ ...more, candidates, maxChoices: 2 }),
        sample.scoreDecision({ ...more, candidates }),
        sample.matchDecision({ ...more, candidates, targets }),
        sample.chainsDecision({ ...more, allowed: allowed.slice(0, targets.length), relationName }),
        sample.rewriteDecision({ ...more, about: allowNone ? 'memory' : 'sub-question', count: targets.length }),
        sample.pathsDecision({
          ...{ ...more, count: targets.length },
          ...filmPaths(['tenet', 'directed_by', 'nolan'], ['tenet', 'starring', 'washington', '~starring', 'tenet']),
        }),
        sample.judgeDecision({ ...more, candidates: allowNone ? candidates : [], withAnswers: form === 'entities' }),
        sample.answerDecision({ ...more, form, withReasoning: allowNone }),
        sample.answerDecision({ ...more, form, ...(form === 'entities' && { allowed: targets }) }),
      ][kind]!;
      await replyTo(oracle(rate), decision);
    }),
    { numRuns: often(60, 300) },
  );
});

describe('shortest chains', () => {
  const named = (chains: number[][]) => chains.map((chain) => chain.map((relation) => films.relationNames[relation]!));
  const between = (topics: string[], answers: string[], maxHops?: number) =>
    named(shortestChains(films, topics.map(id), new Set(answers.map(id)), topics.map(id), maxHops));

  test('the shortest way to the nearest answer counts, longer ones do not', () => {
    expect(between(['juno'], ['reitman', 'nolan'])).toEqual([['directed_by']]);
    expect(between(['tenet'], ['hardy'])).toEqual([['directed_by', '~directed_by', 'starring']]);
  });

  test('of ways of one length the more exact comes first', () => {
    // page → inception and juno; nolan → inception, tenet and dunkirk.
    expect(between(['page', 'nolan'], ['inception', 'juno'])).toEqual([['~starring'], ['~directed_by']]);
  });

  test('what is out of reach has no chain', () => {
    expect(between(['tenet'], ['hardy'], 2)).toEqual([]);
    expect(shortestChains(films, [-1], new Set([id('juno')]), [])).toEqual([]);
    expect(shortestChains(films, [id('juno')], new Set(), [])).toEqual([]);
  });

  test('parallel relations are separate chains, in the order of their ids', () => {
    const graph = graphOf('parallel', [
      ['a', 'one', 'b'],
      ['a', 'two', 'b'],
    ]);
    expect(shortestChains(graph, [0], new Set([1]), [0])).toEqual([[0], [1]]);
  });
});

describe('decisions of a judge', () => {
  const factsOf = (wanted: string) =>
    questionFacts(
      films,
      questions.find(({ task }) => task.id === wanted)!,
    );
  const judged = (decision: Decision, reply?: unknown) =>
    judgeDecision(films, factsOf(decision.questionId), decision, reply as ReplyOf<Decision> | undefined);

  const offered = relations('year', 'directed_by', '~directed_by', 'starring');
  const atTenet = { questionId: '3-0', candidates: offered, subjects: [id('tenet')] };

  describe('a decision is judged by what was put first', () => {
    test('of relations: the gold one of the hop where it stands, one of four by chance', () => {
      const choose = sample.chooseOneDecision(atTenet);
      expect(judged(choose, { choice: 1 })).toEqual({ right: 1, chance: 0.25, hop: 1 });
      expect(judged(choose, { choice: 0 })).toEqual({ right: 0, chance: 0.25, hop: 1 });
      expect(judged(choose, { choice: -1 })).toEqual({ right: 0, chance: 0.25, hop: 1 });
      expect(judged(choose)).toEqual({ right: 0, chance: 0.25, hop: 1 });
      expect(judged({ ...choose, subjects: [id('nolan')] }, { choice: 2 })).toMatchObject({ right: 1, hop: 2 });
      expect(judged({ ...choose, subjects: [id('juno')] }, { choice: 2 })).toBe('lost');
    });

    test('of scores that tie: the share of the highest that is right; no score above 0 chooses nothing', () => {
      const score = sample.scoreDecision(atTenet);
      expect(judged(score, { scores: [10, 10, 0, 1] })).toMatchObject({ right: 0.5 });
      expect(judged(score, { scores: [0, 3, 2, 1] })).toMatchObject({ right: 1 });
      expect(judged(score, { scores: [0, 0, 0, 0] })).toMatchObject({ right: 0 });
    });

    test('of matches: the candidate of the best pair, but of entities at the end, for which no clue speaks', () => {
      const match = sample.matchDecision({ ...atTenet, targets: ['whoever'] });
      const pair = (candidate: number, score: number) => ({ candidate, target: 0, score });
      expect(judged(match, { matches: [pair(0, 4), pair(1, 9)] })).toMatchObject({ right: 1, chance: 0.25 });
      expect(judged(match, { matches: [] })).toMatchObject({ right: 0 });
      const end = { ...match, questionId: '2-2', subjects: [id('juno')], candidates: entities('year', '2007') };
      expect(judged(end, { matches: [] })).toBeUndefined();
    });

    test('of chains, verdicts and answers', () => {
      const names = [
        ['directed_by', '~directed_by'],
        ['starring', '~starring'],
      ];
      const allowed = names.map((pair) => pair.map((name) => films.relationId(name)));
      const chains = sample.chainsDecision({ questionId: '2-0', allowed });
      expect(judged(chains, { chains: [allowed[0]] })).toEqual({ right: 1, chance: 0.5 });
      expect(judged(chains, { chains: [allowed[1], allowed[0]] })).toEqual({ right: 0, chance: 0.5 });
      const gold = chain(['directed_by', '~directed_by'], ['dunkirk', 'inception']);
      const other = chain(['starring', '~starring'], ['dunkirk']);
      const verdict = sample.judgeDecision({ questionId: '2-0', evidence: [], candidates: [other, gold] });
      expect(judged(verdict, { choice: 1 })).toEqual({ right: 1, chance: 1 / 3 });
      expect(judged(verdict, { choice: -1 })).toEqual({ right: 0, chance: 1 / 3 });
      const evidence = [['dunkirk', 'directed_by', 'nolan']] as const;
      const answer = sample.answerDecision({ questionId: '2-0', evidence });
      expect(judged(answer, { answers: ['Dunkirk'] })).toEqual({ right: 1, chance: 0.5 });
      expect(judged({ ...answer, evidence: [] }, { answers: ['juno'] })).toEqual({ right: 0, chance: 0 });
      expect(judged({ ...answer, evidence: [['juno', 'year', '2007']] }, { answers: ['juno'] })).toBe('lost');
      expect(judged(sample.extractDecision({ questionId: '2-0' }), { items: ['page'] })).toBeUndefined();
    });

    test('the simulated model without errors is always right where it can be', async () => {
      const model = oracle();
      const asked = [
        sample.chooseOneDecision(atTenet),
        sample.chooseManyDecision(atTenet),
        sample.scoreDecision(atTenet),
        sample.judgeDecision({ questionId: '2-0', evidence: [] }),
        sample.answerDecision({ questionId: '1-0', evidence: [['tenet', 'directed_by', 'nolan']] }),
      ];
      for (const decision of asked)
        expect(judged(decision, await replyTo(model, decision))).toMatchObject({ right: 1 });
    });
  });
});
