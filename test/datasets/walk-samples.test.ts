import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Dialogue } from '../../datasets/dialogue.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { dialogueStatistics } from '../../datasets/dialogues/dialogue-statistics.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { emptyCounts, parseMessages, samplesOfFile } from '../../datasets/opendialkg/read-dialogues.js';
import { dataSettings } from '../../datasets/settings.js';
import { splitSamples, walkSamples } from '../../datasets/walk-sample.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { unknownId } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import {
  csvOf,
  folderWith,
  longDialogue,
  missDialogue,
  releaseFiles,
  shortDialogue,
  tripleLines,
} from '../fixtures/tiny-release.js';

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

describe('samples of a split', () => {
  const builder = new GraphBuilder();
  for (const line of tripleLines) builder.add(...(line.split('\t') as [string, string, string]));
  const graph = builder.build('dialogue');
  const dataset = {
    loadDialogues: (split: string): Dialogue[] =>
      Array.from({ length: 12 }, (_, i) => {
        const id = `${split}-${i}`;
        return { id, ...parseMessages(i % 2 === 0 ? longDialogue : shortDialogue, id, emptyCounts()) };
      }),
  };
  const samples = (split: 'train' | 'valid' | 'test', set: object) =>
    splitSamples(dataset, graph, dataSettings.parse(set), split);
  const idsOf = (split: 'train' | 'valid' | 'test', set: object) => samples(split, set).map(({ task }) => task.id);

  test('a draw is the first of a seeded shuffle, in the order of the split, with the ids of the whole split', () => {
    const all = walkSamples(dataset.loadDialogues('train'), graph);
    const order = Rng.named(0, 'data/train-samples').shuffle(Int32Array.from(all.keys()));
    const expected = [...order.subarray(0, 5)].sort((a, b) => a - b).map((i) => all[i]!);
    expect(samples('train', { trainSamples: 5 })).toEqual(expected);
    expect(samples('train', {})).toEqual(all);
  });

  test('train and valid are drawn apart, test never, and a smaller draw is part of a larger one', () => {
    const set = { trainSamples: 4, validSamples: 6 };
    expect([idsOf('train', set).length, idsOf('valid', set).length]).toEqual([4, 6]);
    const places = (ids: string[]) => ids.map((id) => id.replace(/^\w+-/, ''));
    expect(places(idsOf('train', { trainSamples: 6 }))).not.toEqual(places(idsOf('valid', set)));
    expect(idsOf('test', set)).toEqual(idsOf('test', {}));
    expect(idsOf('valid', { validSamples: 9 })).toEqual(expect.arrayContaining(idsOf('valid', set)));
  });

  test('a draw of more than there is takes all; turns and the first dialogues are chosen before it', () => {
    expect(samples('valid', { validSamples: 1000 })).toEqual(samples('valid', {}));
    const part = { turns: 'assistant', maxDialogues: 4 };
    expect(idsOf('train', { ...part, trainSamples: 1000 })).toEqual(idsOf('train', part));
    expect(idsOf('train', part)).toEqual(expect.arrayContaining(idsOf('train', { ...part, trainSamples: 1 })));
  });

  test('folds part the dialogues of train: each is left out by one of them, with all its turns; valid and test are whole', () => {
    const dialoguesOf = (set: object) => new Set(samples('train', set).map(({ task }) => task.dialogueId));
    const all = dialoguesOf({});
    const kept = [1, 2, 3].map((k) => dialoguesOf({ fold: `${k}/3` }));
    for (const dialogue of all) expect(kept.filter((own) => !own.has(dialogue))).toHaveLength(1);
    for (const own of kept) expect(own.size).toBeLessThan(all.size);
    const turns = samples('train', { fold: '2/3' });
    expect(turns).toEqual(samples('train', {}).filter(({ task }) => kept[1]!.has(task.dialogueId)));
    for (const split of ['valid', 'test'] as const) expect(idsOf(split, { fold: '1/2' })).toEqual(idsOf(split, {}));
  });

  test('a fold is one of two or more', () => {
    for (const fold of ['0/2', '3/2', '1/1', 'half', '1/2/3']) {
      expect(() => dataSettings.parse({ fold })).toThrow('expected');
    }
  });
});

describe('settings of data', () => {
  test('every key of the data settings has a default and a description', () => {
    expect(dataSettings.parse({})).toEqual({
      dataset: 'opendialkg',
      graph: 'dialogue',
      turns: 'all',
      maxDialogues: null,
      oracle: null,
      fold: null,
      trainSamples: null,
      validSamples: null,
      subsets: 'all',
      holdOut: 'question',
    });
    for (const key of Object.values(dataSettings.shape)) expect(key.description).toBeTruthy();
    expect(() => dataSettings.parse({ turn: 'all' })).toThrow();
  });
});

describe('statistics of dialogues', () => {
  test('statistics of a data set that can be counted by hand', async () => {
    const home = folderWith({});
    await importOpenDialKg({ from: folderWith(releaseFiles), home });
    const { graph, splits } = await dialogueStatistics(loadDialogueDataset('opendialkg', { home }));
    // Out-edges: Ada Quill 3; Glass Harbor, Paper Moons and Lund 1 each.
    expect(graph).toMatchObject({
      name: 'dialogue',
      entities: 4,
      triples: 6,
      degree: { mean: 1.5, median: 1, p95: 3, max: 3 },
    });
    expect(splits.train).toMatchObject({
      dialogues: 2,
      messages: 4,
      samples: 3,
      byHops: { 1: 2, 2: 1 },
      bySender: { user: 1, assistant: 2 },
      startDegree: { mean: 5 / 3, median: 1, max: 3 },
      actions: { mean: 8 / 4, median: 1, max: 3 },
      withinTwoHops: { mean: 3, median: 3, p95: 3, max: 3 },
      startsWithoutEdges: 0,
      pathCoverage: 1,
      tripleCoverage: 1,
      pathsSeenInTrain: null,
      inverseShare: 0.25,
    });
    expect(splits.train.topRelations).toEqual([
      { relation: 'made_by', share: 0.5 },
      { relation: 'born_in', share: 0.25 },
      { relation: '~made_by', share: 0.25 },
    ]);
    expect(splits.valid).toMatchObject({ pathsSeenInTrain: 1, targetsSeenInTrain: 1 });
    expect(splits.test).toMatchObject({
      startsWithoutEdges: 1,
      pathCoverage: 0,
      tripleCoverage: 0,
      pathsSeenInTrain: 0,
      targetsSeenInTrain: 0,
      withinTwoHops: { max: 0 },
    });
  });
});
