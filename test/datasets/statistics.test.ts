import { expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { dialogueStatistics } from '../../datasets/dialogues/dialogue-statistics.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';

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
