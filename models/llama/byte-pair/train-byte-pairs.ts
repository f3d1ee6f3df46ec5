/** Learns a byte-pair vocabulary from texts. @source Sennrich et al. 2016 (arXiv:1508.07909), on bytes as in GPT-2 */
import {
  baseTokens,
  type BytePairVocabulary,
  type Merge,
  textPieces,
  toByteLetters,
  vocabularyOf,
} from './vocabulary.js';

/** Size of the vocabulary, and its first tokens. */
export interface BytePairOptions {
  /** Tokens in all, special ones and the 256 bytes included. */
  vocabularySize: number;
  /** Merges made before any is learned; each must find its two tokens made. Default: those of the numbers up to 40. */
  first?: readonly Merge[];
  /** Share of the learned tokens that are made inside words before a space joins any; default 0.62. */
  words?: number;
}

/** A distinct piece of text: the ids of its tokens so far, and how often it occurs. */
interface Piece {
  ids: number[];
  count: number;
}

/** A pair of neighbours: how often it occurs, and in which pieces it may. */
interface Pair {
  left: number;
  right: number;
  count: number;
  pieces: Set<Piece>;
}

const stride = 2 ** 20;

/**
 * The most frequent pair of neighbours is merged until the vocabulary is full or no pair occurs twice; of equally
 * frequent pairs the one with the earlier tokens. The result depends on how often each piece occurs alone, not on order.
 * A space joins its word last, so that a word is cut alike with and without one: a small model that copies a name into
 * JSON need not learn a second spelling of it.
 * Takes seconds for megabytes of text: pieces are counted once, and pair counts change only where a merge took place.
 */
export function trainBytePairs(texts: Iterable<string>, options: BytePairOptions): BytePairVocabulary {
  const { vocabularySize, first = numberMerges(40), words = 0.62 } = options;
  const tokens = [...baseTokens];
  const idOf = new Map(tokens.map((token, id) => [token, id]));
  const merges: Merge[] = [];
  const pairs = countPairs(countPieces(texts, idOf));

  /** Makes a merge; none can spell a special token, since pieces part letters from signs. */
  function merge(left: string, right: string): void {
    const [a, b] = [idOf.get(left), idOf.get(right)];
    if (a === undefined || b === undefined) throw new RangeError(`expected two tokens, got ${left} and ${right}`);
    merges.push([left, right]);
    const text = left + right;
    if (!idOf.has(text)) {
      idOf.set(text, tokens.length);
      tokens.push(text);
    }
    for (const piece of pairs.get(a * stride + b)?.pieces ?? []) {
      addPairs(pairs, piece, -piece.count);
      piece.ids = merged(piece.ids, a, b, idOf.get(text)!);
      addPairs(pairs, piece, piece.count);
    }
  }

  for (const [left, right] of first) merge(left, right);
  const space = idOf.get('Ġ');
  const wordsEnd = tokens.length + words * (vocabularySize - tokens.length);
  while (tokens.length < vocabularySize) {
    const spaced = tokens.length >= wordsEnd;
    const best = mostFrequent(pairs, (pair) => (pair.left === space) === spaced) ?? mostFrequent(pairs, () => true);
    if (best === undefined) break;
    merge(tokens[best.left]!, tokens[best.right]!);
  }
  return vocabularyOf(merges);
}

/** Merges that make every number from 0 to `last` one token, at a text's start and after a space. @param last below 100 */
export function numberMerges(last: number): Merge[] {
  const numbers = Array.from({ length: last + 1 }, (_, number) => String(number));
  const long = numbers.filter((number) => number.length === 2);
  // Digits first: a space must not take a number's first digit away from its second.
  return [...long.map((number): Merge => [number[0]!, number[1]!]), ...numbers.map((number): Merge => ['Ġ', number])];
}

/** Undefined where no candidate occurs twice. */
function mostFrequent(pairs: ReadonlyMap<number, Pair>, isCandidate: (pair: Pair) => boolean): Pair | undefined {
  let best: Pair | undefined;
  for (const pair of pairs.values()) {
    if (pair.count > 1 && isCandidate(pair) && (best === undefined || precedes(pair, best))) best = pair;
  }
  return best;
}

function precedes(a: Pair, b: Pair): boolean {
  return (a.count - b.count || b.left - a.left || b.right - a.right) > 0;
}

function countPieces(texts: Iterable<string>, idOf: ReadonlyMap<string, number>): Piece[] {
  const counts = new Map<string, number>();
  for (const text of texts) for (const piece of textPieces(text)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  return Array.from(counts, ([text, count]) => ({
    ids: Array.from(toByteLetters(text), (letter) => idOf.get(letter)!),
    count,
  }));
}

function countPairs(pieces: readonly Piece[]): Map<number, Pair> {
  const pairs = new Map<number, Pair>();
  for (const piece of pieces) addPairs(pairs, piece, piece.count);
  return pairs;
}

function addPairs(pairs: Map<number, Pair>, piece: Piece, count: number): void {
  const { ids } = piece;
  for (let i = 1; i < ids.length; i++) {
    const [left, right] = [ids[i - 1]!, ids[i]!];
    const key = left * stride + right;
    let pair = pairs.get(key);
    if (pair === undefined) pairs.set(key, (pair = { left, right, count: 0, pieces: new Set() }));
    pair.count += count;
    pair.pieces.add(piece);
    if (pair.count === 0) pairs.delete(key);
  }
}

function merged(ids: readonly number[], left: number, right: number, whole: number): number[] {
  const result: number[] = [];
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] === left && ids[i + 1] === right) {
      result.push(whole);
      i++;
    } else result.push(ids[i]!);
  }
  return result;
}
