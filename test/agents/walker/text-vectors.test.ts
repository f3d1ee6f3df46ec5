import { describe, expect, test } from '@jest/globals';
import { encodeGraph, encodeTasks } from '../../../agents/walker/vectors.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import type { EncodeOptions, StateEncoder } from '../../../src/encoder/state-encoder.js';
import { laterSample } from '../../fixtures/toy-walker.js';
import { graphOf } from '../../fixtures/toy-walks.js';

const graph = graphOf('names', [
  ['Inception', 'directed_by', 'Nolan'],
  ['Nolan', '~directed_by', 'Inception'],
  ['Nolan', 'born.in-city', 'London'],
]);
const gold = [['Inception', 'directed_by', 'Nolan']] as const;
const settings = { lastMessageTokens: 2, windowTokens: 5, windowMessages: 3, nameTokens: 7 };

/** An encoder that remembers what it was asked. */
function listening() {
  const encoder = hashedEncoder(16);
  const asked: { texts: readonly string[]; maxTokens: number | undefined }[] = [];
  const encode = (texts: readonly string[], options?: EncodeOptions) => {
    asked.push({ texts, maxTokens: options?.maxTokens });
    return encoder.encode(texts, options);
  };
  return { asked, encoder: { ...encoder, encode } satisfies StateEncoder };
}

describe('vectors of names', () => {
  test('are asked for once, with relations in words and inverses called so', async () => {
    const { asked, encoder } = listening();
    const { entities, relations, dim } = await encodeGraph(encoder, graph, { settings });
    expect(asked).toEqual([
      { texts: ['Inception', 'Nolan', 'London'], maxTokens: 7 },
      { texts: ['directed by', 'inverse of directed by', 'born in city'], maxTokens: 7 },
    ]);
    expect([entities.length, relations.length, dim]).toEqual([48, 48, 16]);
    const { matrix } = await hashedEncoder(16).encode(['Nolan']);
    expect(entities.slice(16, 32)).toEqual(matrix);
  });

  test('have a row for every name, even where two relations read the same', async () => {
    const twice = graphOf('twice', [
      ['a', 'born_in', 'b'],
      ['a', 'born.in', 'b'],
    ]);
    const { relations } = await encodeGraph(hashedEncoder(16), twice, { settings });
    expect(relations).toHaveLength(32);
    expect(relations.slice(16)).toEqual(relations.slice(0, 16));
  });
});

describe('vectors of dialogues', () => {
  const dialogues = [
    laterSample(graph, 'a', 'a', ['one', ' two ', 'three', 'four'], [], gold),
    laterSample(graph, 'b', 'b', ['four'], [], gold),
    laterSample(graph, 'c', 'c', [], [], gold),
  ];
  const tasks = dialogues.map(({ task }) => task);

  test('are those of the last message and of the last few, oldest first', async () => {
    const { asked, encoder } = listening();
    await encodeTasks(encoder, tasks, { settings });
    expect(asked).toEqual([
      { texts: ['four', 'four', ''], maxTokens: 2 },
      { texts: ['two\nthree\nfour', 'four', ''], maxTokens: 5 },
    ]);
  });

  test('are found by task, each distinct text encoded once, silence being zero', async () => {
    const encoder = hashedEncoder(16);
    const { last, rowOf } = await encodeTasks(encoder, tasks, { settings });
    // 'four' twice of last messages, then the two windows that are not blank.
    expect(encoder.counters.encodes).toBe(3);
    const vector = (id: string) => {
      const row = last.rows[rowOf.get(id)!]!;
      return Array.from(last.matrix.subarray(row * 16, (row + 1) * 16));
    };
    expect(vector('a')).toEqual(vector('b'));
    expect(vector('a')).toContainEqual(expect.not.closeTo(0, 3));
    expect(vector('c')).toEqual(new Array(16).fill(0));
  });
});
