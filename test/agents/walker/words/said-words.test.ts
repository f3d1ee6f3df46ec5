import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  readVocabulary,
  vocabularyOf,
  WordReader,
  wordsOf,
  writeVocabulary,
} from '../../../../agents/walker/words/said-words.js';
import type { WalkSample } from '../../../../datasets/walk-sample.js';
import { toyTwoHop } from '../../../fixtures/toy-walks.js';

const [model] = toyTwoHop().samples;

function turn(dialogueId: string, ...texts: string[]): WalkSample {
  const messages = texts.map((text) => ({ sender: 'user' as const, text }));
  return { ...model!, task: { ...model!.task, id: `${dialogueId}/${texts.length}`, dialogueId, messages } };
}

describe('the words of a walker', () => {
  test('are runs of letters in lower case', () => {
    expect(wordsOf("I'd love Amélie (2001)!")).toEqual(['i', 'd', 'love', 'amélie']);
    expect(wordsOf('42 …')).toEqual([]);
  });

  test('are those that messages of train say twice; turns that share messages do not count them again', () => {
    const train = [
      turn('a', 'seen Dune', 'who directed it'),
      turn('a', 'seen Dune', 'who directed it', 'Dune rocks'),
      turn('b', 'who rocks'),
    ];
    expect(vocabularyOf(train)).toEqual(['dune', 'rocks', 'who']);
  });
});

describe('words of a batch', () => {
  const reader = new WordReader(['dune', 'who']);
  const rowsOf = ({ rows, offsets }: { rows: Int32Array; offsets: Int32Array }) =>
    Array.from({ length: offsets.length - 1 }, (_, i) => [...rows.subarray(offsets[i], offsets[i + 1])]);

  test('hold each message once, unknown words as row 0, and say which messages each dialogue has', () => {
    const [a, b] = [turn('a', 'one', 'Dune', 'who made Dune'), turn('b', 'zero', 'one', 'two', 'who made Dune')];
    const said = reader.of([a.task, a.task, b.task]);
    expect(rowsOf(said.messages)).toEqual([[2, 0, 1], [0], [1], [0]]);
    expect(said.numLast).toBe(1);
    // Only the last three of the second dialogue.
    expect(rowsOf(said.dialogues)).toEqual([
      [1, 2, 0],
      [1, 3, 0],
    ]);
    expect([...said.dialogueOf]).toEqual([0, 0, 1]);
    expect([...said.stateOf]).toEqual([0, 2]);
  });

  test('are one unknown word where a message has none, or where there is no message', () => {
    const said = reader.of([turn('a', '?!').task, { ...turn('b').task }]);
    expect(rowsOf(said.messages)).toEqual([[0], [0]]);
  });

  test('are kept of no more texts than may be, and those forgotten are read as before', () => {
    const vocabulary = ['red', 'green', 'blue'];
    const tasks = ['red green', 'green blue', 'blue', 'red'].map((said) => turn(said, said).task);
    const [small, large] = [new WordReader(vocabulary, 2), new WordReader(vocabulary)];
    for (const task of [...tasks, ...tasks]) {
      expect(small.of([task])).toEqual(large.of([task]));
      expect(small.kept).toBeLessThanOrEqual(2);
    }
    expect(small.of(tasks)).toEqual(large.of(tasks));
    expect(large.kept).toBe(tasks.length);
  });

  test('of a long message are its last ones', () => {
    const said = reader.of([turn('a', `who ${'x '.repeat(47)}Dune`).task]);
    expect(said.messages.rows).toHaveLength(48);
    expect([said.messages.rows[0], said.messages.rows[47]]).toEqual([0, 1]);
  });
});

describe('the words of a run', () => {
  let run: string;
  beforeEach(() => {
    run = mkdtempSync(join(tmpdir(), 'kgwalk-words-'));
    mkdirSync(join(run, 'embeddings'));
  });
  afterEach(() => rmSync(run, { recursive: true }));
  const file = () => join(run, 'embeddings', 'walker-words.json');

  test('come back as they were kept', () => {
    expect(readVocabulary(run)).toBeUndefined();
    writeVocabulary(run, ['dune', 'who']);
    expect(readVocabulary(run)).toEqual(['dune', 'who']);
  });

  test('are not there for a network that reads none', () => {
    writeVocabulary(run, undefined);
    expect(readVocabulary(run)).toBeUndefined();
  });

  test('are refused when the file was cut short or holds something else', () => {
    writeVocabulary(run, ['dune', 'who']);
    const text = readFileSync(file(), 'utf8');
    for (const bad of [text.slice(0, -6), '{"words": [1]}', '[]']) {
      writeFileSync(file(), bad);
      expect(() => readVocabulary(run)).toThrow('expected the words of a walker');
    }
  });
});
