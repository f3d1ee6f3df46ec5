/** A byte-pair vocabulary: nothing but its merges, from which the tokens follow. */
import type { CorpusSpecial } from '../corpus-document.js';
import { byteLetters } from './byte-letters.js';

/** Two tokens, as byte letters, that become one. */
export type Merge = readonly [left: string, right: string];

/** The tokens that no text contains, by use; ids are their places here: 0 to 3. */
const specialTokens: Readonly<Record<CorpusSpecial, string>> = {
  bos: '<s>',
  eos: '</s>',
  im_start: '<|im_start|>',
  im_end: '<|im_end|>',
};

/** Names of the special tokens, in the order of their ids from 0. */
export const specialNames = Object.keys(specialTokens) as CorpusSpecial[];

/** Tokens by id, and the merges that make them. */
export interface BytePairVocabulary {
  /** By id: special tokens, the 256 bytes, then what the merges make, in their order. */
  tokens: readonly string[];
  /** The first is merged first. */
  merges: readonly Merge[];
}

/** Tokens before the first merge. */
export const baseTokens: readonly string[] = [...Object.values(specialTokens), ...byteLetters];

/** The vocabulary of these merges. Two merges may make the same token, which then stands once. */
export function vocabularyOf(merges: readonly Merge[]): BytePairVocabulary {
  return { tokens: [...new Set([...baseTokens, ...merges.map(([left, right]) => left + right)])], merges };
}
