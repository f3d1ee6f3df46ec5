/** Documents as token ids, one after the other in typed arrays: millions of tokens need a few bytes each. */
import type { CorpusDocument, CorpusSegment } from './corpus-document.js';
import type { BytePairTokenizer } from './byte-pair/byte-pair-tokenizer.js';

/** Documents as tokens, side by side. */
export interface TokenCorpus {
  /** uint16 [tokens]: all documents, one after the other. */
  ids: Uint16Array;
  /** Weight of each token in the loss, float32 [tokens]. */
  weights: Float32Array;
  /** Document d is `ids[offsets[d]]` up to `ids[offsets[d + 1]]`, int32 [documents + 1]. */
  offsets: Int32Array;
  /** Label of each document, such as `decision/judge`: indexes in `labels`, uint8 [documents]. */
  label: Uint8Array;
  labels: string[];
}

/** @param phase what a document of its kind is about; its loss is watched apart */
type LabelledDocument = CorpusDocument & { phase: string };

/** Token ids of a document and the weight of each in the loss. */
export function documentTokens(
  { special, encode }: Pick<BytePairTokenizer, 'special' | 'encode'>,
  segments: readonly CorpusSegment[],
): { ids: Int32Array; weights: Float32Array } {
  const parts = segments.map((segment) => ('text' in segment ? encode(segment.text) : [special[segment.special]]));
  return {
    ids: Int32Array.from(parts.flat()),
    weights: Float32Array.from(parts.flatMap((ids, index) => ids.map(() => segments[index]!.weight))),
  };
}

/** Reads documents until they end; those longer than `longest` tokens are left out. */
export async function tokenCorpus(
  documents: AsyncIterable<LabelledDocument> | Iterable<LabelledDocument>,
  tokenizer: Pick<BytePairTokenizer, 'special' | 'encode'>,
  longest: number,
): Promise<TokenCorpus> {
  let ids = new Uint16Array(1 << 16);
  let weights = new Float32Array(1 << 16);
  let end = 0;
  const offsets = [0];
  const label: number[] = [];
  const labels = new Map<string, number>();
  for await (const { kind, phase, segments } of documents) {
    const tokens = documentTokens(tokenizer, segments);
    const count = tokens.ids.length;
    if (count > longest || count < 2) continue;
    while (end + count > ids.length) {
      ids = grown(ids, new Uint16Array(ids.length * 2));
      weights = grown(weights, new Float32Array(weights.length * 2));
    }
    ids.set(tokens.ids, end);
    weights.set(tokens.weights, end);
    offsets.push((end += count));
    const name = `${kind}/${phase}`;
    if (!labels.has(name)) labels.set(name, labels.size);
    label.push(labels.get(name)!);
  }
  return {
    ids: ids.slice(0, end),
    weights: weights.slice(0, end),
    offsets: Int32Array.from(offsets),
    label: Uint8Array.from(label),
    labels: [...labels.keys()],
  };
}

function grown<T extends { set(values: T): void }>(values: T, larger: T): T {
  larger.set(values);
  return larger;
}

/** Tokens of a document. */
export function documentLength({ offsets }: Pick<TokenCorpus, 'offsets'>, document: number): number {
  return offsets[document + 1]! - offsets[document]!;
}
