/** The named tokenizer of models that do not count tokens themselves. */

/** Its name, which stands beside every count. */
export const wordPieceTokenizer = 'word-pieces-4';

const piece = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|\p{L}{1,4}|\p{N}{1,3}|[^\s\p{L}\p{N}]/gu;

/**
 * Tokens of a text by a fixed rule: pieces of up to four letters or three digits, each ideograph, each punctuation mark;
 * white space is free. Near the counts of real tokenizers on English (about four letters a token), and equal everywhere.
 */
export function countWordPieces(text: string): number {
  let count = 0;
  for (piece.lastIndex = 0; piece.test(text);) count++;
  return count;
}
