/** A document before it is put into the corpus, with where it comes from. */
import type { CorpusDocument } from '../../llama/corpus-document.js';

/** A document with what it is about. */
export interface CorpusDraft extends CorpusDocument {
  /** Kind of fact, state or decision, by which the corpus is counted. */
  phase: string;
  /** The train dialogue, the train question or the further one that it is made of; absent: the graph alone. */
  source?: CorpusSource;
}

/** The dialogue or question that a document was made from. */
export interface CorpusSource {
  of: 'dialogues' | 'questions' | 'moreQuestions';
  id: string;
}
