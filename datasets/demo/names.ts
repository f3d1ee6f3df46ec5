/** Names of demo entities, computed from type and number alone, and their short forms. */
import { type EntityType, people } from './schema.js';
import { fill, type Manner, nameWords } from './words.js';

/** True for types with given and family names. */
export const isPerson = (type: EntityType): boolean => (people as readonly EntityType[]).includes(type);

/** Unique in the world; a film based on a book has the book's title, and both are qualified as in OpenDialKG: `Velmar (film)`. */
export type NameOf = (type: EntityType, index: number) => string;

/**
 * @param seed offset of all numberings: neighbouring seeds lie 997 words apart and hardly share names
 * @param sizes entities per type
 * @param bookOfFilm number of the book that a film is based on, or -1
 * @param filmedBook true if a film is based on this book
 */
export function worldNames(
  seed: number,
  sizes: Record<EntityType, number>,
  bookOfFilm: (film: number) => number,
  filmedBook: (book: number) => boolean,
): NameOf {
  const { things, weather, creatures, genres, styles, sports, awards, grounds, companies, titles, manners } =
    nameWords();
  const numPeople = people.reduce((sum, type) => sum + sizes[type], 0);
  // Given names are common, family names are shared by about three.
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

  /** Fills one of the type's patterns: parts of the number select pattern, noun and invented word. */
  const title = (type: keyof typeof titles, index: number) => {
    const patterns = titles[type];
    const number = permuted(index, Math.max(sizes[type], patterns.length), shift);
    const invented = word(type === 'film' || type === 'book' ? 'title' : 'sound', Math.floor(number / patterns.length));
    return fill(patterns[number % patterns.length]!, {
      word: invented,
      thing: things[(number * 7) % things.length]!,
      weather: weather[invented.length % weather.length]!,
    });
  };

  const city = (index: number) => word('city', index);
  const plainOr = (plain: readonly string[], index: number) =>
    index < plain.length ? plain[index]! : `${word('title', index)} ${plain[index % plain.length]!}`;

  return (type, index) => {
    if (isPerson(type)) return person(type, index);
    switch (type) {
      case 'film': {
        const book = bookOfFilm(index);
        return book >= 0 ? `${title('book', book)} (film)` : title('film', index);
      }
      case 'book':
        return title('book', index) + (filmedBook(index) ? ' (novel)' : '');
      case 'song':
      case 'album':
      case 'band':
        return title(type, index);
      case 'team':
        return `${city(index % sizes.city)} ${creatures[((index % sizes.city) + Math.floor(index / sizes.city)) % creatures.length]!}${suffix(index, sizes.city * creatures.length)}`;
      case 'league':
        return `${word('country', 500 + index)} League`;
      case 'stadium':
        return `${word('family', 900 + index)} ${grounds[index % grounds.length]!}`;
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
        return `${word('city', 700 + index)} ${companies[index % companies.length]!}`;
      case 'language':
        return `${word('country', 900 + index).replace(/[aeiou]+$/, '')}ish`;
      default:
        return String(2024 - index);
    }
  };
}

/** Numbers names beyond the available ones. */
const suffix = (index: number, unique: number) => (index < unique ? '' : ` ${Math.floor(index / unique) + 1}`);

/** Name without its qualifier in brackets. */
export const plainName = (name: string): string => name.replace(/ \((?:film|novel)\)$/, '');

/** Short names, most usual first; empty for types without. Not unique: a film and its book share the title, relatives the family name. */
export function aliasesOf(type: EntityType, name: string): string[] {
  const plain = plainName(name);
  const short = shortened(type, plain).filter((alias) => alias !== name);
  return [...new Set(plain === name ? short : [plain, ...short])];
}

function shortened(type: EntityType, name: string): string[] {
  const words = name.split(' ');
  if (isPerson(type)) return [words[1]!];
  if (type === 'team') return [`the ${words.slice(1).join(' ')}`];
  if (type === 'studio' || type === 'league' || type === 'stadium') return [words[0]!];
  if (type === 'award') return [`the ${words[0]}`];
  if (type === 'band') return [/ & /.test(name) ? words.slice(2).join(' ') : words[1]!];
  if (type !== 'film' && type !== 'book' && type !== 'album' && type !== 'song') return [];
  if (/^(?:The|A) /.test(name))
    return [words.slice(1).join(' '), `the ${words[words[0] === 'A' || words.length > 3 ? 1 : 2]!}`];
  const ordinary = [...nameWords().things, ...nameWords().ordinary];
  const invented = words
    .map((word) => word.replace(/,$/, ''))
    .find((word) => !ordinary.includes(word.replace(/s$/, '')));
  return invented === undefined || invented === name ? [] : [invented];
}

/**
 * Invented word of a number, unique from 0 on. Syllables are onset + vowel, so the spelling decodes uniquely; numbers beyond the shortest
 * words get another syllable.
 */
export function inventedWord(
  { onsets: shortest, longer = shortest, vowels, endings, syllables }: Manner,
  number: number,
): string {
  let onsets = shortest;
  let length = syllables;
  let size = (onsets.length * vowels.length) ** length * endings.length;
  let rest = number;
  while (rest >= size) {
    rest -= size;
    length++;
    onsets = longer;
    size = (onsets.length * vowels.length) ** length * endings.length;
  }
  // Permuted within their length, so that neighbours differ in every syllable.
  rest = permuted(rest, size);
  const ending = endings[rest % endings.length]!;
  rest = Math.floor(rest / endings.length);
  let word = '';
  for (let i = 0; i < length; i++) {
    word += onsets[rest % onsets.length]! + vowels[Math.floor(rest / onsets.length) % vowels.length]!;
    rest = Math.floor(rest / (onsets.length * vowels.length));
  }
  return word[0]!.toUpperCase() + word.slice(1) + ending;
}

/**
 * Bijection of [0, size) that scatters neighbours: multiplication by a number near the golden section that is coprime to `size`.
 * @param index integer in [0, size)
 * @param shift added before the remainder
 */
export function permuted(index: number, size: number, shift = 0): number {
  const factor = factorOf(size);
  const product = index * factor + shift;
  if (product <= Number.MAX_SAFE_INTEGER) return product % size;
  return Number((BigInt(index) * BigInt(factor) + BigInt(shift)) % BigInt(size));
}

/** Cache: each world has few sizes. */
const factors = new Map<number, number>();

function factorOf(size: number): number {
  let factor = factors.get(size);
  if (factor === undefined) {
    factor = Math.max(1, Math.floor(size * 0.6180339887));
    while (commonDivisor(factor, size) !== 1) factor++;
    factors.set(size, factor);
  }
  return factor;
}

function commonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
