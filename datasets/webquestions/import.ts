/** Import of WebQuestions: questions with answers by name, over a Freebase subgraph. */
import { join } from 'node:path';
import { z } from 'zod';
import { NameIndex } from '../../src/kg/name-index.js';
import { readJsonFile } from '../../src/run/read-json.js';
import type { Importer, ImportOptions } from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import type { StoredQuestion } from '../questions/stored-question.js';
import type { ImportedFile } from '../questions/write-question-dataset.js';
import { importOverFreebase } from '../webqsp/freebase-graph.js';

const releaseSchema = z.array(z.object({ url: z.string(), targetValue: z.string(), utterance: z.string() }));
type ReleasedQuestion = z.output<typeof releaseSchema>[number];

/**
 * Reads `webquestions.examples.train.json` and `….test.json` (one is enough) and the Freebase files in the folder or in the sibling
 * folder `webqsp`. The topic is the entity of the page's URL; there is no chain.
 * @throws WorkbenchError `data` (file, reason); see `writeQuestionDataset`
 */
export function importWebQuestions(options: ImportOptions): Promise<QuestionManifest> {
  return importOverFreebase(options, {
    format: 'webquestions',
    licence: 'WebQuestions: CC BY 4.0',
    stem: 'webquestions.examples',
    hint: 'Give the folder of the WebQuestions release.',
    beside: [join(options.from, '..', 'webqsp')],
    readQuestions: (path) => readJsonFile(path, releaseSchema, 'the questions of WebQuestions'),
    over: ({ graph }) => {
      const names = new NameIndex(graph);
      const asGraphWrites = (text: string) => graph.entityNames[names.lookup(text)[0] ?? -1] ?? text;
      return (questions, split) => importFile(questions, split, asGraphWrites);
    },
  });
}

/** Entry of `importers.ts`. */
export const webquestions: Importer<'questions'> = {
  name: 'webquestions',
  kind: 'questions',
  import: importWebQuestions,
};

function importFile(
  released: readonly ReleasedQuestion[],
  split: string,
  asGraphWrites: (text: string) => string,
): ImportedFile {
  const dropped = { 'no answer': 0 };
  const questions = released.flatMap(({ url, targetValue, utterance }, index): StoredQuestion[] => {
    const described = descriptionsOf(targetValue);
    if (described.length === 0) {
      dropped['no answer']++;
      return [];
    }
    const question = utterance.trim();
    const topic = asGraphWrites(decodeSlug(url));
    const begin = question.toLowerCase().indexOf(topic.toLowerCase());
    const answers = new Map(
      described.map((text) => {
        const known = asGraphWrites(text);
        return [known, { name: known, aliases: known === text ? undefined : [text] }];
      }),
    );
    const span = begin >= 0 && topic !== '' ? ([begin, begin + topic.length] as const) : undefined;
    return [{ id: `${split}-${index}`, question, topics: [{ name: topic, span }], answers: [...answers.values()] }];
  });
  return { questions, dropped };
}

/** Texts of `(list (description "A") (description B))`, in order. */
export function descriptionsOf(targetValue: string): string[] {
  const found: string[] = [];
  for (const [, quoted, plain] of targetValue.matchAll(/\(description (?:"((?:[^"\\]|\\.)*)"|([^()"]+))\)/g)) {
    const text = (quoted?.replace(/\\(.)/g, '$1') ?? plain!).trim();
    if (text !== '') found.push(text);
  }
  return found;
}

/** `http://www.freebase.com/view/en/justin_bieber` → `justin bieber`. */
function decodeSlug(url: string): string {
  return (url.split('/').at(-1) ?? '').replaceAll('_', ' ').trim();
}
