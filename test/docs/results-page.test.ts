import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript, a tool of the repository
import * as tool from '../../.ci/make-results.js';
import { commandsOf, readResults, recordsOf, type ResultSection } from '../../reports/result-records.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { parseCommand } from './parse-command.js';
import { kgwalkWords } from './shell-lines.js';

const { page, render } = tool as {
  page: string;
  render(sections: ResultSection[], commands: typeof commandsOf): Promise<string>;
};
const ours = recordsOf(readResults()).filter(({ evaluate }) => evaluate !== undefined);

test('the page is that of the records: `npm run results` makes it again', async () => {
  expect(readFileSync(page, 'utf8')).toBe(await render(readResults(), commandsOf));
});

test('every command of a row parses', async () => {
  expect(ours.length).toBeGreaterThan(100);
  for (const command of new Set(ours.flatMap(commandsOf))) {
    expect(command.split(' ')).not.toContain('');
    const parsed = parseCommand(kgwalkWords(command)!).then(() => 'parses', String);
    expect([command, await parsed]).toEqual([command, 'parses']);
  }
});

test('a row that trains has seeds, and evaluates what it trained', () => {
  const wrong = ours.filter(({ train, seeds, evaluate }) => {
    const subject = /\bRUNS?\b/.test(evaluate!);
    return subject !== train.length > 0 || (train.length > 0 && seeds === undefined);
  });
  expect(wrong.map(({ id }) => id)).toEqual([]);
});

const row = (id: string, more = ', evaluate: kgwalk evaluate --agent rules --dataset umls') =>
  `{ id: ${id}, agent: rules, figures: [0.5]${more} }`;
const file = (...rows: string[]) =>
  `{ title: Links, place: 1, task: links, tables: [{ title: One, figures: [MRR], rows: [${rows.join(', ')}] }] }`;
const read = (text: string) => () => readResults(folderWith({ 'links.yaml': text }));

test('two rows of one name, a row without a command or source, and an unknown key are refused', () => {
  expect(recordsOf(read(file(row('a'), row('b')))())).toHaveLength(2);
  expect(read(file(row('a'), row('a')))).toThrow('got a twice');
  expect(read(file(row('a', '')))).toThrow('at row a');
  expect(read(file(row('a', ', machin: old')))).toThrow('machin');
  expect(read(file(row('a', ', evaluate: rm -r home')))).toThrow('evaluate');
});
