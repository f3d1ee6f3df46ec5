/** What a corpus holds, and what it is made of: beside the training's log. */
import type { CorpusDocument, CorpusKind } from '../../llama/corpus-document.js';
import type { CorpusDraft } from './draft.js';

/** Documents and characters in all and by phase, and how many questions and dialogues they are of. */
export interface CorpusCounts {
  documents: number;
  characters: number;
  /** Distinct train questions, further questions of the generator, and train dialogues that documents are made of. */
  questions: number;
  moreQuestions: number;
  dialogues: number;
  /** In the order of their names. */
  phases: { kind: CorpusKind; phase: string; documents: number; characters: number }[];
}

/** Counts documents as they come. */
export function corpusCounter(): { add(draft: CorpusDraft): void; counts(): CorpusCounts } {
  const phases = new Map<string, CorpusCounts['phases'][number]>();
  const sources = { questions: new Set<string>(), moreQuestions: new Set<string>(), dialogues: new Set<string>() };
  return {
    add(draft) {
      const { kind, phase, source } = draft;
      const key = `${kind} ${phase}`;
      const own = phases.get(key) ?? { kind, phase, documents: 0, characters: 0 };
      phases.set(key, own);
      own.documents++;
      own.characters += sizeOf(draft);
      if (source) sources[source.of].add(source.id);
    },
    counts() {
      const rows = [...phases.values()].sort((a, b) => (`${a.kind} ${a.phase}` < `${b.kind} ${b.phase}` ? -1 : 1));
      const sum = (of: 'documents' | 'characters') => rows.reduce((total, row) => total + row[of], 0);
      const { questions, moreQuestions, dialogues } = sources;
      return {
        ...{ documents: sum('documents'), characters: sum('characters') },
        ...{ questions: questions.size, moreQuestions: moreQuestions.size, dialogues: dialogues.size },
        phases: rows,
      };
    },
  };
}

/** Characters of a document's texts. */
export function sizeOf({ segments }: CorpusDocument): number {
  return segments.reduce((sum, segment) => sum + ('text' in segment ? segment.text.length : 0), 0);
}
