/** Training data of a model: documents as pieces of text between special tokens, each with its weight in the loss. */

/**
 * What a document is for: facts and dialogues to know the world, states to encode it, decisions to choose in it by a written
 * reply, likelihoods to choose by how likely the words of each candidate are.
 */
export type CorpusKind = 'fact' | 'dialogue' | 'state' | 'decision' | 'likelihood';

/** Tokens that no text is read as. */
export type CorpusSpecial = 'bos' | 'eos' | 'im_start' | 'im_end';

/** A piece of a document; each text is tokenised apart, as text between special tokens is when the model runs. */
export type CorpusSegment =
  | { text: string; /** Weight of its tokens in the loss, in [0, 1]. */ weight: number }
  | { special: CorpusSpecial; weight: number };

/** A text to learn from, in pieces. */
export interface CorpusDocument {
  kind: CorpusKind;
  segments: readonly CorpusSegment[];
}

/** Characters of a document's texts. */
export function sizeOf({ segments }: CorpusDocument): number {
  return segments.reduce((sum, segment) => sum + ('text' in segment ? segment.text.length : 0), 0);
}
