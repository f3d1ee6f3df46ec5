import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { renderPrompt } from '../../../../src/llm/decisions/render-prompt.js';
import { maxReplyTokens, replyFormat, writeReply } from '../../../../src/llm/decisions/reply-forms.js';
import { trieGrammar } from '../../../../src/llm/decisions/reply-form.js';
import { openLlama } from '../../../../src/llm/llama-library.js';
import { anyDecisionAndReply } from '../../../fixtures/any-decision.js';
import { grammarAccepts } from '../../../fixtures/gbnf-acceptor.js';
import { longTest } from '../../../fixtures/long-tests.js';
import {
  candidates,
  chainsDecision,
  judgeDecision,
  matchDecision,
  pathsDecision,
  scoreDecision,
} from '../../../fixtures/sample-decisions.js';
import { checkProperty } from '../../../fixtures/property.js';

describe('the grammar of a reply', () => {
  test('B-FISKE-4: derives the allowed chains and no other, also where names begin alike', () => {
    const decision = chainsDecision({ count: 1 });
    const accepts = grammarAccepts(replyFormat(decision).gbnf);
    const names = ['owns', '~owns', 'built', '~built', 'built_in', 'built_in_year', 'buil', 'built_', ''];
    const derived = names.flatMap((first) =>
      names.map((second) => [first, second]).filter((chain) => accepts(JSON.stringify({ chains: [chain] }))),
    );
    expect(derived).toEqual([
      ['~owns', 'built'],
      ['~owns', 'built_in'],
      ['~owns', 'built_in_year'],
      ['built_in', 'built'],
    ]);
    expect(accepts('{"chains":[["~owns"]]}')).toBe(false);
    expect(accepts('{"chains":[["~owns","built","built"]]}')).toBe(false);
    expect(accepts('{"chains":[]}')).toBe(false);
  });

  test('derives the paths that exist and no other, also where names begin alike', () => {
    const decision = pathsDecision({ count: 1 });
    const { gbnf, jsonSchema } = replyFormat(decision);
    const accepts = grammarAccepts(gbnf);
    const built = (name: string) => `{"paths":["Port Vell → ~owns → Tamsin Orrel → built → ${name}"]}`;
    const names = ['Heron', 'Heron (1884)', 'Heron (18', '1884', ''];
    expect(names.filter((name) => accepts(built(name)))).toEqual(['Heron', 'Heron (1884)']);
    expect(accepts('{"paths":["Port Vell → ~owns → Tamsin Orrel"]}')).toBe(true);
    expect(accepts('{"paths":["Port Vell → ~owns"]}')).toBe(false);
    expect(accepts('{"paths":[]}')).toBe(false);
    expect(grammarAccepts(replyFormat(pathsDecision({ allowed: [] })).gbnf)('{"paths":[]}')).toBe(true);
    expect(jsonSchema).toMatchObject({ properties: { paths: { items: { enum: { length: 4 } }, maxItems: 1 } } });
  });

  test('a hub of ten thousand paths is a grammar that grows with its names alone', () => {
    const allowed = Array.from({ length: 10_000 }, (_, i) => [[0, 1, i + 1] as const, [i + 1, 2, i % 100] as const]);
    const decision = pathsDecision({ allowed, entityName: (entity) => `film number ${entity}` });
    const { gbnf } = replyFormat(decision);
    expect(gbnf.length).toBeLessThan(1_500_000);
    expect(grammarAccepts(gbnf)(writeReply(decision, { paths: [9999, 17] }))).toBe(true);
  });

  test('asks for no more chains than there are', () => {
    const allowed = [1, 4].map((first) => [first, 2]);
    const accepts = grammarAccepts(replyFormat(chainsDecision({ count: 5, allowed })).gbnf);
    expect(accepts('{"chains":[["~owns","built"],["built_in","built"]]}')).toBe(true);
    expect(accepts('{"chains":[["~owns","built"]]}')).toBe(false);
    expect(grammarAccepts(replyFormat(chainsDecision({ allowed: [] })).gbnf)('{"chains":[]}')).toBe(true);
  });

  test('shares beginnings and endings: three hops over twenty relations stay small', () => {
    const allowed = Array.from({ length: 8000 }, (_, i) => [Math.floor(i / 400), Math.floor(i / 20) % 20, i % 20]);
    const { gbnf } = replyFormat(
      chainsDecision({ allowed, relationName: (relation) => `relation_number_${relation}` }),
    );
    expect(gbnf.length).toBeLessThan(20_000);
  });

  test('the trie of any texts derives them and nothing else', () => {
    const unit = fc.constantFrom('a', 'b', '"', '\\', ' ', 'é', '🜂', '🜁');
    const names = fc.array(fc.string({ unit, maxLength: 5 }), { minLength: 1, maxLength: 12 });
    checkProperty(
      fc.property(names, names, (texts, others) => {
        const { expression, rules } = trieGrammar(texts, 't');
        const accepts = grammarAccepts([`root ::= ${expression}`, ...rules].join('\n'));
        for (const text of [...texts, ...others]) expect(accepts(text)).toBe(texts.includes(text));
      }),
    );
  });

  test('bounds every number, in each place by what stands there', () => {
    const accepts = grammarAccepts(replyFormat(matchDecision()).gbnf);
    const right = ['[[3,2,10]]', '[]', '[[1,1,0],[2,2,5]]'];
    const wrong = ['[[0,1,1]]', '[[4,1,1]]', '[[1,3,1]]', '[[1,1,11]]', '[[1,1]]'];
    expect([...right, ...wrong].filter((map) => accepts(`{"map":${map}}`))).toEqual(right);
    const scores = grammarAccepts(replyFormat(scoreDecision()).gbnf);
    const lists = ['[1,2,3]', '[1,2]', '[1,2,3,4]'];
    expect(lists.filter((list) => scores(`{"scores":${list}}`))).toEqual(['[1,2,3]']);
  });

  test('derives what is written for any reply, and the prompt offers room for it', () => {
    checkProperty(
      fc.property(anyDecisionAndReply, ({ decision, reply }) => {
        const text = writeReply(decision, reply);
        expect(grammarAccepts(replyFormat(decision).gbnf)(text)).toBe(true);
        expect(maxReplyTokens(decision)).toBeGreaterThan(text.length / 4);
        expect(renderPrompt(decision).body.split('\n').at(-1)).toBe('Reply:');
      }),
    );
  });
});

test('the schema has every bound as an enumeration and closes every object', () => {
  expect(replyFormat(judgeDecision({ candidates: candidates('a', 'b') })).jsonSchema).toEqual({
    type: 'object',
    properties: { reason: { type: 'string', maxLength: 120 }, choice: { type: 'integer', enum: [0, 1, 2] } },
    required: ['reason', 'choice'],
    additionalProperties: false,
  });
  expect(replyFormat(chainsDecision()).jsonSchema).toMatchObject({
    properties: {
      chains: {
        minItems: 2,
        maxItems: 2,
        items: { items: { enum: ['~owns', 'built', 'built_in', 'built_in_year'] }, minItems: 2, maxItems: 2 },
      },
    },
  });
});

longTest('llama.cpp reads every grammar', async () => {
  const llama = await openLlama('off');
  const decisions = fc.sample(anyDecisionAndReply, { numRuns: 30, seed: 7 }).map(({ decision }) => decision);
  for (const decision of decisions) await llama.createGrammar({ grammar: replyFormat(decision).gbnf });
});
