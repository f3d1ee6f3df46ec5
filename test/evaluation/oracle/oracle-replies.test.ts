import { describe, expect, test } from '@jest/globals';
import { openOracle, oracleRates } from '../../../evaluation/oracle/open-oracle.js';
import type { ChainsDecision, Decision, NamedTriple } from '../../../src/llm/decision.js';
import { byLikelihood, type TextQuery } from '../../../src/llm/decisions/likelihood/by-likelihood.js';
import * as sample from '../../fixtures/sample-decisions.js';
import { chain, entities, filmPaths, films, id, oracle, questions, relations, replyTo } from './film-oracle.js';

const model = oracle();
const directed: NamedTriple = ['tenet', 'directed_by', 'nolan'];
const alsoDirected: NamedTriple[] = ['inception', 'dunkirk'].map((film) => [film, 'directed_by', 'nolan']);

describe('extracting clues', () => {
  const clues = async (questionId: string, maxItems = 9) =>
    (await replyTo(model, sample.extractDecision({ questionId, maxItems }))).items;

  test('gives the topic as it stands in the question and a phrase for each relation, none twice', async () => {
    expect(await clues('2-2')).toEqual(['page', 'starring', 'year']);
    expect(await clues('3-0')).toEqual(['tenet', 'directed by', 'directed by (2)', 'year']);
    expect(await clues('3-0', 2)).toEqual(['tenet', 'directed by']);
  });

  test('without a gold chain takes the shortest that leads to the answers', async () => {
    expect(await clues('unchained')).toEqual(['juno', 'directed by']);
    expect(await clues('literal')).toEqual(['juno']);
  });
});

describe('relations', () => {
  const offered = relations('year', 'directed_by', '~directed_by', 'starring');

  test('score where they continue a gold chain from the subjects', async () => {
    const scores = async (...subjects: string[]) =>
      (
        await replyTo(
          model,
          sample.scoreDecision({ questionId: '3-0', candidates: offered, subjects: subjects.map(id) }),
        )
      ).scores;
    expect(await scores('tenet')).toEqual([0, 10, 0, 0]);
    expect(await scores('nolan')).toEqual([0, 0, 10, 0]);
    expect(await scores('inception')).toEqual([10, 0, 0, 0]);
    expect(await scores('juno')).toEqual([0, 0, 0, 0]);
    expect(await scores('inception', 'nolan')).toEqual([10, 0, 10, 0]);
  });

  test('that stand for both directions are right where either is', async () => {
    const either = relations('year', 'directed_by').map((one) =>
      one.text === 'directed_by' ? { ...one, inverse: films.relationId('~directed_by') } : one,
    );
    const chosen = async (subject: string) =>
      (
        await replyTo(
          model,
          sample.chooseManyDecision({ questionId: '3-0', candidates: either, subjects: [id(subject)] }),
        )
      ).choices;
    expect([await chosen('tenet'), await chosen('nolan'), await chosen('inception')]).toEqual([[1], [1], [0]]);
  });

  test('are chosen likewise; where none fits, none is', async () => {
    const shared = { questionId: '3-0', candidates: offered };
    const one = (subject: string, allowNone = true) =>
      replyTo(model, sample.chooseOneDecision({ ...shared, subjects: [id(subject)], allowNone }));
    expect(await one('tenet')).toEqual({ choice: 1 });
    expect(await one('juno')).toEqual({ choice: -1 });
    expect((await one('juno', false)).choice).toBeGreaterThanOrEqual(0);
    const many = (maxChoices: number) => replyTo(model, sample.chooseManyDecision({ ...shared, maxChoices }));
    expect(await many(4)).toEqual({ choices: [0, 1, 2] });
    expect(await many(2)).toEqual({ choices: [0, 1] });
  });
});

test('entities score where the gold chain leads from the subjects, over its own relation alone', async () => {
  const scores = async (questionId: string, subject: string, candidates: ReturnType<typeof entities>) =>
    (await replyTo(model, sample.scoreDecision({ questionId, candidates, subjects: [id(subject)] }))).scores;
  expect(await scores('2-2', 'page', entities('~starring', 'inception', 'tenet', 'juno'))).toEqual([10, 0, 10]);
  expect(await scores('2-2', 'juno', entities('year', '2007', '2010', '2020'))).toEqual([10, 10, 0]);
  expect(await scores('2-2', 'juno', entities('starring', '2007'))).toEqual([0]);
});

