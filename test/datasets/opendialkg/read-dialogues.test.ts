import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { readDialogues } from '../../../datasets/opendialkg/read-dialogues.js';
import { csvOf, folderWith, longDialogue, shortDialogue } from '../../fixtures/tiny-release.js';

const read = (name: string, content: string) => readDialogues(join(folderWith({ [name]: content }), name));

describe('readDialogues', () => {
  test('reads the same dialogues from CSV, JSON and JSON lines', async () => {
    const conversations = [shortDialogue, longDialogue];
    const csv = await read('talks.csv', csvOf(conversations));
    expect(csv.dialogues.map(({ id }) => id)).toEqual(['talks-1', 'talks-2']);
    const lists = JSON.stringify(conversations);
    const objects = JSON.stringify(conversations.map((messages) => ({ messages })));
    const release = JSON.stringify(conversations.map((items) => ({ Messages: JSON.stringify(items) })));
    for (const content of [lists, objects, release]) expect(await read('talks.json', content)).toEqual(csv);
    const lines = `${JSON.stringify(shortDialogue)}\n\n${JSON.stringify({ messages: longDialogue })}`;
    expect(await read('talks.jsonl', lines)).toEqual(csv);
  });

  test('takes a file that is one conversation for what it is', async () => {
    const csv = await read('talk.csv', csvOf([longDialogue]));
    for (const content of [longDialogue, { messages: longDialogue }, { Messages: JSON.stringify(longDialogue) }]) {
      expect(await read('talk.json', JSON.stringify(content))).toEqual(csv);
    }
  });

  test('accepts a byte order mark, columns in another order and Windows line ends', async () => {
    const field = `"${JSON.stringify(shortDialogue).replaceAll('"', '""')}"`;
    const { dialogues } = await read('talks.csv', `\ufeffUser Rating,Messages\r\n{},${field}\r\n`);
    expect(dialogues[0]!.paths).toHaveLength(1);
  });

  test('names the row and line of broken JSON, its text made safe', async () => {
    const broken = `${csvOf([shortDialogue])}"\u001b[",{},{}\n`;
    await expect(read('talks.csv', broken)).rejects.toThrow(
      /expected JSON, got .*\\u001b.*, at .*talks\.csv, row 2 \(line 3\)/,
    );
    await expect(read('talks.jsonl', '[]\n[')).rejects.toThrow(/talks\.jsonl:2/);
    await expect(read('talks.json', '[[], 5]')).rejects.toThrow(/talks\.json, conversation 2/);
  });

  test.each([
    ['talks.csv', 'Text,Rating\nhello,5\n', /expected a column "Messages", got \["Text","Rating"\], at .*talks\.csv/],
    ['talks.csv', 'Messages,User Rating\n"[]",{},{}\n', /expected a readable CSV, got .* at .*talks\.csv, after row 0/],
    ['talks.csv', 'Messages\n"[]\n', /expected a readable CSV/],
    ['talks.json', '{"a": 1}', /expected a list of conversations, got \{"a":1\}/],
    ['talks.txt', 'x', /expected a \.csv, \.json, \.jsonl file/],
  ])('refuses %s holding %j', async (name, content, reason) => {
    await expect(read(name, content)).rejects.toThrow(reason);
    await expect(read(name, content)).rejects.toMatchObject({ code: 'data', hint: expect.any(String) });
  });

  test.each(['talks.csv', 'talks.json', 'talks.jsonl'])('refuses a missing %s', async (name) => {
    await expect(readDialogues(join(folderWith({}), name))).rejects.toMatchObject({ code: 'data' });
  });
});
