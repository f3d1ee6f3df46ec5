import { describe, expect, test } from '@jest/globals';
import { byLikelihood, textQueries } from '../../../../src/llm/decisions/likelihood/by-likelihood.js';
import { plainBody, plainSolved } from '../../../../src/llm/decisions/likelihood/plain-text.js';
import { longTest } from '../../../fixtures/long-tests.js';
import { chooseOneDecision, matchDecision, answerDecision } from '../../../fixtures/sample-decisions.js';
import type { NamedTriple } from '../../../../src/llm/decision.js';
import { joinedLines } from '../../../../src/llm/decisions/prompt-text.js';
import { renderPrompt } from '../../../../src/llm/decisions/render-prompt.js';
import { Rng } from '../../../../src/run/seeds.js';

const asked = (question: string, topic: string) =>
  plainBody('relation', { question, context: [{ label: 'Path', lines: [topic] }] }).body;

describe('in a question as plain text the topic', () => {
  test.each([
    ['who directed Heat', 'Heat', 'who directed it? ='],
    ['who directed [heat]?', 'Heat', 'who directed it? ='],
    ['which films of Lana Wachowski, and Lilly', 'Lana Wachowski, Lilly', 'which films of it, and it? ='],
    ['who directed I, Robot', 'I, Robot', 'who directed it? ='],
    ['what are the other films of Her', 'Her', 'what are the other films of it? ='],
    ['which others made Heat after Heat', 'Heat', 'which others made it after Heat? ='],
    ['İİİ who directed Heat', 'Heat', 'İİİ who directed it? ='],
    ['who made What? (again)', 'What? (again)', 'who made it? ='],
    ['is New York in York', 'York, New York', 'is it in it? ='],
    ['谁导演了英雄', '英雄', '谁导演了it? ='],
  ])('of %s is one word', (question, topic, body) => {
    expect(asked(question, topic)).toBe(`\n${body}`);
  });

  test('goes from solved questions as well, each topic once', () => {
    expect(plainSolved('did Ann meet Annabel', ['Ann', 'Annabel'], ['met'])).toBe('did it meet it? = met');
  });
});

test('paths with hundreds of equal characters differ by their ends', () => {
  const steps = Array.from({ length: 12 }, (_, i) => `${'Harbour of the northern isles '.repeat(2)}${i}`);
  const texts = ['Vell', 'Orrel'].map((end) => [...steps, end].join(' → '));
  const decision = chooseOneDecision({
    candidates: texts.map((text) => ({ kind: 'path', triples: [], text })),
    allowNone: false,
  });
  expect(textQueries(decision)![0]!.texts).toEqual(texts);
});

longTest('a match over more candidates than a call has arguments is taken', async () => {
  const many = Array.from({ length: 130_000 }, (_, i) => ({ kind: 'text' as const, text: `name ${i}` }));
  const decision = matchDecision({ candidates: many, targets: ['ships'] });
  const { reply } = await byLikelihood(decision, ({ texts }) =>
    Promise.resolve(Float64Array.from(texts, (_, i) => (i === 7 ? 3 : -3))),
  );
  expect(reply!.matches).toMatchObject([{ candidate: 7, target: 0 }]);
});

const facts: readonly NamedTriple[] = [
  ['Harbour Clock', 'purchased_by', 'Orla Brandt'],
  ['Tower Clock', 'repaired_by', 'Mia Kop'],
  ['Tower Clock', 'purchased_by', 'Orla Brandt'],
  ['Tower Clock', 'repaired_by', 'Jon Weil'],
  ['Orla Brandt', 'lives_in', 'Skarn'],
];

describe('facts joined into lines', () => {
  test('stand by head and relation first, then by relation and tail, in the order in which lines begin', () => {
    expect(joinedLines(facts)).toEqual([
      'Harbour Clock; Tower Clock | purchased_by | Orla Brandt',
      'Tower Clock | repaired_by | Mia Kop; Jon Weil',
      'Orla Brandt | lives_in | Skarn',
    ]);
    expect(joinedLines([])).toEqual([]);
  });

  test('are each in one line, and the lines say nothing else', () => {
    const rng = Rng.named(5, 'joined-facts');
    for (let round = 0; round < 50; round++) {
      const drawn = Array.from({ length: 1 + rng.integer(30) }, (): NamedTriple => [
        `h${rng.integer(4)}`,
        `r${rng.integer(3)}`,
        `t${rng.integer(4)}`,
      ]);
      const said = joinedLines(drawn).flatMap((line) => {
        const [heads, relation, tails] = line.split(' | ').map((part) => part.split('; '));
        expect(Math.min(heads!.length, tails!.length)).toBe(1);
        return heads!.flatMap((head) => tails!.map((tail) => [head, relation![0]!, tail].join()));
      });
      expect(said.sort()).toEqual([...new Set(drawn.map((fact) => fact.join()))].sort());
    }
  });

  test('stand in the prompt and its examples of a decision that asks for it, and in no other', () => {
    const example = { question: 'who', evidence: facts.slice(1, 4), reply: { answers: ['Mia Kop'] } };
    const { head, body } = renderPrompt(answerDecision({ evidence: facts, examples: [example], joinFacts: true }));
    expect(head).toContain('Tower Clock | repaired_by | Mia Kop; Jon Weil');
    expect(body).toContain('Harbour Clock; Tower Clock | purchased_by | Orla Brandt');
    const apart = renderPrompt(answerDecision({ evidence: facts, examples: [example] }));
    expect(`${apart.head}${apart.body}`).not.toContain(';');
  });
});
