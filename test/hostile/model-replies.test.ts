import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Decision } from '../../src/llm/decision.js';
import { readReply, writeReply } from '../../src/llm/decisions/reply-forms.js';
import { OfferedNames, writtenIndex } from '../../src/llm/decisions/reply-values.js';
import { anyCharacters } from '../fixtures/any-characters.js';
import { anyDecisionAndReply } from '../fixtures/any-decision.js';
import { often, tally } from '../fixtures/long-tests.js';
import { spoiltText } from '../fixtures/spoilt.js';
import {
  answerDecision,
  candidates,
  chainsDecision,
  chooseOneDecision,
  judgeDecision,
  matchDecision,
  scoreDecision,
} from '../fixtures/sample-decisions.js';

function read(decision: Decision, text: string) {
  const found = readReply(decision, text, { constrained: false });
  return found && { ...found.reply, stage: found.stage };
}

describe('hostile text', () => {
  const anything = fc.oneof(
    anyCharacters({ maxLength: 200 }),
    fc.json(),
    fc
      .array(fc.constantFrom('{', '}', '[', ']', '"', "'", ':', ',', '\\', '1', 'a', '\n', ';', '(', '- '), {
        maxLength: 300,
      })
      .map((parts) => parts.join('')),
  );

  test('never throws, and what is read holds only what was offered', () => {
    fc.assert(
      fc.property(anyDecisionAndReply, anything, ({ decision }, text) => {
        const found = readReply(decision, text, { constrained: false });
        if (!found) return;
        // What was read can be written, and is then read directly: so it was valid.
        expect(read(decision, writeReply(decision, found.reply))).toEqual({ ...found.reply, stage: 'direct' });
      }),
      { numRuns: often(150, 10_000), seed: 11 },
    );
    tally('inputs tried', often(150, 10_000));
  });

  test('a true reply that was spoilt never throws, and what is read holds only what was offered', () => {
    const spoilt = anyDecisionAndReply.chain(({ decision, reply }) =>
      spoiltText(writeReply(decision, reply)).map((text) => ({ decision, text })),
    );
    fc.assert(
      fc.property(spoilt, ({ decision, text }) => {
        const found = readReply(decision, text, { constrained: false });
        if (!found) return;
        expect(read(decision, writeReply(decision, found.reply))).toEqual({ ...found.reply, stage: 'direct' });
      }),
      { numRuns: often(75, 10_000), seed: 12 },
    );
    tally('inputs tried', often(75, 10_000));
  });

  test.each([
    '[',
    '{',
    '{"a":',
    '["',
    "['",
    '(',
    '```',
    '1. ',
    'a: ',
    ';',
    '\\',
    '{"choice":1',
    '\u0000',
    '<|',
    '<think>',
    "'a', ",
  ])('is given up in bounded time: %j many times', (part) => {
    for (const decision of [
      chooseOneDecision(),
      scoreDecision(),
      matchDecision(),
      chainsDecision(),
      judgeDecision(),
      answerDecision(),
    ]) {
      readReply(decision, part.repeat(often(1_500, 50_000)), { constrained: false });
    }
  });

  test('names that are nearly right take a bounded effort, and those that are right are found all the same', () => {
    const offered = Array.from({ length: 1500 }, (_, i) => `the ${i} relation of some long name ${1500 - i}`);
    const near = offered.slice(0, 200).map((name) => name.replace('long', 'lomg').replace('some', 'same'));
    const names = new OfferedNames(offered);
    const full = names.effort.left;
    for (const line of near) names.snap(line);
    // The last comparison is ended.
    expect(names.effort.left).toBeGreaterThan(-full / 100);
    expect(names.effort.left).toBeLessThan(0);
    expect(names.snap(offered[7]!.toUpperCase())).toBe(7);
    expect(writtenIndex(`3. ${offered[9]}`, names)).toBe(9);
    const decision = chooseOneDecision({ candidates: candidates(...offered) });
    expect(read(decision, near.join('\n'))).toBeUndefined();
  });

  test('cannot reach a prototype', () => {
    for (const text of [
      '{"__proto__":{"choice":1}}',
      "{'__proto__': {'choice': 1}}",
      '{"constructor":{"prototype":{"choice":1}}}',
    ]) {
      readReply(judgeDecision(), text, { constrained: false });
      expect(({} as Record<string, unknown>)['choice']).toBeUndefined();
    }
    expect(
      read(scoreDecision({ candidates: candidates('__proto__', 'toString') }), "{'__proto__': 3, 'toString': 4}"),
    ).toEqual({
      scores: [3, 4],
      stage: 'repaired',
    });
  });
});
