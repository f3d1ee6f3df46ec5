import { beforeAll, describe, expect, test } from '@jest/globals';
import { baseOf, plural, singular, verbForms, wordsOfName } from '../../../datasets/generated/english.js';
import { type RelationWords, relationWordsOf, wordsOfRelation } from '../../../datasets/generated/relation-words.js';
import { openWordNet, type Vocabulary, withoutVocabulary } from '../../../datasets/generated/vocabulary.js';
import { hashedEncoder } from '../../../src/encoder/index.js';

let vocabulary: Vocabulary;
beforeAll(() => {
  vocabulary = openWordNet()!;
});

/** Lists that have words, as `tailIs director`. */
const said = (words: RelationWords) =>
  Object.entries(words).flatMap(([list, some]) =>
    Object.keys(some).length > 0 ? [`${list} ${Object.keys(some).join(', ')}`] : [],
  );

describe('names of relations', () => {
  test.each([
    ['directed_by', ['tailIs director', 'tailDoes direct']],
    ['born_in', ['headDoes be born in']],
    ['plays_for', ['headDoes play for']],
    ['treats', ['headDoes treat']],
    ['plays_sport', ['tailIs sport', 'headDoes play']],
    ['part_of', ['headIs part']],
    ['has_genre', ['tailIs genre']],
    ['in_language', ['tailIs language']],
    ['place_of_birth', ['tailIs place of birth, birth place, place', 'headDoes be born']],
    ['releaseYear', ['tailIs release year, year', 'headDoes release']],
    ['pilot_flies_plane', ['tailIs plane', 'headDoes fly', 'head pilot', 'tail plane']],
    ['film.film.written_by', ['tailIs writer', 'tailDoes write']],
    ['children', ['tailIs child']],
    ['starring', ['tailIs star', 'tailDoes star', 'headDoes star']],
    ['isa', ['tailIs kind, type, class', 'headIs example, kind, instance', 'headDoes be a kind of']],
  ])('%s', (name, words) => {
    expect(said(wordsOfRelation(name, vocabulary))).toEqual(words);
  });

  test('have words without a vocabulary, too', () => {
    expect(said(wordsOfRelation('directed_by', withoutVocabulary))).toEqual(['tailIs directer', 'tailDoes direct']);
    expect(said(wordsOfRelation('has_genre', withoutVocabulary))).toEqual(['tailIs genre']);
  });

  test('in other scripts and as codes are words as they stand', () => {
    expect(said(wordsOfRelation('автор', vocabulary))).toEqual(['tailIs автор']);
    expect(said(wordsOfRelation('p17', vocabulary))).toEqual(['tailIs p17']);
    expect(said(wordsOfRelation('---', vocabulary))).toEqual([]);
    expect(wordsOfName('http://example.org/ns#hasMember')).toEqual(['has', 'member']);
  });
});

test('vocabulary adds what only one relation may mean, and verbs of the same root as persons', async () => {
  const encoder = hashedEncoder(64);
  const all = await relationWordsOf(
    { relationNames: ['author', '~author', 'publisher', '~publisher'] },
    { vocabulary, encoder },
  );
  expect([...all.keys()]).toEqual(['author', 'publisher']);
  const [author, publisher] = [...all.values()].map(({ tailIs }) => Object.keys(tailIs));
  expect(author!.filter((word) => publisher!.includes(word))).toEqual([]);
  const known = await relationWordsOf({ relationNames: ['director', '~director'] }, { vocabulary });
  expect(known.get('director')).toMatchObject({ tailIs: { director: 'name' }, tailDoes: { direct: 'vocabulary' } });
});

test('forms of words', () => {
  expect(verbForms('play for')).toEqual({
    base: 'play for',
    present: 'plays for',
    past: 'played for',
    gerund: 'playing for',
    participle: undefined,
  });
  expect(verbForms('write').participle).toBe('written');
  expect(verbForms('be born in')).toMatchObject({ present: 'is born in', past: 'was born in' });
  expect([plural('release date'), plural('child'), plural('place of birth')]).toEqual([
    'release dates',
    'children',
    'places of birth',
  ]);
  expect([singular('tags'), singular('series'), singular('bus'), singular('people')]).toEqual([
    'tag',
    'series',
    'bus',
    'person',
  ]);
  expect(baseOf('located', 'PastTense', () => true)).toBe('locate');
  expect(baseOf('tag', 'PresentTense', () => true)).toBeUndefined();
});
