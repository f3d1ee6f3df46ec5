/** The name of every entity, made from its type and number alone: no table is kept, so a world may have millions. */
import { manners, inventedWord, permuted } from './invented-words.js';
import type { EntityType } from './schema.js';
import { people } from './schema.js';
import { awards, creatures, genres, sports, styles, things, weather } from './plain-words.js';

const isPerson = (type: EntityType): boolean => (people as readonly EntityType[]).includes(type);

/** Names of the entities of one world. */
export interface Names {
  /** Unique in the world; a film made from a book has the book's title, and both say which they are, as in OpenDialKG: `Velmar (film)`. */
  nameOf(type: EntityType, index: number): string;
}

/**
 * @param seed shifts every numbering: neighbouring seeds lie 997 words apart, so they hardly share names
 * @param sizes entities of each type
 * @param bookOfFilm number of the book that a film is based on, or -1
 * @param filmedBook whether a film is based on this book
 */
export function worldNames(
  seed: number,
  sizes: Record<EntityType, number>,
  bookOfFilm: (film: number) => number,
  filmedBook: (book: number) => boolean,
): Names {
  const numPeople = people.reduce((sum, type) => sum + sizes[type], 0);
  // Given names are shared by many, family names by about three.
  const givenNames = Math.max(64, Math.ceil(Math.sqrt(numPeople)));
  const families = Math.ceil(numPeople / 3);
  const shift = 1 + (((((seed - 1) * 997) % 7919) + 7919) % 7919);
  const word = (manner: keyof typeof manners, number: number) => inventedWord(manners[manner], number + shift);

  const person = (type: EntityType, index: number) => {
    const before = people.slice(0, people.indexOf(type as (typeof people)[number]));
    const number = before.reduce((sum, earlier) => sum + sizes[earlier], 0) + index;
    const pair = permuted(number, givenNames * families, shift);
    return `${word('given', pair % givenNames)} ${word('family', Math.floor(pair / givenNames))}`;
  };

  /** One of a kind's patterns, filled: the parts of the number choose pattern, thing and invented word in turn. */
  const title = (patterns: readonly Pattern[], manner: keyof typeof manners, index: number, of: number) => {
    const number = permuted(index, Math.max(of, patterns.length), shift);
    const pattern = patterns[number % patterns.length]!;
    return pattern(word(manner, Math.floor(number / patterns.length)), things[(number * 7) % things.length]!);
  };

  const city = (index: number) => word('city', index);
  const plainOr = (plain: readonly string[], index: number) =>
    index < plain.length ? plain[index]! : `${word('title', index)} ${plain[index % plain.length]!}`;

  const nameOf = (type: EntityType, index: number): string => {
    if (isPerson(type)) return person(type, index);
    switch (type) {
      case 'film': {
        const book = bookOfFilm(index);
        return book >= 0
          ? `${title(bookTitles, 'title', book, sizes.book)} (film)`
          : title(filmTitles, 'title', index, sizes.film);
      }
      case 'book':
        return title(bookTitles, 'title', index, sizes.book) + (filmedBook(index) ? ' (novel)' : '');
      case 'song':
        return title(songTitles, 'sound', index, sizes.song);
      case 'album':
        return title(albumTitles, 'sound', index, sizes.album);
      case 'band':
        return title(bandNames, 'sound', index, sizes.band);
      case 'team':
        return `${city(index % sizes.city)} ${creatures[((index % sizes.city) + Math.floor(index / sizes.city)) % creatures.length]!}${suffix(index, sizes.city * creatures.length)}`;
      case 'league':
        return `${word('country', 500 + index)} League`;
      case 'stadium':
        return `${word('family', 900 + index)} ${['Park', 'Arena', 'Field', 'Ground'][index % 4]!}`;
      case 'city':
        return city(index);
      case 'country':
        return word('country', index);
      case 'genre':
        return plainOr(genres, index);
      case 'style':
        return plainOr(styles, index);
      case 'sport':
        return plainOr(sports, index);
      case 'award':
        return `${word('family', 2000 + Math.floor(index / awards.length))} ${awards[index % awards.length]!}`;
      case 'studio':
        return `${word('city', 700 + index)} ${['Pictures', 'Studios', 'Films'][index % 3]!}`;
      case 'language':
        return `${word('country', 900 + index).replace(/[aeiou]+$/, '')}ish`;
      default:
        return String(2024 - index);
    }
  };
  return { nameOf };
}

/** Beyond the names that there are, numbered ones. */
const suffix = (index: number, unique: number) => (index < unique ? '' : ` ${Math.floor(index / unique) + 1}`);

type Pattern = (word: string, thing: string) => string;

const filmTitles: readonly Pattern[] = [
  (word, thing) => `The ${word} ${thing}`,
  (word, thing) => `${thing} of ${word}`,
  (word) => `Leaving ${word}`,
  (word) => `${word} Rising`,
  (word, thing) => `Last ${thing} to ${word}`,
  (word) => `Goodbye, ${word}`,
];

const bookTitles: readonly Pattern[] = [
  (word, thing) => `A ${thing} in ${word}`,
  (word, thing) => `The ${thing} Keepers of ${word}`,
  (word) => `Letters from ${word}`,
  (word, thing) => `${word} and the ${thing}`,
  (word) => `Under ${word} Skies`,
];

const songTitles: readonly Pattern[] = [
  (word, thing) => `${word} ${thing} Blues`,
  (word) => `Dancing with ${word}`,
  (word, thing) => `My ${word} ${thing}`,
  (word) => `Hey ${word}`,
  (word) => `${word} Tonight`,
];

const albumTitles: readonly Pattern[] = [
  (word) => `Songs for ${word}`,
  (word, thing) => `${thing}s & ${word}`,
  (word) => `${word} Sessions`,
];

const bandNames: readonly Pattern[] = [
  (word) => `The ${word}s`,
  (word, thing) => `${word} & the ${thing}s`,
  (word) => `${weather[word.length % weather.length]!} ${word}`,
];