describe('matching clues', () => {
  const match = async (
    questionId: string,
    subjects: string[],
    candidates: ReturnType<typeof entities>,
    targets: string[],
  ) =>
    (await replyTo(model, sample.matchDecision({ questionId, subjects: subjects.map(id), candidates, targets })))
      .matches;

  test('pairs a relation with its own clue, if that is still open', async () => {
    const offered = relations('starring', 'directed_by', '~directed_by');
    const targets = ['Directed by', 'directed by (2)', 'year'];
    expect(await match('3-0', ['tenet'], offered, targets)).toEqual([{ candidate: 1, target: 0, score: 10 }]);
    expect(await match('3-0', ['nolan'], offered, targets)).toEqual([{ candidate: 2, target: 1, score: 10 }]);
    expect(await match('3-0', ['nolan'], offered, ['year'])).toEqual([]);
  });

  test('pairs an entity on the way with the clue of its relation, and none at the end', async () => {
    const targets = ['starring', 'year'];
    const way = entities('~starring', 'inception', 'dunkirk', 'juno');
    expect(await match('2-2', ['page'], way, targets)).toEqual([
      { candidate: 0, target: 0, score: 10 },
      { candidate: 2, target: 0, score: 10 },
    ]);
    expect(await match('2-2', ['juno'], entities('year', '2007'), targets)).toEqual([]);
  });
});

describe('rewriting', () => {
  const texts = async (about: 'paraphrase' | 'sub-question' | 'sub-objective' | 'memory', questionId = '3-0') =>
    (await replyTo(model, sample.rewriteDecision({ about, questionId, count: 3, evidence: [directed] }))).texts;

  test('gives the clue of each hop, the topic in the first', async () => {
    const parts = ['tenet, directed by', 'directed by (2)', 'year'];
    expect(await texts('sub-question')).toEqual(parts);
    expect(await texts('sub-objective')).toEqual(parts);
    expect(await texts('sub-question', 'literal')).toEqual(['what of juno']);
  });

  test('asks the same again in the same words, and says what is known in words', async () => {
    expect(await texts('paraphrase')).toEqual(['years of films by the director of tenet']);
    expect(await texts('memory')).toEqual(['tenet directed by nolan']);
    const nothing = sample.rewriteDecision({ about: 'memory', questionId: '3-0', evidence: [] });
    expect((await replyTo(model, nothing)).texts).toEqual(['Nothing is known yet.']);
  });

  test('without a gold chain a plan is the question: a reply holds one text at least', async () => {
    const plan = sample.rewriteDecision({ about: 'plan', questionId: 'literal', count: 3 });
    expect((await replyTo(model, plan)).texts).toEqual(['what of juno']);
  });

  test('goes wrong by the clue of another relation, the topic in its place', async () => {
    const wrong = await replyTo(oracle(1), sample.rewriteDecision({ questionId: '1-0', count: 1 }));
    expect(wrong.texts[0]).toMatch(/^tenet, (?:starring|year)$/);
  });
});

describe('writing paths', () => {
  const paths = filmPaths(
    ['tenet', 'year', '2020'],
    ['tenet', 'directed_by', 'nolan'],
    ['tenet', 'directed_by', 'nolan', '~directed_by', 'tenet'],
    ['tenet', 'directed_by', 'nolan', '~directed_by', 'dunkirk'],
    ['tenet', 'directed_by', 'nolan', '~directed_by', 'inception'],
  );
  const written = async (more: { count?: number; questionId?: string; allowed?: typeof paths.allowed }, rate = 0) =>
    (await replyTo(oracle(rate), sample.pathsDecision({ questionId: '2-0', count: 9, ...paths, ...more }))).paths;

  test('names those along a gold chain that end at a right answer, and no other', async () => {
    expect(await written({})).toEqual([3, 4]);
    expect(await written({ count: 1 })).toEqual([3]);
    expect(await written({ questionId: '1-0' })).toEqual([1]);
  });

  test('of a claim names those that lead to what it claims', async () => {
    expect(await written({ questionId: 'right-claim' })).toEqual([3]);
    expect(await written({ questionId: 'wrong-claim' })).toEqual([3, 4]);
  });

  test('guesses where none of them is right, and goes wrong by none that is', async () => {
    expect([0, 1]).toContain((await written({ count: 1, allowed: paths.allowed.slice(0, 2) }))[0]);
    const wrong = await written({}, 1);
    expect(wrong).toHaveLength(2);
    expect(wrong.every((index) => index < 3)).toBe(true);
  });
});

