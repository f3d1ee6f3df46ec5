/** A byte-pair vocabulary: nothing but its merges, from which the tokens follow; and how text becomes what is merged. */
import type { CorpusSpecial } from '../corpus-document.js';

/**
 * Letter of each byte, 256 of them, so that byte strings can be written as text. Printable ASCII and Latin-1 stand for themselves; a
 * space is `Ġ`, a line end `Ċ`. @source GPT-2, `bytes_to_unicode`
 */
export const byteLetters: readonly string[] = letters();

const byteOf = new Map(byteLetters.map((letter, byte) => [letter, byte]));
const encoder = new TextEncoder();

/** The UTF-8 bytes of a text as letters; a lone surrogate becomes U+FFFD. */
export function toByteLetters(text: string): string {
  return Array.from(encoder.encode(text), (byte) => byteLetters[byte]).join('');
}

/** The bytes that letters stand for; letters that stand for none are left out. */
export function fromByteLetters(letters: string): Uint8Array {
  return Uint8Array.from(Array.from(letters, (letter) => byteOf.get(letter)).filter((byte) => byte !== undefined));
}

function letters(): string[] {
  let spare = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const plain = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCharCode(plain ? byte : spare++);
  });
}

// Unicode's own white space, as llama.cpp has it: `\s` of JavaScript takes U+FEFF and leaves out U+0085.
const piece =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/**
 * The pieces of a text in order: no token reaches over a cut; joined they are the text. Words and numbers take the one space before them.
 * @source GPT-2, `encoder.py`; llama.cpp's pre-tokenizer `gpt-2`
 */
export function textPieces(text: string): string[] {
  return text.match(piece) ?? [];
}

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
