/** Releases to import, and data sets as they are stored, with one file spoilt: read, or refused with the place. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from '@jest/globals';
import { checkDialogueDataset, loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { importCustom } from '../../datasets/custom/import.js';
import { datasetKind } from '../../datasets/imported-dataset.js';
import { linkStatistics } from '../../datasets/links/link-statistics.js';
import { checkLinkDataset, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { importLinks } from '../../datasets/links/import-links.js';
import { importMooc } from '../../datasets/mooc/import.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { checkQuestionDataset, loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import { importWebQsp } from '../../datasets/webqsp/import.js';
import { importWebQuestions } from '../../datasets/webquestions/import.js';
import { withstands } from '../fixtures/hostile.js';
import { inTurn } from '../fixtures/long-tests.js';
import { hostileBytes, hostileJson, hostileJsonLines } from '../fixtures/spoilt.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';

const home = mkdtempSync(join(tmpdir(), 'kgwalk-hostile-'));

/** A file of JSON, of a JSON value a line, or of text, spoilt. */
function spoilt(file: string, text: string) {
  if (/\.(txt|tsv)$/.test(file)) return hostileBytes(text);
  if (file.endsWith('.json')) return hostileJson(JSON.parse(text));
  const lines = text.split('\n').filter(Boolean);
  return hostileJsonLines(...lines.map((line) => JSON.parse(line) as unknown));
}

const parse = {
  PotentialTopicEntityMention: 'ada orr',
  TopicEntityName: 'Ada O.',
  TopicEntityMid: 'm.ada',
  InferentialChain: ['people.person.sibling_s', 'people.sibling_relationship.sibling'],
  Constraints: [{}],
  Answers: [{ AnswerType: 'Entity', AnswerArgument: 'm.bo', EntityName: 'Bo' }],
};
const webqsp = {
  Questions: [
    { QuestionId: 'WebQTrn-0', ProcessedQuestion: 'who is the brother of ada orr', Parses: [parse] },
    { QuestionId: 'WebQTrn-1', ProcessedQuestion: 'who', Parses: [{ ...parse, InferentialChain: null }] },
  ],
};
const webquestions = [
  { url: 'http://x.com/en/ada_orr', targetValue: '(list (description "Bo Orr"))', utterance: 'who is with ada orr' },
];
const freebase = {
  'freebase_named_triples.tsv':
    'Ada Orr\tpeople.person.sibling_s\tm.0x1\nm.0x1\tpeople.sibling_relationship.sibling\tBo Orr\nBo Orr\tpeople.person.gender\tMale\n',
};
const campus = ['S_1\tschool_offers_course\tC_1', 'T_1\tteacher_teaches_course\tC_1', 'K_1\tconcept_major\tF_1', ''];

async function importedLinks(from: string, allowOverlap = false) {
  await importLinks({ from, name: 'odd', home, allowOverlap });
  const dataset = await loadLinkDataset('odd', { home });
  return [dataset.labels, linkStatistics(dataset)];
}
const importedBy = (importer: typeof importWebQsp) => async (from: string) => {
  await importer({ from, name: 'odd', home });
  const dataset = loadQuestionDataset('odd', { home });
  const [subset] = dataset.subsets;
  return dataset.questions(await dataset.loadGraph([subset!]), {
    subsets: [subset!],
    split: dataset.splits()[0]!.name,
  });
};

type Files = Readonly<Record<string, string>>;
const releases: [what: string, files: Files, spoilt: string[], read: (from: string) => Promise<unknown>][] = [
  ['links', tinyLinkFiles, ['train.txt', 'test.txt', 'entity2text.txt'], importedLinks],
  ['links that may overlap', tinyLinkFiles, ['test.txt'], (from) => importedLinks(from, true)],
  [
    'WebQSP',
    { 'WebQSP.train.json': JSON.stringify(webqsp), 'mid2name.tsv': 'm.ada\tAda Orr\nm.bo\tBo Orr\n', ...freebase },
    ['WebQSP.train.json', 'freebase_named_triples.tsv', 'mid2name.tsv'],
    importedBy(importWebQsp),
  ],
  [
    'WebQuestions',
    { 'webquestions.examples.train.json': JSON.stringify(webquestions), ...freebase },
    ['webquestions.examples.train.json'],
    importedBy(importWebQuestions),
  ],
  ['MOOCCube', { 'triples_structural.tsv': campus.join('\n') }, ['triples_structural.tsv'], importedBy(importMooc)],
];

// Every import writes files for certain, which takes its time.
describe.each(releases)('a release of %s', (_, files, names, read) => {
  test.each(names)('with a spoilt %s is imported and read again, or refused', async (name) => {
    const from = folderWith(files);
    const reading = (bytes: Buffer) => {
      writeFileSync(join(from, name), bytes);
      return read(from);
    };
    const place = files === tinyLinkFiles ? from : 'at';
    await withstands(spoilt(name, files[name]!), reading, { place, runs: [20, 3000] });
  });
});

const own = folderWith({
  'triples.tsv': 'Heat\tby\tMann\n',
  'questions.jsonl': '{"question":"who directed [Heat]","answers":["Mann"],"chain":["by"],"aliases":{"Mann":["M."]}}\n',
});

interface Stored {
  fill: () => Promise<unknown>;
  folder: () => string | Promise<string>;
  files: string[];
  read: () => unknown;
}
const stored: Record<string, Stored> = {
  dialogues: {
    fill: () => importOpenDialKg({ from: folderWith(releaseFiles), home }),
    folder: () => loadDialogueDataset('opendialkg', { home }).folder,
    files: ['dialogues.train.jsonl', 'dataset.json'],
    async read() {
      datasetKind('opendialkg', { home });
      const dataset = loadDialogueDataset('opendialkg', { home });
      dataset.loadDialogues('train');
      await dataset.loadGraph();
      return checkDialogueDataset('opendialkg', { home });
    },
  },
  questions: {
    fill: () => importCustom({ from: own, home }),
    folder: () => loadQuestionDataset('custom', { home }).folder,
    files: ['dataset.json', 'questions.all.all.jsonl'],
    async read() {
      const dataset = loadQuestionDataset('custom', { home });
      const graph = await dataset.loadGraph();
      dataset.aliases(graph);
      for (const { name: split, holdOut } of dataset.splits()) dataset.questions(graph, { split, holdOut });
      return checkQuestionDataset('custom', { home });
    },
  },
  links: {
    fill: () => importLinks({ from: folderWith(tinyLinkFiles), name: 'links', home }),
    folder: async () => (await loadLinkDataset('links', { home })).folder,
    files: ['labels.jsonl', 'dataset.json'],
    async read() {
      const { labels, known } = await loadLinkDataset('links', { home });
      known.tailsOf(0, 0);
      return [labels, await checkLinkDataset('links', { home })];
    },
  },
};

describe.each(Object.entries(stored))('a stored data set of %s', (_, { fill, folder, files, read }) => {
  test.each(inTurn(files, 0))('with a spoilt %s is read, or refused', async (name) => {
    await fill();
    const file = join(await folder(), name);
    const reading = (bytes: Buffer) => {
      writeFileSync(file, bytes);
      return read();
    };
    await withstands(spoilt(name, readFileSync(file, 'utf8')), reading, { place: 'at' });
  });
});
