/** Runs on link queries: exact walkers over chains, and walkers that clone the walks of one. */
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { readIndex } from '../../../checkpoints/store.js';
import { importLinks } from '../../../datasets/links/import-links.js';
import { loadPreset } from '../../../presets/index.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import { hidingOf, openLinkTraining, unlinked } from '../../../agents/link-training.js';
import { train } from '../../../tasks/train.js';
import { useSharedHome } from '../../fixtures/own-home.js';
import { importTinyLinks, tinyLinkSettings } from '../../fixtures/tiny-link-training.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { runHashes } from '../../fixtures/tiny-training.js';
import { columnsOf, type Ids, idsOf, numberedGraph } from '../../fixtures/triple-columns.js';

const home = useSharedHome(importTinyLinks);

const exact = (...overrides: string[]) =>
  loadPreset('link-chains', ['data.dataset=tiny', 'exactWalker.chains.steps=60', ...overrides]);
const cloned = (...overrides: string[]) =>
  tinyLinkSettings('demonstrations.paths=2', 'clone.epochs=2', 'ppo.enabled=false', ...overrides);

let chains: string;
beforeAll(async () => {
  chains = join(home(), 'chains');
  await train({ settings: exact(), folder: chains });
});

test('an exact walker ranks better than before training', () => {
  expect(readIndex(chains)).toMatchObject({ last: { phase: 'fit', step: 8 } });
  const records = readMetrics(join(chains, 'metrics.jsonl'));
  const ranks = records.flatMap(({ metrics }) => metrics['eval/mrr'] ?? []);
  expect(ranks).toHaveLength(4);
  // Two citizens of two countries, whose chain is a rule without exception.
  expect(ranks.at(-1)).toBeGreaterThan(ranks[0]!);
  expect(records.every(({ metrics }) => Object.values(metrics).every(Number.isFinite))).toBe(true);
});

test.each([
  [['ppo.enabled=true', 'ppo.init=scratch', 'ppo.klCoef=0'], 'expected ppo.enabled=false with a section exactWalker'],
  [['linkWalk.horizon=5'], 'expected linkWalk.horizon of at most 4'],
  [['linkWalker.width=8'], 'got linkWalker.width'],
])('an exact walker is refused with %j, which it would not read', async (overrides, message) => {
  const training = train({ settings: exact(...overrides), folder: join(home(), 'refused') });
  await expect(training).rejects.toThrow(message);
});

test('a walker clones the walks that an exact walker owes its answers to, and is refused without one', async () => {
  const [own, shortest] = ['own', 'shortest'].map((name) => join(home(), name));
  await train({ settings: cloned(`demonstrations.teacher=${chains}`), folder: own! });
  await train({ settings: cloned(), folder: shortest! });
  expect(runHashes(own!)).not.toEqual(runHashes(shortest!));
  const refused = (teacher: string) =>
    train({ settings: cloned(`demonstrations.teacher=${teacher}`), folder: join(home(), 'refused') });
  await expect(refused('nobody')).rejects.toMatchObject({
    ...{ code: 'data', message: expect.stringContaining('got none, nobody, at demonstrations.teacher') },
  });
  await expect(refused(own!)).rejects.toThrow('expected a run of an exact walker over chains of tiny, got another run');
});

test('a walker is refused where no answer is within the horizon', async () => {
  const far = { 'train.txt': 'a\tto\tb\nb\tto\tc\n', 'valid.txt': 'a\tfrom\tc\n', 'test.txt': 'a\tfrom\tb\n' };
  await importLinks({ name: 'far', from: folderWith(far) });
  const training = train({ settings: cloned('data.dataset=far'), folder: join(home(), 'refused') });
  await expect(training).rejects.toThrow(/expected answers within 3 steps .* got none among 4 queries of train/);
});

test('hidden are the edges between head and answer where valid has none of them, else the own alone', () => {
  // 0 and 1 are linked twice, 2 and 3 in both directions, 4 with itself, the rest once.
  const rows = idsOf('0 0 1, 0 1 1, 2 0 3, 3 1 2, 4 0 4, 5 0 6, 5 0 7, 5 0 8, 5 0 9, 5 0 10');
  const both = [...rows, ...rows.map(([head, relation, tail]): Ids => [tail, relation + 2, head])];
  const graph = numberedGraph(11, ['r', 's', '~r', '~s'], both);
  const train = columnsOf(rows);
  const [apart, linked] = [columnsOf(idsOf('6 0 7, 7 0 8')), columnsOf(idsOf('6 0 7, 5 1 6'))];
  expect(hidingOf({ graph, train, valid: apart }, 'auto')).toMatchObject({
    pairs: true,
    note: expect.stringContaining('have 40.0 % of train and 0.0 % of valid'),
  });
  const hidden = [
    hidingOf({ graph, train, valid: linked }, 'auto'),
    hidingOf({ graph, train, valid: columnsOf([]) }, 'auto'),
    hidingOf({ graph, train, valid: apart }, 'own'),
    hidingOf({ graph, train, valid: linked }, 'pairs'),
  ];
  expect(hidden.map(({ pairs }) => pairs)).toEqual([false, false, false, true]);
  expect([...unlinked(graph, train)]).toEqual([4, 5, 6, 7, 8, 9]);
});

test('where pairs are hidden, training may ask of unlinked ones alone', async () => {
  const files = {
    'train.txt': 'a\tx\tb\na\ty\tb\nb\tx\tc\nc\ty\td\n',
    'valid.txt': 'd\ty\ta\n',
    'test.txt': 'a\ty\td\n',
  };
  await importLinks({ from: folderWith(files), name: 'parallel' });
  const opened = async (...overrides: string[]) => {
    const settings = exact('data.dataset=parallel', 'linkWalk.hide=pairs', ...overrides);
    const { dataset, queries, notes } = await openLinkTraining(settings);
    return { asked: queries.heads.length / 2, alone: unlinked(dataset.graph, dataset.train).length, notes };
  };
  const [some, all] = [await opened(), await opened('linkWalk.queries=all')];
  expect([some.asked, some.alone, all.asked]).toEqual([2, 2, 4]);
  const note = `asked in training: the ${some.alone} triples of train whose two entities no other edge links`;
  expect([some.notes.includes(note), all.notes.includes(note)]).toEqual([true, false]);
});
