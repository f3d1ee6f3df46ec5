import { describe, expect, test } from '@jest/globals';
import { agreed } from '../../../tasks/questions/agreement.js';

const shown = (answers: string[], chain?: string[]) => ({
  json: { question: 'who wrote films of X', topics: ['X'], answers, ...(chain && { chain }) },
  sections: [],
  answers: answers.map((text) => ({ text })),
});

const wrote = ['~directed_by', 'written_by'];

describe('runs that are asked the same', () => {
  test('answer where all give the same answers, in any order and by any chain', () => {
    const { json, answers, sections } = agreed([shown(['A', 'B'], wrote), shown(['B', 'A'], ['wrote'])], ['r0', 'r1']);
    expect(answers).toEqual([{ text: 'A' }, { text: 'B' }]);
    expect(json).toMatchObject({ agree: true, answers: ['A', 'B'] });
    expect(sections.at(-1)!.rows).toEqual([
      { 'read as': 'written_by of ~directed_by of [X]', runs: 1 },
      { 'read as': 'wrote of [X]', runs: 1 },
    ]);
  });

  test('else give no answer, and show each reading with who reads so', () => {
    const given = [shown(['A'], wrote), shown(['C'], ['~directed_by']), shown(['A'], wrote)];
    const { json, answers, sections } = agreed(given, ['r0', 'r1', 'r2']);
    expect(answers).toEqual([]);
    expect(json).toEqual({
      ...{ question: 'who wrote films of X', topics: ['X'], answers: [], agree: false },
      readings: [
        { reading: 'written_by of ~directed_by of [X]', answers: ['A'], runs: ['r0', 'r2'] },
        { reading: '~directed_by of [X]', answers: ['C'], runs: ['r1'] },
      ],
    });
    expect(sections.map(({ title }) => title)).toEqual(['', 'not sure: 3 runs give different answers']);
  });

  test('that agree on no answer say so', () => {
    expect(agreed([shown([]), shown([])], ['r0', 'r1']).json).toMatchObject({ agree: true, answers: [] });
  });
});
