/** A document as what a model sees. */
import type { BytePairTokenizer } from './byte-pair/byte-pair-tokenizer.js';
import type { CorpusSegment } from './corpus-document.js';

/** Token ids of a document and the weight of each in the loss. */
export function documentTokens(
  { special, encode }: Pick<BytePairTokenizer, 'special' | 'encode'>,
  segments: readonly CorpusSegment[],
): { ids: Int32Array; weights: Float32Array } {
  const parts = segments.map((segment) => ('text' in segment ? encode(segment.text) : [special[segment.special]]));
  return {
    ids: Int32Array.from(parts.flat()),
    weights: Float32Array.from(parts.flatMap((ids, place) => ids.map(() => segments[place]!.weight))),
  };
}
