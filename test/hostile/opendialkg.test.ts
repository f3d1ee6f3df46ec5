import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { importDialogues, importGraphs } from '../../datasets/opendialkg/read-release.js';
import { readDialogues } from '../../datasets/opendialkg/read-dialogues.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { hostileBytes, hostileJson, hostileJsonLines, spoiltJson, spoiltText } from '../fixtures/spoilt.js';
import {
  csvOf,
  folderWith,
  longDialogue,
  missDialogue,
  relationLines,
  shortDialogue,
  tripleLines,
  wideLines,
} from '../fixtures/tiny-release.js';

const dialogues = [shortDialogue, longDialogue, missDialogue];

/** Asserts that the dialogues read hold words only. */
function areDialogues(result: unknown): void {
  for (const { id, messages, paths } of (result as Awaited<ReturnType<typeof readDialogues>>).dialogues) {
    expect(typeof id).toBe('string');
    expect(messages.every(({ text }) => typeof text === 'string')).toBe(true);
    expect(paths.flatMap(({ triples }) => triples.flat()).every((name) => typeof name === 'string')).toBe(true);
  }
}

describe('OpenDialKG', () => {
  test('dialogues of the CSV are read, or refused with row and line', async () => {
    const { path, write } = hostileFile('train.csv');
    const oddCell = spoiltJson(...dialogues).map((text) => {
      const cell = `"${text.replaceAll('"', '""')}"`;
      return Buffer.from(`${csvOf([shortDialogue])}${cell},{},{}\n`);
    });
    const inputs = fc.oneof(hostileBytes(csvOf(dialogues)), oddCell);
    await withstands(inputs, (bytes) => readDialogues(write(bytes)), { place: path, check: areDialogues });
  });

  test.each([
    ['train.json', hostileJson(dialogues, shortDialogue, { messages: longDialogue })],
    ['train.jsonl', hostileJsonLines(...dialogues, { Messages: JSON.stringify(longDialogue) })],
  ])('dialogues of %s are read, or refused with their place', async (name, inputs) => {
    const { path, write } = hostileFile(name);
    await withstands(inputs, (bytes) => readDialogues(write(bytes)), { place: path, check: areDialogues });
  });

  test('a release with spoilt triples or relations gives its graphs, or is refused', async () => {
    const lines = (...of: string[]) => `${of.join('\n')}\n`;
    const wide = hostileFile('opendialkg_triples_wide.txt');
    const triples = hostileFile('opendialkg_triples.txt');
    const relations = hostileFile('opendialkg_relations.txt');
    const inputs = fc.oneof(
      hostileBytes(lines(...tripleLines)).map((bytes) => [bytes, lines(...wideLines), lines(...relationLines)]),
      hostileBytes(lines(...wideLines)).map((bytes) => [lines(...tripleLines), bytes, lines(...relationLines)]),
      spoiltText(lines(...relationLines)).map((text) => [lines(...tripleLines), lines(...wideLines), text]),
    );
    const read = ([some, more, known]: (string | Buffer)[]) =>
      importGraphs({
        dialogues: '',
        triples: triples.write(some!),
        wideTriples: wide.write(more!),
        relations: relations.write(known!),
      });
    await withstands(inputs, read, { place: 'opendialkg_' });
  });

  test('a message nested beyond any stack is refused', async () => {
    const deep = `[${'['.repeat(50_000)}${']'.repeat(50_000)}]`;
    const folder = folderWith({ 'all.json': deep, 'all.jsonl': `${deep}\n`, 'train.csv': `Messages\n"${deep}"\n` });
    for (const name of ['all.json', 'all.jsonl', 'train.csv']) {
      await expect(importDialogues(join(folder, name))).rejects.toThrow(new RegExp(`^expected .* at .*${name}`));
    }
  });
});
