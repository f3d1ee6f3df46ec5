/** Import of WebQuestions: questions with answers by name, over a Freebase subgraph. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { NameIndex } from '../../src/kg/name-index.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { readJsonFile } from '../../src/run/read-json.js';
import type { Importer, ImportOptions } from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import type { StoredQuestion } from '../questions/stored-question.js';
import { type ImportedFile, writeQuestionDataset } from '../questions/write-question-dataset.js';
import { type FreebaseGraph, freebaseNote, readFreebaseGraph } from '../webqsp/freebase-graph.js';

const releaseSchema = z.array(z.object({ url: z.string(), targetValue: z.string(), utterance: z.string() }));
type ReleasedQuestion = z.output<typeof releaseSchema>[number];

/**
 * Reads `webquestions.examples.train.json` and `….test.json` (one is enough) and the Freebase files in the folder or in the sibling
 * folder `webqsp`. The topic is the entity of the page's URL; there is no chain.
 * @throws WorkbenchError `data` (file, reason); see `writeQuestionDataset`
 */
export async function importWebQuestions(options: ImportOptions): Promise<QuestionManifest> {
  const { from, name = 'webquestions', home } = options;
  const present = findFiles(from);
  const releases = present.map(({ split, path }) => ({
    split,
    questions: readJsonFile(path, releaseSchema, 'the questions of WebQuestions'),
  }));
  const freebase = await readFreebaseGraph([from, join(from, '..', 'webqsp')]);
  const names = new NameIndex(freebase.graph);
  const files = Object.fromEntries(
    releases.map(({ split, questions }) => [split, importFile(questions, split, freebase, names)]),
  );
  return writeQuestionDataset(
    {
      name,
      format: 'webquestions',
      licence: 'WebQuestions: CC BY 4.0; Freebase: CC BY',
      labels: freebase.fixture ? ['fixture'] : [],
      graphs: [{ graph: freebase.graph, note: freebaseNote(freebase.fixture) }],
      subsets: [{ name: 'webquestions', graph: freebase.graph.name, files }],
      sources: [...present.map(({ path }) => path), ...freebase.sources],
    },
    home,
  );
}

export const webquestions: Importer<'questions'> = {
  name: 'webquestions',
  kind: 'questions',
  import: importWebQuestions,
  release: {
    name: 'webquestions',
    about: 'questions of web users with answers by name',
    licence: 'CC BY 4.0; Freebase: CC BY',
    page: 'https://nlp.stanford.edu/software/sempre/',
    files: [],
    byHand: [
      'Take webquestions.examples.train.json and webquestions.examples.test.json.',
      'Add triples of Freebase, as for webqsp.',
    ],
  },
};

function findFiles(folder: string): { split: string; path: string }[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (cause) {
    throw new WorkbenchError('data', `expected the folder of WebQuestions, got nothing, at ${folder}`, { cause });
  }
  const files = ['train', 'test']
    .map((split) => ({ split, path: join(folder, `webquestions.examples.${split}.json`) }))
    .filter(({ split }) => names.includes(`webquestions.examples.${split}.json`));
  if (files.length > 0) return files;
  throw new WorkbenchError('data', `expected webquestions.examples.train.json, got none, at ${folder}`, {
    hint: 'Give the folder of the WebQuestions release.',
  });
}

function importFile(
  released: ReleasedQuestion[],
  split: string,
  { graph }: FreebaseGraph,
  names: NameIndex,
): ImportedFile {
  const dropped = { 'no answer': 0 };
  const asGraphWrites = (text: string) => {
    const [entity] = names.lookup(text);
    return entity === undefined ? text : graph.entityNames[entity]!;
  };
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
    return [
      {
        id: `${split}-${index}`,
        question,
        topics: [{ name: topic, ...(begin >= 0 && topic !== '' && { span: [begin, begin + topic.length] as const }) }],
        answers: [...answers.values()],
      },
    ];
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
