import { expect, test } from '@jest/globals';
import { drawHeldTypes } from '../../../datasets/questions/question-dataset.js';
import { chainOfType, heldTypes } from '../../../datasets/metaqa/import.js';
import type { StoredQuestion } from '../../../datasets/questions/stored-question.js';

const question = (type: string, ...chain: string[]): StoredQuestion => ({
  ...{ id: type, question: 'q', topics: [], answers: [], type },
  ...(chain.length > 0 && { chains: [chain] }),
});

const films = ['actor', 'director', 'writer'];
const facts = [...films, 'genre', 'language', 'year'];
const metaQaTypes = [
  ...films.map((one) => `${one}_to_movie`),
  ...facts.map((one) => `movie_to_${one}`),
  ...films.flatMap((from) => facts.map((to) => `${from}_to_movie_to_${to}`)),
  ...films.map((one) => `movie_to_${one}_to_movie`),
  ...films.flatMap((over) => facts.filter((to) => to !== over).map((to) => `movie_to_${over}_to_movie_to_${to}`)),
];
const asked = metaQaTypes.map((type) => question(type, ...chainOfType(type)!));

test('of MetaQA as many types are held as the set that the data set names has: five of two relations, four of three', () => {
  expect([asked.length, heldTypes.length]).toEqual([9 + 21 + 15, 9]);
  const lengths = drawHeldTypes(asked, 1).map((type) => chainOfType(type)!.length);
  expect(lengths.filter((length) => length === 2)).toHaveLength(5);
  expect(lengths.filter((length) => length === 3)).toHaveLength(4);
  expect(drawHeldTypes(asked, 1)).toEqual([...drawHeldTypes(asked, 1)].sort());
});

test('train still shows every relation in every place; nothing that goes back the way it came is held', () => {
  for (let draw = 0; draw < 50; draw++) {
    const held = new Set(drawHeldTypes(asked, draw));
    const placesOf = (types: readonly string[]) =>
      new Set(types.flatMap((type) => chainOfType(type)!.map((relation, index) => `${index} ${relation}`)));
    expect(placesOf(metaQaTypes.filter((type) => !held.has(type)))).toEqual(placesOf(metaQaTypes));
    for (const one of films) {
      expect(held.has(`${one}_to_movie_to_${one}`) || held.has(`movie_to_${one}_to_movie`)).toBe(false);
    }
  }
});

test('a draw is the same in any order of the questions, and another one is another', () => {
  expect(drawHeldTypes(asked.toReversed(), 7)).toEqual(drawHeldTypes(asked, 7));
  expect(drawHeldTypes(asked, 8)).not.toEqual(drawHeldTypes(asked, 7));
});

test('questions without chains, and types that train cannot miss, are refused with what to do', () => {
  const refused = 'expected question types with chains of several relations';
  expect(() => drawHeldTypes([question('a_to_b')], 0)).toThrow(refused);
  expect(() => drawHeldTypes([question('a', 'r'), question('b', 'r', 's'), question('c', 's', 't')], 0)).toThrow(
    refused,
  );
});
