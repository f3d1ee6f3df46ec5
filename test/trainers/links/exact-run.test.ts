/** Runs of exact walkers. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readIndex } from '../../../checkpoints/store.js';
import { importLinks } from '../../../datasets/links/import-links.js';
import { loadPreset } from '../../../presets/index.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import { hidingOf } from '../../../tasks/links/training-data.js';
import { train } from '../../../tasks/train.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { tinyLinkFiles } from '../../fixtures/tiny-links.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { columnsOf, type Ids, idsOf, numberedGraph } from '../../fixtures/triple-columns.js';

useOwnHome();

const settings = (...overrides: string[]) =>
  loadPreset('link-chains', ['data.dataset=tiny', 'exactWalker.chains.steps=60', ...overrides]);

test('rank better than before training', async () => {
  await importLinks({ name: 'tiny', from: folderWith(tinyLinkFiles) });
  const whole = join(folderWith({}), 'whole');
  await train({ settings: settings(), folder: whole });
  expect(readIndex(whole)).toMatchObject({ last: { phase: 'fit', step: 8 } });
  const records = readMetrics(join(whole, 'metrics.jsonl'));
  const ranks = records.flatMap(({ metrics }) => metrics['eval/mrr'] ?? []);
  expect(ranks).toHaveLength(4);
  // Two citizens of two countries, whose chain is a rule without exception.
  expect(ranks.at(-1)).toBeGreaterThan(ranks[0]!);
  expect(records.every(({ metrics }) => Object.values(metrics).every(Number.isFinite))).toBe(true);
});

test('are refused with what they would not read', async () => {
  await importLinks({ name: 'tiny', from: folderWith(tinyLinkFiles) });
  const folder = join(folderWith({}), 'run');
  const trainWith = (...overrides: string[]) => train({ settings: settings(...overrides), folder });
  await expect(trainWith('ppo.enabled=true', 'ppo.init=scratch', 'ppo.klCoef=0')).rejects.toThrow(
    'expected ppo.enabled=false with a section exactWalker',
  );
  await expect(trainWith('linkWalk.horizon=5')).rejects.toThrow('expected linkWalk.horizon of at most 4');
  await expect(trainWith('linkWalker.width=8')).rejects.toThrow('got linkWalker.width');
});

test('hide the edges between head and answer where valid has none of them, else the own alone', () => {
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
  expect(hidingOf({ graph, train, valid: linked }, 'auto').pairs).toBe(false);
  expect(hidingOf({ graph, train, valid: columnsOf([]) }, 'auto').pairs).toBe(false);
  expect(hidingOf({ graph, train, valid: apart }, 'own').pairs).toBe(false);
  expect(hidingOf({ graph, train, valid: linked }, 'pairs').pairs).toBe(true);
});
