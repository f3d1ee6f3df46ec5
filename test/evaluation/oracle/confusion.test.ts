import { describe, expect, test } from '@jest/globals';
import { confusedError, confusionOf } from '../../../evaluation/oracle/confusion.js';
import { fitConfusion, type ObservedDecision } from '../../../evaluation/oracle/fit-confusion.js';
import { openOracle } from '../../../evaluation/oracle/open-oracle.js';
import { questionFacts } from '../../../evaluation/oracle/question-facts.js';
import { Rng } from '../../../src/run/seeds.js';
import * as sample from '../../fixtures/sample-decisions.js';
import { films, id, oracle, questions, relations, replyTo } from './film-oracle.js';

const confused = (error: number, confuse: number) =>
  openOracle({ graph: films, samples: questions, error, confuse, seed: 3 });
const factsOf = (questionId: string) =>
  questionFacts(
    films,
    questions.find(({ task }) => task.id === questionId)!,
  );
const step = (...names: string[]) =>
  sample.chooseManyDecision({ questionId: '3-0', candidates: relations(...names), subjects: [id('tenet')] });

describe('errors of a confused model', () => {
  test('grow with the choices, from the plain rate at one', () => {
    expect(confusedError(0.2, 0.5, { effective: 1 })).toBeCloseTo(0.2, 12);
    // 1 + 0.5 · log2(4) = 2 draws, both of which must go well.
    expect(confusedError(0.2, 0.5, { effective: 4 })).toBeCloseTo(1 - 0.8 ** 2, 12);
    expect(confusedError(0.2, 0, { effective: 64 })).toBeCloseTo(0.2, 12);
    expect(confusedError(0, 3, { effective: 64 })).toBe(0);
  });

  test('grow with wrong choices that read like the question, and with clues already covered', () => {
    const { task, gold } = questions.find((one) => one.task.id === '3-0')!;
    const facts = questionFacts(films, {
      task: { ...task, question: 'what year', topics: task.topics.map((topic) => ({ ...topic, span: undefined })) },
      gold,
    });
    const alike = confusionOf(facts, step('directed_by', 'year'));
    const unlike = confusionOf(facts, step('directed_by', 'starring'));
    expect(alike.choices).toBe(2);
    expect(alike.effective).toBeGreaterThan(unlike.effective);
    expect(alike.weights[1]).toBeGreaterThan(unlike.weights[1]!);

    const candidates = relations('~directed_by', 'year');
    const matching = (...targets: string[]) =>
      confusionOf(
        factsOf('2-0'),
        sample.matchDecision({ questionId: '2-0', candidates, subjects: [id('nolan')], targets }),
      );
    expect(matching('directed by', 'year').choices).toBe(4);
    expect(matching('directed by').effective).toBeLessThan(matching('directed by', 'year').effective);
  });

  test('are those of the plain model without confusion, and more with it, but none at rate 0', async () => {
    const wrong = { plain: 0, confused: 0, sure: 0 };
    for (let i = 0; i < 300; i++) {
      const decision = { ...step('year', 'directed_by', '~directed_by', 'starring'), phase: `p${i}` };
      const plain = await replyTo(oracle(0.2), decision);
      expect(await replyTo(confused(0.2, 0), decision)).toEqual(plain);
      const isWrong = ({ choices }: typeof plain) => Number(choices.join() !== '1');
      wrong.plain += isWrong(plain);
      wrong.confused += isWrong(await replyTo(confused(0.2, 1), decision));
      wrong.sure += isWrong(await replyTo(confused(0, 1), decision));
    }
    expect(wrong.sure).toBe(0);
    expect(wrong.plain / 300).toBeCloseTo(0.2, 1);
    expect(wrong.confused / 300).toBeGreaterThan(0.35);
  });

  test('stand in the name and the id of the model', () => {
    expect(confused(0.1, 0.5).name).toBe('oracle:0.1,confuse=0.5');
    expect(confused(0.1, 0).id).toBe(oracle(0.1).id);
  });
});

describe('the fit', () => {
  const drawn = (error: number, confuse: number, count: number): ObservedDecision[] => {
    const rng = Rng.named(1, 'confusion');
    return Array.from({ length: count }, (_, i) => {
      const choices = 2 ** (1 + rng.integer(5));
      const right = Number(rng.uniform() >= confusedError(error, confuse, { effective: choices }));
      return { questionId: `q${i >> 2}`, choices, effective: choices, right };
    });
  };

  test('finds what decisions were drawn by, with intervals that hold it', () => {
    const { error, confuse, table, logLikelihood } = fitConfusion(drawn(0.1, 0.8, 1200));
    expect(error.low).toBeLessThan(0.1);
    expect(error.high).toBeGreaterThan(0.1);
    expect(confuse.low).toBeLessThan(0.8);
    expect(confuse.high).toBeGreaterThan(0.8);
    expect(table.map(({ from, to }) => [from, to])).toEqual([
      [2, 2],
      [3, 4],
      [5, 8],
      [9, 16],
      [17, 32],
    ]);
    expect(table.reduce((sum, { decisions }) => sum + decisions, 0)).toBe(1200);
    expect(logLikelihood.fitted).toBeCloseTo(logLikelihood.byNumber, 9);
    expect(logLikelihood.fitted).toBeGreaterThan(logLikelihood.constant);
  });

  test('finds no confusion where there is none', () => {
    const { error, confuse } = fitConfusion(drawn(0.3, 0, 1200));
    expect(error.value).toBeCloseTo(0.3, 1);
    expect(confuse.value).toBeLessThan(0.1);
  });
});
