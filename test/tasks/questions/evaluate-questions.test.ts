import { describe, expect, test } from '@jest/globals';
import type { QuestionTask } from '../../../datasets/question.js';
import { compareEvaluations, refuseMixture } from '../../../evaluation/compare.js';
import { BudgetSpent } from '../../../src/llm/decision.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { questionMeasure, unionFigures } from '../../../tasks/questions/score.js';
import { evaluatedQuestions } from '../../fixtures/evaluated.js';
import { agentOf, answerOf, chainOf, id, options, questionOf } from '../../fixtures/toy-harbour.js';

const builders = ['sailed', 'built_by'];
const samples = [
  questionOf('right', 'Tamsin', ['Ivo', 'Ada'], { chain: builders, type: 'builder' }),
  questionOf('half', 'Tamsin', ['Ivo', 'Ada'], { chain: builders, type: 'builder' }),
  questionOf('wrong-chain', 'Tamsin', ['Ivo', 'Ada'], { chain: builders, type: 'builder' }),
  questionOf('wrong', 'Ada', ['Skarn'], { type: 'place' }),
  questionOf('far', 'Tamsin', ['Sea'], { type: 'place' }),
  questionOf('stranger', 'Nobody', ['Ada'], { type: 'place' }),
  questionOf('silent', 'Ada', ['Skarn']),
  questionOf('broke', 'Ada', ['Skarn']),
  questionOf('broken', 'Ada', ['Skarn']),
  questionOf('holds', 'Ada', [], { truth: true, task: { form: 'truth' } }),
  questionOf('doubted', 'Ada', [], { truth: true, task: { form: 'truth' } }),
];
const said: Record<string, Parameters<typeof answerOf>[0]> = {
  right: { entities: [id('Ada'), id('Ivo')], chain: chainOf(...builders), cost: { graphReads: 4 } },
  half: { entities: [id('Sea'), id('Ada')], text: 'Ada and Ivo built them' },
  'wrong-chain': { entities: [id('Heron')], chain: chainOf('sailed') },
  wrong: { literals: ['Vell'] },
  far: { entities: [id('Ada')] },
  stranger: {},
  silent: {},
  broke: { stop: 'budget' },
  holds: { truth: true },
};
const toy = agentOf(({ id: name }) => {
  if (name === 'broken') throw new Error('no more memory');
  return said[name] ?? {};
});

