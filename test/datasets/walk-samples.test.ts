import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import type { Dialogue } from '../../datasets/dialogue.js';
import { emptyCounts, parseMessages, samplesOfFile } from '../../datasets/opendialkg/read-dialogues.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { unknownId } from '../../src/kg/graph.js';
import { csvOf, folderWith, longDialogue, missDialogue, shortDialogue, tripleLines } from '../fixtures/tiny-release.js';

const builder = new GraphBuilder();
for (const line of tripleLines) builder.add(...(line.split('\t') as [string, string, string]));
const graph = builder.build('dialogue');
const ids = (head: string, relation: string, tail: string) => [
  graph.entityId(head),
  graph.relationId(relation),
  graph.entityId(tail),
];

const dialogue = (id: string, items: unknown): Dialogue => ({ id, ...parseMessages(items, id, emptyCounts()) });
const long = dialogue('train-1', longDialogue);
const miss = dialogue('train-2', missDialogue);

describe('walkSamples', () => {
  test('B-ARK-4: one sample a path: what was said before it, its sender, start, gold and earlier paths', () => {
    const [first, second, ...rest] = walkSamples([long], graph);
    expect(rest).toEqual([]);
    const userPath = [ids('Ada Quill', '~made_by', 'Paper Moons')];
    expect(first).toEqual({
      task: {
        id: 'train-1#1',
        dialogueId: 'train-1',
        messages: long.messages.slice(0, 1),
        sender: 'user',
        start: graph.entityId('Ada Quill'),
        startName: 'Ada Quill',
        earlierPaths: [],
      },
      gold: { path: userPath, target: graph.entityId('Paper Moons'), inGraph: true },
    });
    expect(second!.task).toMatchObject({ id: 'train-1#2', sender: 'assistant', messages: long.messages });
    expect(second!.task.earlierPaths).toEqual([userPath]);
    expect(second!.gold).toEqual({
      path: [ids('Paper Moons', 'made_by', 'Ada Quill'), ids('Ada Quill', 'born_in', 'Lund')],
      target: graph.entityId('Lund'),
      inGraph: true,
    });
  });

  test('B-ARK-5: assistant turns keep their ids and see the user’s paths', () => {
    const all = walkSamples([long], graph);
    expect(walkSamples([long], graph, { turns: 'assistant' })).toEqual([all[1]]);
  });

  test('a limit keeps the first dialogues', () => {
    expect(walkSamples([long, miss], graph, { maxDialogues: 1 })).toEqual(walkSamples([long], graph));
    expect(walkSamples([long, miss], graph, { maxDialogues: null })).toHaveLength(3);
  });

  test('a path the graph lacks stays, as a miss with unknown ids', () => {
    const [sample] = walkSamples([miss], graph);
    expect(sample!.task).toMatchObject({ start: unknownId, startName: 'Nowhere' });
    expect(sample!.gold).toEqual({
      path: [[unknownId, graph.relationId('made_by'), unknownId]],
      target: unknownId,
      inGraph: false,
    });
  });

  test('a path whose names are known but not joined is not in the graph', () => {
    const talk: Dialogue = {
      id: 'x',
      messages: [],
      paths: [{ sender: 'user', position: 0, triples: [['Lund', 'made_by', 'Ada Quill']] }],
    };
    expect(walkSamples([talk], graph)[0]!.gold).toMatchObject({ target: graph.entityId('Ada Quill'), inGraph: false });
  });
});

test('samplesOfFile grounds a file that was never imported', async () => {
  const file = join(folderWith({ 'mine.csv': csvOf([shortDialogue, longDialogue]) }), 'mine.csv');
  const { samples, dialogues, counts } = await samplesOfFile(file, graph, { turns: 'assistant' });
  expect(samples.map(({ task }) => task.id)).toEqual(['mine-1#1', 'mine-2#2']);
  expect(dialogues).toBe(2);
  expect(counts).toEqual(emptyCounts());
});
