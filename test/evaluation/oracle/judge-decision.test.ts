import { describe, expect, test } from '@jest/globals';
import { judgeDecision } from '../../../evaluation/oracle/judge-decision.js';
import { questionFacts } from '../../../evaluation/oracle/question-facts.js';
import type { Decision, ReplyOf } from '../../../src/llm/decision.js';
import * as sample from '../../fixtures/sample-decisions.js';
import { chain, entities, films, id, oracle, questions, relations, replyTo } from './film-oracle.js';

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
    for (const decision of asked) expect(judged(decision, await replyTo(model, decision))).toMatchObject({ right: 1 });
  });
});