describe('an evaluation of questions', () => {
  test('B-FISKE-6, B-POG-1: has one row a question, in order, and counts a crash as a miss', async () => {
    const { record, rows } = await evaluatedQuestions(toy, samples, { ...options, concurrency: 3 });
    expect(rows.map((row) => row.id)).toEqual(samples.map(({ task }) => task.id));
    expect(record.n).toBe(samples.length);
    expect(rows[8]).toMatchObject({ stop: 'crashed', crash: 'no more memory', miss: 'crashed', metrics: { f1: 0 } });
    expect(record.metrics.crashed).toMatchObject({ value: 1 / 11, n: 11 });
    // One of nine entity questions was answered right, by hand; F1: 1 and 0.5.
    expect(record.metrics['hit@1']).toMatchObject({ value: 1 / 9, n: 9 });
    expect(record.metrics['hit-any']!.value).toBeCloseTo(2 / 9, 12);
    expect(record.metrics.f1!.value).toBeCloseTo(1.5 / 9, 12);
    expect(record.metrics.complete!.value).toBeCloseTo(2 / 9, 12);
    expect(record.metrics.accuracy).toMatchObject({ value: 0.5, n: 2 });
    expect(record.metrics.reachable!.value).toBeCloseTo(7 / 9, 12);
  });

  test('says why each question was missed', async () => {
    const { record, rows } = await evaluatedQuestions(toy, samples, options);
    expect(Object.fromEntries(rows.map(({ id: name, miss }) => [name, miss]))).toEqual({
      right: undefined,
      half: 'wrong-answer',
      'wrong-chain': 'wrong-chain',
      wrong: 'wrong-answer',
      far: 'answer-not-reachable',
      stranger: 'topic-not-in-graph',
      silent: 'abstained',
      broke: 'budget',
      broken: 'crashed',
      holds: undefined,
      doubted: 'abstained',
    });
    expect(record.misses).toMatchObject({ abstained: 2, 'wrong-answer': 2, crashed: 1 });
    expect(Object.keys(record.slices)).toEqual([
      'type=builder',
      'type=place',
      'form=entities',
      'form=truth',
      'answers=1',
      'answers=many',
    ]);
    expect(record.cost.graphReads).toMatchObject({ max: 4, total: 4 });
  });

  test('a statement is right with evidence only where the walk that is shown leads to what it claims, or to what is so', async () => {
    const stated = (name: string, truth: boolean, claimed: string) =>
      questionOf(name, 'Tamsin', [], { truth, claimed: id(claimed), chain: builders, task: { form: 'truth' } });
    const [sails, built] = [['Tamsin', 'sailed', 'Heron'] as const, ['Heron', 'built_by', 'Ivo'] as const];
    const replies: Record<string, Parameters<typeof answerOf>[0]> = {
      shown: { truth: true, evidence: [sails, built] },
      'half shown': { truth: true, evidence: [sails] },
      guessed: { truth: true },
      refuted: { truth: false, evidence: [sails, built] },
      mistaken: { truth: false, evidence: [sails, built] },
    };
    const statements = Object.keys(replies).map((name) =>
      stated(name, name !== 'refuted', name === 'refuted' ? 'Skarn' : 'Ivo'),
    );
    const { record, rows } = await evaluatedQuestions(
      agentOf(({ id: name }) => replies[name]!),
      statements,
      options,
    );
    expect(rows.map(({ metrics }) => [metrics.accuracy, metrics.grounded])).toEqual([
      [1, 1],
      [1, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ]);
    expect(record.metrics).toMatchObject({ accuracy: { value: 0.8 }, grounded: { value: 0.4, n: 5 } });
  });

  test('passes tasks to agents without topics or hops where they are withheld', async () => {
    const seen: QuestionTask[] = [];
    const nosy = (topicGiven: boolean) =>
      agentOf(
        (task) => {
          seen.push(task);
          return {};
        },
        { topicGiven },
      );
    await evaluatedQuestions(nosy(true), samples.slice(0, 1), options);
    await evaluatedQuestions(nosy(false), samples.slice(0, 1), { ...options, hopsGiven: false });
    expect(seen[0]).toEqual(samples[0]!.task);
    expect(seen[1]).toEqual({ id: 'right', subset: 'toy', question: 'right of Tamsin?', topics: [], form: 'entities' });
  });

  test('B-TOG-4: one that learns online is asked one after the other, others as many at once as the model takes', async () => {
    const most = { running: 0, seen: 0 };
    const slow = (online: boolean) =>
      agentOf(() => ({}), {
        online,
        async answer() {
          most.seen = Math.max(most.seen, ++most.running);
          await Promise.resolve();
          most.running--;
          return answerOf({});
        },
      });
    await evaluatedQuestions(slow(true), samples, { ...options, concurrency: 4 });
    expect(most.seen).toBe(1);
    const { rows } = await evaluatedQuestions(slow(false), samples, { ...options, concurrency: 4 });
    expect(most.seen).toBe(4);
    expect(new Set(rows.map((row) => row.id)).size).toBe(samples.length);
  });

  test('a model that stays away ends it, so does a wrong setting; a prompt that does not fit costs one question', async () => {
    const failing = (code: 'failure' | 'config' | 'data') =>
      agentOf(({ id: name }) => {
        if (code === 'data' && name !== 'right') return {};
        throw new WorkbenchError(code, `no ${code}`);
      });
    await expect(evaluatedQuestions(failing('failure'), samples, options)).rejects.toThrow('no failure');
    await expect(evaluatedQuestions(failing('config'), samples, options)).rejects.toThrow('no config');
    const { record } = await evaluatedQuestions(failing('data'), samples, options);
    expect(record.misses.crashed).toBe(1);
  });

  test('the user stops it between two questions', async () => {
    const controller = new AbortController();
    const asked: string[] = [];
    const agent = agentOf(({ id: name }) => {
      asked.push(name);
      if (asked.length === 2) controller.abort();
      return {};
    });
    const stopped = evaluatedQuestions(agent, samples, { ...options, signal: controller.signal });
    await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
    expect(asked).toEqual(['right', 'half']);
  });

  test('an agent that lets a spent budget through has crashed on that question', async () => {
    const agent = agentOf(() => {
      throw new BudgetSpent(3);
    });
    const { record } = await evaluatedQuestions(agent, samples.slice(0, 2), options);
    expect(record.misses).toEqual({ crashed: 2 });
  });
});

describe('a comparison', () => {
  const evaluated = async (name: string, agent = toy) => {
    const { record, rows } = await evaluatedQuestions(agent, samples, options);
    return { name, record, rows };
  };

  test('tests differences pairwise, and unites what two agents found', async () => {
    const all = await evaluated(
      'all',
      agentOf(({ id: name }) => ({
        truth: true,
        entities: samples.find(({ task }) => task.id === name)!.gold.answers.map(({ entity }) => entity),
      })),
    );
    const one = await evaluated('one');
    const [comparison] = compareEvaluations(questionMeasure, [one, all], { resamples: 200 });
    expect(comparison).toMatchObject({ agent: 'one', against: 'all' });
    expect(comparison!.differences['hit@1']!.value).toBeCloseTo(-8 / 9, 12);
    expect(comparison!.differences['hit@1']!.pValue).toBeLessThan(0.05);
    // What one finds alone is two of nine; together with IO, which knows all, everything.
    const io = { ...all, record: { ...all.record, agent: 'io' } };
    expect(unionFigures([one, io])).toMatchObject([
      {
        name: 'one+io',
        partial: { value: 1, n: 9 },
        complete: { value: 1, low: expect.closeTo(0.7009, 4), high: 1, n: 9 },
      },
    ]);
    expect(
      unionFigures([
        { ...one, name: 'again' },
        { ...one, record: { ...one.record, agent: 'io' } },
      ]),
    ).toMatchObject([{ name: 'again+io', complete: { value: one.record.metrics.complete!.value } }]);
    expect(unionFigures([one, all])).toEqual([]);
  });

  test('refuses simulated models next to real ones, other models, budgets and questions; walkers fit all', async () => {
    const base = { agent: 'a', model: 'm', simulated: false, budget: 30, budgetMode: 'strict' } as const;
    const walker = { agent: 'w', simulated: false, budget: null, budgetMode: 'strict' } as const;
    expect(() => refuseMixture([base, walker, { ...base, agent: 'b' }])).not.toThrow();
    expect(() => refuseMixture([walker, base, { ...base, model: 'oracle:0.1', simulated: true }])).toThrow(/simulated/);
    expect(() => refuseMixture([base, { ...base, model: 'n' }])).toThrow(/different models \(m and n\)/);
    expect(() => refuseMixture([base, { ...base, budget: null }])).toThrow(
      /different budgets \(30 strict and none strict\)/,
    );
    const once = { ...base, agent: 'once', budget: 2 };
    expect(() => refuseMixture([once, base], (agent) => agent !== 'once')).not.toThrow();
    expect(() => refuseMixture([once, base])).toThrow(/different budgets/);
    const one = await evaluated('one');
    const shorter = { ...one, name: 'shorter', rows: one.rows.slice(1) };
    expect(() => compareEvaluations(questionMeasure, [shorter, one])).toThrow(
      'expected the questions of one, got others, at shorter',
    );
  });
});
