import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maskedQuestion } from '../../../datasets/question.js';
import { locatedTopic, markedTopics } from '../../../datasets/questions/stored-question.js';

describe('topics of a question', () => {
  test('brackets go away and their places stay', () => {
    const marked = markedTopics('did [Ann] meet [Bo] there');
    expect(marked).toEqual({
      question: 'did Ann meet Bo there',
      topics: [
        { name: 'Ann', span: [4, 7] },
        { name: 'Bo', span: [13, 15] },
      ],
    });
    expect(maskedQuestion(marked)).toBe('did [E] meet [E] there');
  });

  test('a name may hold brackets; brackets that are empty or open are text', () => {
    expect(markedTopics('who made [[Rec]]')).toEqual({
      question: 'who made [Rec]',
      topics: [{ name: '[Rec]', span: [9, 14] }],
    });
    expect(markedTopics('who [] made [x')).toEqual({ question: 'who [] made [x', topics: [] });
  });

  test('every span shows its name, for any text', () => {
    const text = fc.array(fc.oneof(fc.constantFrom('[', ']', ' ', 'a'), fc.string()), { maxLength: 20 });
    fc.assert(
      fc.property(text, (pieces) => {
        const { question, topics } = markedTopics(pieces.join(''));
        for (const { name, span } of topics) expect(question.slice(...span!)).toBe(name);
      }),
      { numRuns: 500 },
    );
  });

  test('a mention is found as a whole word, in its case first', () => {
    expect(locatedTopic('is ann or Ann here', 'Ann')).toEqual({ name: 'Ann', span: [10, 13] });
    expect(locatedTopic('is ann here', 'Ann')).toEqual({ name: 'Ann', span: [3, 6] });
    expect(locatedTopic('is annika here', 'ann')).toEqual({ name: 'ann' });
    expect(locatedTopic("ann's dad", 'ann')).toEqual({ name: 'ann', span: [0, 3] });
  });
});
