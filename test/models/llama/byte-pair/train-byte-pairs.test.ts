import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bytePairTokenizer } from '../../../../models/llama/byte-pair/byte-pair-tokenizer.js';
import { numberMerges, trainBytePairs } from '../../../../models/llama/byte-pair/train-byte-pairs.js';
import { baseTokens, textPieces } from '../../../../models/llama/byte-pair/vocabulary.js';
import { anyCharacters } from '../../../fixtures/any-characters.js';

const learned = (texts: string[], count: number, words = 0.5) =>
  trainBytePairs(texts, { vocabularySize: baseTokens.length + count, first: [], words }).merges.map((pair) =>
    pair.join('+'),
  );

describe('learning byte pairs', () => {
  test('merges the most frequent pair first, counted again after each merge', () => {
    // "l+o" and "o+w" occur four times each, then "lo+w" four, "Ġ+low" three, "Ġlow+e" two times.
    expect(learned(['low low lower lowest'], 4)).toEqual(['l+o', 'lo+w', 'Ġ+low', 'Ġlow+e']);
  });

  test('a space joins its word when the words have had their share, or nothing else is left', () => {
    expect(learned(['low low lower lowest'], 4, 0.8)).toEqual(['l+o', 'lo+w', 'low+e', 'Ġ+lowe']);
    expect(learned([' a a a b b'], 2, 1)).toEqual(['Ġ+a', 'Ġ+b']);
  });

  test('a word is cut alike with and without a space before it', () => {
    const names = ['Visko', 'Viskara', 'Lolbra', 'Lolkara', 'Sko', 'Brakara'];
    const vocabulary = trainBytePairs([`Visko ${names.join(' ')} ${names.join(' ')}`], { vocabularySize: 345 });
    const { encode } = bytePairTokenizer(vocabulary);
    const cut = (text: string) => encode(text).map((id) => vocabulary.tokens[id]);
    for (const name of names) expect(cut(` ${name}`).join('|').replace(/^Ġ\|?/, '')).toBe(cut(name).join('|'));
  });

  test('of equal pairs the earlier tokens win, in any order of the texts', () => {
    expect(learned(['xy', 'ab', 'xy', 'ab'], 2)).toEqual(['a+b', 'x+y']);
    const texts = ['ba ab', 'the bath', 'a bat', 'that', 'it is', 'é è', 'that is it'];
    fc.assert(
      fc.property(fc.shuffledSubarray(texts, { minLength: texts.length }), (shuffled) => {
        expect(learned(shuffled, 12)).toEqual(learned(texts, 12));
      }),
      { numRuns: 20 },
    );
  });

  test('agrees with counting everything again after every merge', () => {
    const words = fc.array(fc.stringMatching(/^[abc]{1,6}$/), { minLength: 1, maxLength: 12 });
    fc.assert(fc.property(words, (texts) => expect(learned(texts, 6)).toEqual(counted(texts, 6))));
  });

  test('numbers up to the last are one token each, alone and after a space; longer ones are not torn', () => {
    const vocabulary = trainBytePairs([], { vocabularySize: 400, first: numberMerges(40) });
    const { encode } = bytePairTokenizer(vocabulary);
    for (let number = 0; number <= 40; number++) {
      expect([encode(`${number}`).length, encode(` ${number}`).length]).toEqual([1, 1]);
    }
    expect(encode(' 1234').map((id) => vocabulary.tokens[id])).toEqual(['Ġ12', '34']);
  });
});

describe('pieces of a text', () => {
  test('are cut as GPT-2 cuts', () => {
    const pieces = ['I', "'ll", ' say', ':', ' "', '12', ' x', '"', ' \n\n ', ' end'];
    expect(textPieces(pieces.join(''))).toEqual(pieces);
  });

  test('are the text when joined, and keep special names apart', () => {
    fc.assert(fc.property(anyCharacters({ maxLength: 20 }), (text) => expect(textPieces(text).join('')).toBe(text)));
    expect(textPieces('<s></s>')).toEqual(['<', 's', '></', 's', '>']);
  });
});

/** The same by the definition: every pair of every text counted for every merge. */
function counted(texts: readonly string[], count: number): string[] {
  let words = texts.map((text) => [...text]);
  const order = [...baseTokens];
  const merges: string[] = [];
  while (order.length < baseTokens.length + count) {
    const counts = new Map<string, number>();
    for (const word of words) {
      word
        .slice(1)
        .forEach((right, i) => counts.set(`${word[i]}+${right}`, (counts.get(`${word[i]}+${right}`) ?? 0) + 1));
    }
    const rank = (pair: string) => pair.split('+').map((token) => order.indexOf(token));
    const best = [...counts]
      .filter(([, number]) => number > 1)
      .sort(([a, x], [b, y]) => y - x || rank(a)[0]! - rank(b)[0]! || rank(a)[1]! - rank(b)[1]!)[0];
    if (best === undefined) break;
    const [left, right] = best[0].split('+') as [string, string];
    merges.push(best[0]);
    if (!order.includes(left + right)) order.push(left + right);
    words = words.map((word) =>
      word.reduce<string[]>((done, token, i) => {
        const taken = word[i - 1] === left && token === right && done.at(-1) === left;
        return taken ? [...done.slice(0, -1), left + right] : [...done, token];
      }, []),
    );
  }
  return merges;
}
