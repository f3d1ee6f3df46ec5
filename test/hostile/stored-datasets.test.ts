import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from '@jest/globals';
import { checkDialogueDataset, loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { importCustom } from '../../datasets/custom/import.js';
import { datasetKind } from '../../datasets/imported-dataset.js';
import { checkLinkDataset, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { importLinks } from '../../datasets/links/import-links.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { checkQuestionDataset, loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import { withstands } from '../fixtures/hostile.js';
import { inTurn } from '../fixtures/long-tests.js';
import { hostileJson, hostileJsonLines } from '../fixtures/spoilt.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';

const home = mkdtempSync(join(tmpdir(), 'kgwalk-hostile-'));
const release = folderWith(releaseFiles);
const own = folderWith({
  'triples.tsv': 'Heat\tby\tMann\n',
  'questions.jsonl': '{"question":"who directed [Heat]","answers":["Mann"],"chain":["by"],"aliases":{"Mann":["M."]}}\n',
});

/** A stored file of JSON, or of a JSON value a line, spoilt. */
function spoilt(file: string) {
  const text = readFileSync(file, 'utf8');
  if (!file.endsWith('l')) return hostileJson(JSON.parse(text));
  const lines = text.split('\n').filter(Boolean);
  return hostileJsonLines(...lines.map((line) => JSON.parse(line) as unknown));
}

describe('data sets as they are stored', () => {
  test.each(inTurn(['dataset.json', 'dialogues.train.jsonl'], 1))(
    'of dialogues with a spoilt %s are read, or refused',
    async (name) => {
      await importOpenDialKg({ from: release, home });
      const { folder } = loadDialogueDataset('opendialkg', { home });
      const inputs = spoilt(join(folder, name));
      const read = async (bytes: Buffer) => {
        writeFileSync(join(folder, name), bytes);
        datasetKind('opendialkg', { home });
        const dataset = loadDialogueDataset('opendialkg', { home });
        dataset.loadDialogues('train');
        await dataset.loadGraph();
        return checkDialogueDataset('opendialkg', { home });
      };
      await withstands(inputs, read, { place: 'at' });
    },
  );

  test.each(inTurn(['dataset.json', 'questions.all.all.jsonl'], 0))(
    'of questions with a spoilt %s are read, or refused',
    async (name) => {
      await importCustom({ from: own, home });
      const { folder } = loadQuestionDataset('custom', { home });
      const inputs = spoilt(join(folder, name));
      const read = async (bytes: Buffer) => {
        writeFileSync(join(folder, name), bytes);
        const dataset = loadQuestionDataset('custom', { home });
        const graph = await dataset.loadGraph();
        dataset.aliases(graph);
        for (const { name: split, holdOut } of dataset.splits()) dataset.questions(graph, { split, holdOut });
        return checkQuestionDataset('custom', { home });
      };
      await withstands(inputs, read, { place: 'at' });
    },
  );

  test.each(inTurn(['dataset.json', 'labels.jsonl'], 1))(
    'of links with a spoilt %s are read, or refused',
    async (name) => {
      await importLinks({ from: folderWith(tinyLinkFiles), name: 'links', home });
      const { folder } = await loadLinkDataset('links', { home });
      const inputs = spoilt(join(folder, name));
      const read = async (bytes: Buffer) => {
        writeFileSync(join(folder, name), bytes);
        const { labels, known } = await loadLinkDataset('links', { home });
        known.tailsOf(0, 0);
        return [labels, await checkLinkDataset('links', { home })];
      };
      await withstands(inputs, read, { place: 'at' });
    },
  );
});
