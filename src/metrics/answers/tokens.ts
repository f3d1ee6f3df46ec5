/** Words of a text as names are compared, and where one run of words stands in another. */
import { normalizeName } from '../../kg/name-index.js';

/** Scripts that are written without spaces: every character is a word of its own. */
const words =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu;

/** Words of a normalised text. */
export function tokensOf(text: string): string[] {
  return normalizeName(text).match(words) ?? [];
}

/** Every place [begin, end) where `wanted` stands in `tokens` as a whole; none for an empty `wanted`. O(tokens · wanted). */
export function findTokens(tokens: readonly string[], wanted: readonly string[]): [begin: number, end: number][] {
  if (wanted.length === 0) return [];
  const places: [number, number][] = [];
  for (let begin = 0; begin + wanted.length <= tokens.length; begin++) {
    if (wanted.every((word, i) => tokens[begin + i] === word)) places.push([begin, begin + wanted.length]);
  }
  return places;
}