describe('proposing chains', () => {
  const names = [
    ['directed_by', '~directed_by'],
    ['starring', '~starring'],
    ['year', '~year'],
  ] as const;
  const allowed = names.map((pair) => pair.map((name) => films.relationId(name)));
  const decision = (more: Partial<ChainsDecision>) =>
    sample.chainsDecision({
      questionId: '2-0',
      allowed,
      relationName: (relation) => films.relationNames[relation]!,
      count: 2,
      ...more,
    });

  test('begins with the gold chain and continues with others, each once', async () => {
    const { chains } = await replyTo(model, decision({}));
    expect(chains[0]).toEqual(allowed[0]);
    expect(new Set(chains.map(String)).size).toBe(2);
    expect((await replyTo(model, decision({ count: 9 }))).chains).toHaveLength(3);
  });

  test('avoids those that were tried while others are left', async () => {
    const tried = (...lines: string[]) => decision({ context: [{ label: 'Tried', lines }], count: 1 });
    const other = (await replyTo(model, tried('1. directed_by → ~directed_by → inception; dunkirk'))).chains;
    expect(allowed.slice(1)).toContainEqual(other[0]);
    const all = names.map((pair) => pair.join(', '));
    expect((await replyTo(model, tried(...all))).chains).toEqual([allowed[0]]);
  });

  test('gives others where the gold one is not allowed', async () => {
    const { chains } = await replyTo(model, decision({ allowed: allowed.slice(1), count: 1 }));
    expect(allowed.slice(1)).toContainEqual(chains[0]);
  });
});

describe('judging', () => {
  const judge = async (more: Parameters<typeof sample.judgeDecision>[0]) =>
    replyTo(model, sample.judgeDecision({ questionId: '2-0', evidence: [], ...more }));

  test('chooses the finding with exactly the answers, else the smallest with all of them, else none', async () => {
    const exact = chain(['directed_by', '~directed_by'], ['dunkirk', 'inception']);
    const wide = chain(['starring', '~starring'], ['dunkirk', 'inception', 'juno']);
    const wider = chain(['year', '~year'], ['dunkirk', 'inception', 'juno', 'tenet']);
    const part = chain(['year', '~year'], ['dunkirk']);
    expect((await judge({ candidates: [part, wider, wide, exact] })).choice).toBe(3);
    expect((await judge({ candidates: [part, wider, wide] })).choice).toBe(2);
    expect(await judge({ candidates: [part] })).toMatchObject({ choice: -1, reason: expect.stringMatching(/not/) });
  });

  test('finds the facts enough once they name every answer, and then gives them', async () => {
    const [inception, dunkirk] = alsoDirected as [NamedTriple, NamedTriple];
    expect((await judge({ evidence: [directed, inception], withAnswers: true })).choice).toBe(-1);
    expect(await judge({ evidence: [directed, inception, dunkirk], withAnswers: true })).toMatchObject({
      choice: 0,
      answers: ['inception', 'dunkirk'],
    });
    expect((await judge({ questionId: 'literal', evidence: [directed] })).choice).toBe(-1);
  });

  test('of a claim finds the gold chain right, and facts that decide it enough', async () => {
    const candidates = [chain(['starring', '~starring']), chain(['directed_by', '~directed_by'])];
    expect((await judge({ questionId: 'wrong-claim', candidates })).choice).toBe(1);
    const evidence = [directed, ...alsoDirected];
    expect(await judge({ questionId: 'wrong-claim', evidence, withAnswers: true })).toMatchObject({
      choice: 0,
      answers: ['false'],
    });
    expect((await judge({ questionId: 'right-claim', evidence: [directed] })).choice).toBe(-1);
  });
});

describe('answering', () => {
  const answers = async (more: Parameters<typeof sample.answerDecision>[0]) =>
    (await replyTo(model, sample.answerDecision({ questionId: '2-0', ...more }))).answers;

  test('names the right answers that the facts name, and abstains without', async () => {
    expect(
      await answers({
        evidence: [
          ['dunkirk', 'directed_by', 'nolan'],
          ['juno', 'year', '2007'],
        ],
      }),
    ).toEqual(['dunkirk']);
    expect(await answers({ evidence: [directed] })).toEqual([]);
    expect(await answers({ evidence: [] })).toEqual([]);
    expect(await answers({ evidence: alsoDirected, allowed: ['juno', 'Dunkirk'] })).toEqual(['Dunkirk']);
  });

  test('of a claim follows the chain inside the facts, in either direction', async () => {
    const truth = (questionId: string, evidence: NamedTriple[]) => answers({ questionId, evidence, form: 'truth' });
    const turned: NamedTriple = ['nolan', '~directed_by', 'dunkirk'];
    expect(await truth('right-claim', [directed, ...alsoDirected])).toEqual(['true']);
    expect(await truth('right-claim', [directed, turned])).toEqual(['true']);
    expect(await truth('right-claim', [turned])).toEqual([]);
    expect(await truth('right-claim', [directed, alsoDirected[0]!])).toEqual([]);
    expect(await truth('wrong-claim', [directed, turned])).toEqual(['false']);
    expect(await truth('wrong-claim', [directed])).toEqual([]);
    expect(await truth('wrong-claim', [['juno', 'directed_by', 'reitman']])).toEqual([]);
  });

  test('without facts and without a prior is not simulated', async () => {
    for (const phase of ['io', 'cot']) {
      await expect(answers({ phase, evidence: [] })).rejects.toMatchObject({ code: 'usage' });
    }
  });
});

