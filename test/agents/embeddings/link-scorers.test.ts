import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sidedLinkMetrics } from '../../../src/embedding/scorers.js';
import { trainSettings } from '../../../agents/train-settings.js';
import { openLinkScorer } from '../../../agents/embeddings/link-scorers.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';

const world = tinyLinkWorld();
const { graph, train, valid, known } = world;
const plain = graph.numRelations / 2;
const settings = trainSettings.parse({
  seed: 2,
  transe: { dim: 12, epochs: 30, evalEvery: 10, learningRate: 0.2 },
  bilinear: { dim: 16, epochs: 30, evalEvery: 10, batchSize: 8 },
});

describe.each(['transe', 'bilinear'] as const)('%s', (name) => {
  test('is trained once and then read', async () => {
    const folder = folderWith({});
    const first = await openLinkScorer(name, world, settings, { folder });
    expect(first.reused).toBe(false);
    expect(first.metrics?.n).toBe(4);
    const again = await openLinkScorer(name, world, settings, { folder });
    expect(again.reused).toBe(true);
    expect(again).toEqual({ ...first, reused: true, scorer: expect.anything() as unknown });
    expect(again.scorer.score(3, 1, 4)).toBe(first.scorer.score(3, 1, 4));
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test('is another for another seed, valid or order of train', async () => {
    const folder = folderWith({});
    const reversed = {
      heads: train.heads.slice().reverse(),
      relations: train.relations.slice().reverse(),
      tails: train.tails.slice().reverse(),
    };
    const opened = [
      await openLinkScorer(name, world, settings, { folder }),
      await openLinkScorer(name, world, { ...settings, seed: 3 }, { folder }),
      await openLinkScorer(name, { ...world, valid: world.test }, settings, { folder }),
      await openLinkScorer(name, { ...world, train: reversed }, settings, { folder }),
    ];
    expect(new Set(opened.map(({ file }) => file)).size).toBe(4);
    expect(opened.map(({ reused }) => reused)).toEqual([false, false, false, false]);
  });

  test('answers both directions, with features of each', async () => {
    const { scorer, table } = await openLinkScorer(name, world, settings, { folder: folderWith({}) });
    const { tail, head, both } = sidedLinkMetrics(scorer.ranks(train, known));
    expect(both.n).toBe(2 * train.heads.length);
    expect(both.mrr).toBeCloseTo((tail.mrr + head.mrr) / 2, 12);
    // By chance: 1/16 (1 + 1/2 + … + 1/16) = 0.21.
    expect(Math.min(tail.mrr, head.mrr)).toBeGreaterThan(0.4);
    const scores = new Float64Array(graph.numEntities);
    scorer.scoreTails(train.tails[0]!, train.relations[0]! + plain, scores);
    const [h, r, t] = [train.heads[0]!, train.relations[0]!, train.tails[0]!];
    expect(scorer.score(t, r + plain, h)).toBeCloseTo(scores[h]!, 12);
    expect(table.entities).toHaveLength(graph.numEntities * table.dim);
    expect(table.relations).toHaveLength(graph.numRelations * table.dim);
    const norms = Array.from({ length: graph.numEntities }, (_, e) =>
      Math.hypot(...table.entities.subarray(e * table.dim, (e + 1) * table.dim)),
    );
    expect(norms.reduce((sum, norm) => sum + norm) / norms.length).toBeCloseTo(1, 4);
  });

  test('a stop costs no epoch and no byte of the result', async () => {
    const [whole, broken] = [folderWith({}), folderWith({})];
    const { file } = await openLinkScorer(name, world, settings, { folder: whole });
    const stop = new AbortController();
    let before = 0;
    const progress = (_label: string, total: number, _unit: string, begun = 0) => {
      before = begun;
      return { update: (done: number) => done > total / 2 && stop.abort(), finish() {} };
    };
    const stopped = openLinkScorer(name, world, settings, { folder: broken, progress, signal: stop.signal });
    await expect(stopped).rejects.toThrow('stopped');
    const end = await openLinkScorer(name, world, settings, {
      folder: broken,
      progress: (...args) => ({ ...progress(...args), update() {} }),
    });
    expect(before).toBeGreaterThan(0);
    expect(readFileSync(end.file)).toEqual(readFileSync(file));
    expect(readdirSync(broken)).toEqual(readdirSync(whole).map((entry) => join(entry)));
  });
});

test('a relation that train lacks, and entities of valid alone, are scored without an error', async () => {
  const odd = { heads: Int32Array.of(0), relations: Int32Array.of(3), tails: Int32Array.of(15) };
  const without = train.relations.map((relation) => relation % 3);
  const { metrics } = await openLinkScorer(
    'bilinear',
    { graph, train: { ...train, relations: without }, valid: odd },
    settings,
    { folder: folderWith({}) },
  );
  expect(metrics?.n).toBe(2);
  expect(valid.heads.length).toBe(2);
});
