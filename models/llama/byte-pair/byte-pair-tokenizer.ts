/** Text to token ids and back, as llama.cpp does it for a vocabulary of model `gpt2`, pre-tokenizer `gpt-2`. */
import type { CorpusSpecial } from '../corpus-document.js';
import { type BytePairVocabulary, fromByteLetters, specialNames, textPieces, toByteLetters } from './vocabulary.js';

/** Text to token ids and back. */
export interface BytePairTokenizer {
  vocabularySize: number;
  special: Readonly<Record<CorpusSpecial, number>>;
  /** Ids of a text; never special ones. */
  encode(text: string): number[];
  /** The text of ids; special ones are left out, broken UTF-8 is replaced. */
  decode(ids: Iterable<number>): string;
}

/** Distinct pieces whose ids are kept. */
const heldPieces = 100_000;

/** Texts are encoded at millions of characters a second once their words are known. */
export function bytePairTokenizer({ tokens, merges }: BytePairVocabulary): BytePairTokenizer {
  const idOf = new Map(tokens.map((token, id) => [token, id]));
  const rankOf = new Map(merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
  const special = Object.fromEntries(specialNames.map((name, id) => [name, id])) as Record<CorpusSpecial, number>;
  const known = new Map<string, readonly number[]>();

  function encodePiece(piece: string): readonly number[] {
    let ids = known.get(piece);
    if (ids === undefined) {
      ids = mergeAll([...toByteLetters(piece)], rankOf).map((token) => idOf.get(token)!);
      if (known.size === heldPieces) known.clear();
      known.set(piece, ids);
    }
    return ids;
  }

  return {
    vocabularySize: tokens.length,
    special,
    encode: (text) => textPieces(text).flatMap(encodePiece),
    decode(ids) {
      const texts = Array.from(ids, (id) => (id < specialNames.length ? '' : (tokens[id] ?? '')));
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(fromByteLetters(texts.join('')));
    },
  };
}

/** Merges the first-ranked pair, the leftmost of equals, until no pair is in the vocabulary. O(n²) in a piece's bytes. */
function mergeAll(parts: string[], rankOf: ReadonlyMap<string, number>): string[] {
  for (;;) {
    let best = Infinity;
    let index = -1;
    for (let i = 1; i < parts.length; i++) {
      const rank = rankOf.get(`${parts[i - 1]} ${parts[i]}`) ?? Infinity;
      if (rank < best) [best, index] = [rank, i];
    }
    if (index < 0) return parts;
    parts.splice(index - 1, 2, parts[index - 1]! + parts[index]!);
  }
}
