import { expect, test } from '@jest/globals';
import type { Dialogue } from '../../datasets/dialogue.js';
import { emptyCounts, parseMessages } from '../../datasets/opendialkg/read-dialogues.js';
import { splitSamples, walkSamples } from '../../datasets/walk-sample.js';
import { dataSettings } from '../../datasets/settings.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { Rng } from '../../src/run/seeds.js';
import { longDialogue, shortDialogue, tripleLines } from '../fixtures/tiny-release.js';

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
