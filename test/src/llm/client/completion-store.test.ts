import { describe, expect, test } from '@jest/globals';
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompletionStore } from '../../../../src/llm/client/completion-store.js';
import { completionKey, openCompletionStore } from '../../../../src/llm/client/completion-store.js';
import { folderWith } from '../../../fixtures/tiny-release.js';

const storeFile = () => join(folderWith({}), 'deep/completions.jsonl');
const completion = (text: string) =>
  ({ text, promptTokens: 12, cachedTokens: 4, completionTokens: 3, stop: 'end' }) as const;
const head = (text: string) => ({ system: 'be brief', head: text });
const add = (store: CompletionStore, key: string, text: string, at = 'task') =>
  store.addCompletion(key, head(at), { questionId: 'q', phase: 'p' }, completion(text));
const written = (...texts: string[]) => {
  const file = storeFile();
  const store = openCompletionStore(file);
  for (const text of texts) add(store, text, text);
  store.close();
  return file;
};

const texts = { model: 'm', system: 's', head: 'h', body: 'b', salt: '' };
const parts = { ...texts, maxTokens: 9, temperature: 0, seed: 0, attempt: 0 };

describe('a store of completions', () => {
  test('gives back what was put in, to others that open it too', () => {
    const file = storeFile();
    const store = openCompletionStore(file);
    expect(store.completion('k')).toBeUndefined();
    add(store, 'k', 'søster\n"quoted" 😀');
    expect(store.completion('k')).toEqual(completion('søster\n"quoted" 😀'));
    // It is in the file at once, without closing: a kill loses nothing.
    const again = openCompletionStore(file, { readOnly: true });
    expect(again.completion('k')).toEqual(completion('søster\n"quoted" 😀'));
    expect(again).toMatchObject({ size: 1, truncatedBytes: 0 });
    again.close();
    store.close();
  });

  test('keeps each head once and lists the last used ones in the order of their last use', () => {
    const file = storeFile();
    const store = openCompletionStore(file);
    for (const [i, at] of ['a', 'b', 'c', 'a', 'b', 'a'].entries()) add(store, `k${i}`, 'x', at);
    const expected = [head('c'), head('b'), head('a')];
    expect(store.lastHeads(10)).toEqual(expected);
    expect(store.lastHeads(2)).toEqual(expected.slice(1));
    store.close();
    const again = openCompletionStore(file);
    expect(again.lastHeads(10)).toEqual(expected);
    again.close();
    expect(readFileSync(file, 'utf8').match(/"line":"head"/g)).toHaveLength(3);
  });

  test('remembers the model, and writes it again only when it differs', () => {
    const card = { id: 'a', name: 'A', simulated: true, constrained: true, contextLength: 99, scoresChoices: false };
    const file = storeFile();
    const store = openCompletionStore(file);
    store.describeModel(card);
    const size = statSync(file).size;
    store.describeModel({ ...card });
    expect(statSync(file).size).toBe(size);
    store.close();
    const again = openCompletionStore(file, { readOnly: true });
    expect(again.model).toEqual(card);
    again.close();
  });
});

describe('after a crash', () => {
  test('at any byte, whole lines are kept and the torn one is cut and counted', () => {
    const file = written('one', 'two');
    const whole = readFileSync(file);
    const ends = [...whole.keys()].filter((i) => whole[i] === 0x0a).map((i) => i + 1);
    for (let bytes = 0; bytes <= whole.length; bytes += 31) {
      writeFileSync(file, whole);
      truncateSync(file, bytes);
      const kept = Math.max(0, ...ends.filter((end) => end <= bytes));
      const store = openCompletionStore(file);
      expect(store.truncatedBytes).toBe(bytes - kept);
      expect(statSync(file).size).toBe(kept);
      add(store, 'three', 'three');
      store.close();
      const again = openCompletionStore(file, { readOnly: true });
      expect(again.completion('three')).toEqual(completion('three'));
      again.close();
    }
  });

  test('a last line of empty blocks counts as torn', () => {
    const file = written('one');
    appendFileSync(file, `${'\0'.repeat(30)}\n`);
    const store = openCompletionStore(file);
    expect(store).toMatchObject({ size: 1, truncatedBytes: 31 });
    store.close();
  });

  test('a changed letter in the middle is an error that names the line', () => {
    const file = written('one', 'two', 'three');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"text":"two"', '"text":"too"'));
    expect(() => openCompletionStore(file)).toThrow(`${file}:3`);
  });

  test('lines longer than a piece of reading come back', () => {
    const long = 'ab'.repeat(700_000);
    const store = openCompletionStore(written('one', long, 'two'));
    expect(store.completion(long)?.text).toBe(long);
    expect(store.size).toBe(3);
    store.close();
  });
});

test('read-only, nothing is created and a torn tail stays', () => {
  expect(() => openCompletionStore(storeFile(), { readOnly: true })).toThrow(
    'expected the completions of an evaluation',
  );
  const file = written('one');
  appendFileSync(file, '{"sum');
  const store = openCompletionStore(file, { readOnly: true });
  expect(store).toMatchObject({ size: 1, truncatedBytes: 5 });
  store.close();
  expect(readFileSync(file, 'utf8')).toMatch(/\{"sum$/);
});

test('keys differ with every part and not with the order of keys', () => {
  const key = completionKey(parts);
  expect(completionKey(Object.fromEntries(Object.entries(parts).reverse()) as typeof parts)).toBe(key);
  const others = [
    ...Object.keys(parts).map((name) => ({ ...parts, [name]: 'other' })),
    { ...parts, format: { jsonSchema: { type: 'object' }, gbnf: 'root ::= "b"' } },
    { ...parts, format: { jsonSchema: { type: 'object' }, gbnf: 'root ::= "a"' } },
    { ...parts, choices: ['a'] },
  ];
  expect(new Set([key, ...others.map((other) => completionKey(other as typeof parts))]).size).toBe(others.length + 1);
});
