import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NameIndex, tokenize } from '../../../../agents/walker/features/dialogue-scratch.js';
import { graphOf } from '../../../fixtures/toy-walks.js';

function indexOf(...names: string[]) {
  const graph = graphOf(
    'names',
    names.map((name) => [name, 'r', name] as const),
  );
  const index = new NameIndex(graph);
  const mentions = (text: string) => Array.from(index.read(text).mentions, (entity) => graph.entityNames[entity]);
  return { graph, index, mentions };
}

describe('tokens', () => {
  test('are lower-case runs of letters and digits without accents', () => {
    expect(tokenize("Pedro Almodóvar's 8½, (2019)!")).toEqual(['pedro', 'almodovar', 's', '81', '2', '2019']);
    expect(tokenize('…?!')).toEqual([]);
  });

  test('of an ASCII text are the same when an accented word follows', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect([...tokenize(text), 'e']).toEqual(tokenize(`${text} é`));
      }),
    );
  });
});

describe('mentions in a message', () => {
  test('are whole names in whole words, in any case and with any punctuation between', () => {
    const { mentions } = indexOf('Inception', 'The Dark Knight', 'Dark');
    expect(mentions('I loved the dark-KNIGHT.')).toEqual(['The Dark Knight', 'Dark']);
    expect(mentions('The darkness of conceptions')).toEqual([]);
  });

  test('ignore accents on either side', () => {
    const { mentions } = indexOf('Amélie', 'Penelope Cruz');
    expect(mentions('Have you seen Amelie with Penélope Cruz?')).toEqual(['Amélie', 'Penelope Cruz']);
  });

  test('need not repeat a bracketed ending, but may', () => {
    const { mentions } = indexOf('It (2017 film)', 'Gravity (film)', '(500) Days of Summer');
    expect(mentions('Was gravity good?')).toEqual(['Gravity (film)']);
    expect(mentions('the gravity film')).toEqual(['Gravity (film)']);
    expect(mentions('days of summer')).toEqual([]);
    expect(mentions('500 Days of Summer')).toEqual(['(500) Days of Summer']);
  });

  test('find a long name whose beginning is no name, and one that another begins with', () => {
    const { mentions } = indexOf('Once Upon a Time', 'Once Upon a Time in America', 'Time');
    expect(mentions('once upon a time in america')).toEqual([
      'Once Upon a Time',
      'Once Upon a Time in America',
      'Time',
    ]);
    expect(mentions('once upon a time in paris')).toEqual(['Once Upon a Time', 'Time']);
  });

  test('find every entity of an ambiguous name, each once', () => {
    const { mentions } = indexOf('Gravity', 'Gravity (film)');
    expect(mentions('Gravity, gravity!')).toEqual(['Gravity', 'Gravity (film)']);
  });

  test('go up to names of eight tokens', () => {
    const eight = 'one two three four five six seven eight';
    const { mentions } = indexOf(eight, `${eight} nine`);
    expect(mentions(`so ${eight} nine it is`)).toEqual([eight]);
  });

  test('never find a name without letters or digits', () => {
    const { index, mentions } = indexOf('!!!', 'Inception');
    expect(mentions('!!! Inception')).toEqual(['Inception']);
    expect(index.nameWeight[0]).toBe(0);
  });
});

describe('weights of tokens', () => {
  test('are the logarithm of how rare a token is among names, summed over a name', () => {
    const { graph, index } = indexOf('Dark Knight', 'Dark Water', 'Dark Dark');
    const tokensOf = (entity: number) =>
      Array.from(index.tokenIds.subarray(index.tokenOffsets[entity], index.tokenOffsets[entity + 1]));
    const [dark, knight] = tokensOf(0);
    expect(tokensOf(graph.entityId('Dark Dark'))).toEqual([dark]);
    expect(index.numTokens).toBe(3);
    expect(index.inverseFrequency[dark!]).toBeCloseTo(Math.log(4 / 3), 6);
    expect(index.inverseFrequency[knight!]).toBeCloseTo(Math.log(4), 6);
    expect(index.nameWeight[0]).toBeCloseTo(Math.log(4 / 3) + Math.log(4), 6);
  });

  test('are kept for known tokens of a message only, each once', () => {
    const { index } = indexOf('Dark Knight');
    expect(Array.from(index.read('knight of the night, knight').tokens)).toEqual([
      index.tokenIds[1], // 'knight'
    ]);
  });

  test('a message is read once', () => {
    const { index } = indexOf('Dark Knight');
    expect(index.read('dark')).toBe(index.read('dark'));
  });
});
