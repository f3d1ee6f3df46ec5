import { beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { type DialogueDataset, loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { samplesOfFile } from '../../datasets/opendialkg/read-dialogues.js';
import { dialogueStatistics } from '../../datasets/dialogues/dialogue-statistics.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import { folderWith } from '../fixtures/tiny-release.js';

const shared = env.KGWALK_TEST_DATA;
if (!shared)
  stderr.write('skipped: OpenDialKG itself (set KGWALK_TEST_DATA to the folder that holds data/opendialkg)\n');

(shared ? describe : describe.skip)('OpenDialKG itself', () => {
  const from = join(shared ?? '', 'data', 'opendialkg');
  let dataset: DialogueDataset;

  beforeAll(async () => {
    const home = folderWith({});
    await importOpenDialKg({ from, home });
    dataset = loadDialogueDataset('opendialkg', { home });
  });

  test('has the known counts, and every dropped item is accounted for', () => {
    const { splits, leftOut, graphs } = dataset.manifest;
    expect([splits.train, splits.valid, splits.test].map(({ dialogues }) => dialogues)).toEqual([9097, 1027, 1043]);
    expect([splits.train, splits.valid, splits.test].map(({ paths }) => paths)).toEqual([20452, 2127, 2085]);
    const dropped = { 'blank field': 0, 'not contiguous': 0, 'empty path': 0, 'malformed path': 0 };
    expect(leftOut).toEqual({
      'train.csv': { paths: { ...dropped, 'blank field': 15 }, otherActions: 0 },
      'valid.csv': { paths: dropped, otherActions: 382 },
      'test.csv': { paths: { ...dropped, 'blank field': 2 }, otherActions: 383 },
    });
    expect(graphs.dialogue).toMatchObject({ entities: 10033, relations: 570, triples: 173128, blankLines: 0 });
    expect(graphs.dialogue!.note).toMatch(/entity-level counts leak/);
    expect(graphs.wide).toMatchObject({ triples: 546134, blankLines: 38 });
    expect(graphs.wide!.note).not.toMatch(/restricted/);
  });

  test('gives the known samples, misses included', async () => {
    const graph = await dataset.loadGraph();
    const counts = (['train', 'valid', 'test'] as const).map((split) => {
      const dialogues = dataset.loadDialogues(split);
      const samples = walkSamples(dialogues, graph);
      return {
        assistant: walkSamples(dialogues, graph, { turns: 'assistant' }).length,
        notInGraph: samples.filter(({ gold }) => !gold.inGraph).length,
        noEdges: samples.filter(({ task }) => graph.degree(task.start) === 0).length,
        nothingAfter: dialogues.flatMap(({ messages, paths }) =>
          paths.filter(({ position }) => position === messages.length),
        ).length,
      };
    });
    expect(counts).toMatchObject([
      { assistant: 13290, notInGraph: 73, noEdges: 28 },
      { assistant: 1373, notInGraph: 2, noEdges: 0, nothingAfter: 9 },
      { assistant: 1379, notInGraph: 9, noEdges: 5, nothingAfter: 9 },
    ]);
  });

  test('reads a split from its CSV exactly as imported', async () => {
    const graph = await dataset.loadGraph();
    const { samples } = await samplesOfFile(join(from, 'test.csv'), graph);
    const imported = walkSamples(dataset.loadDialogues('test'), graph);
    expect(JSON.stringify(samples) === JSON.stringify(imported)).toBe(true);
  });

  test('has the known difficulty on both graphs', async () => {
    const { splits } = await dialogueStatistics(dataset);
    expect(splits.test.startDegree.mean).toBeCloseTo(42.9, 1);
    expect(splits.test.targetsSeenInTrain).toBeCloseTo(1704 / 2085, 6);
    expect(splits.valid.byHops).toEqual({ 1: 1528, 2: 599 });
    const wide = await dialogueStatistics(dataset, 'wide');
    expect(wide.splits.valid.startDegree).toMatchObject({ mean: expect.closeTo(71.9, 1), median: 19 });
    expect(wide.splits.test.startDegree).toMatchObject({ mean: expect.closeTo(68.8, 1), median: 22 });
  });
});
