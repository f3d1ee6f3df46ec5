/** Every importer of questions by the name of its format. */
import type { CustomImportOptions } from '../custom/import.js';
import type { QuestionManifest } from './question-manifest.js';

/** One format that `kgwalk datasets import` reads. */
export interface QuestionImporter {
  /** What the folder must hold, one line. */
  reads: string;
  run: (options: CustomImportOptions) => Promise<QuestionManifest>;
}

/** Each is loaded when it is used. */
export const questionImporters: Readonly<Record<string, QuestionImporter>> = {
  metaqa: {
    reads: 'kb.txt and {1,2,3}-hop/qa_{train,dev,test}.txt with their _qtype.txt',
    run: async (options) => (await import('../metaqa/import.js')).importMetaQa(options),
  },
  pathquestion: {
    reads: 'PQ-2H.txt, 2H-kb.txt, PQ-3H.txt, 3H-kb.txt',
    run: async (options) => (await import('../pathquestion/import.js')).importPathQuestion(options),
  },
  webqsp: {
    reads: 'WebQSP.train.json and WebQSP.test.json, with triples and names of Freebase',
    run: async (options) => (await import('../webqsp/import.js')).importWebQsp(options),
  },
  webquestions: {
    reads: 'webquestions.examples.{train,test}.json, with triples and names of Freebase',
    run: async (options) => (await import('../webquestions/import.js')).importWebQuestions(options),
  },
  mooc: {
    reads: 'triples_structural.tsv; its questions are generated',
    run: async (options) => (await import('../mooc/import.js')).importMooc(options),
  },
  custom: {
    reads: 'triples.nt, .tsv, .txt or .csv (also .gz) and questions.jsonl',
    run: async (options) => (await import('../custom/import.js')).importCustom(options),
  },
};