test('the error rate stands in the name of the model', () => {
  expect(oracleRates('oracle:0.1')).toEqual({ error: 0.1, confuse: 0 });
  expect(oracleRates('oracle')).toEqual({ error: 0, confuse: 0 });
  expect(oracleRates('oracle:0.1,confuse=0.5')).toEqual({ error: 0.1, confuse: 0.5 });
  expect(oracleRates('oracle.gguf')).toBeUndefined();
  for (const wrong of ['oracle:', 'oracle:x', 'oracle:1.5', 'oracle:-1']) {
    expect(() => oracleRates(wrong)).toThrow('expected an error rate from 0 to 1');
  }
  for (const wrong of ['', '-1', 'x', 'Infinity', '1,confuse=1']) {
    expect(() => oracleRates(`oracle:0.1,confuse=${wrong}`)).toThrow('expected a number from 0');
  }
});

test('the id depends on rate, seed, graph and questions', () => {
  const ids = [
    oracle(0),
    oracle(0.1),
    oracle(0, 4),
    openOracle({ graph: films, samples: questions.slice(1), error: 0, seed: 3 }),
  ].map((one) => one.id);
  expect(new Set(ids).size).toBe(4);
  expect(oracle().id).toBe(oracle().id);
});

test('a question that it was not given is an error that names it', async () => {
  await expect(replyTo(model, sample.extractDecision({ questionId: 'other' }))).rejects.toThrow('got other');
});

describe('by likelihood', () => {
  const scored = async (decision: Decision, rate = 0) => {
    const ask = async ({ texts, body, meant, target }: TextQuery) => {
      const request = { head: '', body, decision, meant, ...(target !== undefined && { target }) };
      const { logProbs, tokens } = await oracle(rate).scoreTexts!(request, texts);
      expect([...logProbs].every((value) => value === 0 || value === -4)).toBe(true);
      expect([...tokens].every((count) => count === 1)).toBe(true);
      return logProbs.map((value) => value + 4);
    };
    return (await byLikelihood(decision, ask)).reply;
  };
  const offered = relations('year', 'directed_by', '~directed_by', 'starring');
  const shared = { questionId: '3-0', candidates: offered, subjects: [id('tenet')] };
  const names = (...chains: string[][]) => chains.map((chain) => chain.map((name) => films.relationId(name)));
  const paths = filmPaths(['tenet', 'year', '2020'], ['tenet', 'directed_by', 'nolan']);

  test('the same is chosen as in writing', async () => {
    expect(await scored(sample.chooseOneDecision(shared))).toEqual({ choice: 1 });
    expect(await scored(sample.chooseOneDecision({ ...shared, subjects: [id('juno')] }))).toEqual({ choice: -1 });
    expect(await scored(sample.chooseManyDecision(shared))).toEqual({ choices: [1] });
    expect(await scored(sample.matchDecision({ ...shared, targets: ['year', 'directed by'] }))).toMatchObject({
      matches: [{ candidate: 1, target: 1 }],
    });
    const allowed = names(['year', '~year'], ['directed_by', '~directed_by']);
    const relationName = (relation: number) => films.relationNames[relation]!;
    const proposed = sample.chainsDecision({ questionId: '2-0', allowed, relationName, count: 1 });
    expect(await scored(proposed)).toEqual({ chains: [allowed[1]] });
    expect(await scored(sample.pathsDecision({ questionId: '1-0', count: 1, ...paths }))).toEqual({ paths: [1] });
    expect(await scored(sample.judgeDecision({ questionId: '1-0', evidence: [directed] }))).toMatchObject({
      choice: 0,
    });
    expect(await scored(sample.judgeDecision({ questionId: '1-0', evidence: [] }))).toMatchObject({ choice: -1 });
  });

  test('what goes wrong in writing goes wrong likewise', async () => {
    for (let i = 0; i < 20; i++) {
      const decision = sample.chooseOneDecision({ ...shared, phase: `p${i}` });
      expect(await scored(decision, 0.5)).toEqual(await replyTo(oracle(0.5), decision));
    }
  });
});
