import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { pretrainEmbeddings } from '../../../trainers/transe/pretrain.js';
import { transeSettings } from '../../../trainers/transe/settings.js';
import type { ProgressReporter } from '../../../src/run/progress.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { filmGraph } from '../../fixtures/toy-questions.js';

const graph = filmGraph();
const settings = transeSettings.parse({ dim: 8, epochs: 10, evalEvery: 3, validShare: 0.2, patience: 9 });

/** Stops abruptly after a number of triples; records the number done before it began. */
function dyingAt(triples: number) {
  const seen = { before: -1, count: 0 };
  const progress: ProgressReporter = (_label, total, _unit, before = 0) => {
    Object.assign(seen, { before, count: total / settings.epochs });
    return {
      update(done) {
        if (done > triples) throw new Error('killed');
      },
      finish() {},
    };
  };
  return { seen, progress };
}

test('a kill costs the epochs since the last validation, and nothing of the result', async () => {
  const [whole, broken] = [folderWith({}), folderWith({})];
  const options = { settings, seed: 3 };
  const { file, reused } = await pretrainEmbeddings(graph, { ...options, folder: whole });
  expect(reused).toBe(false);
  const { seen, progress } = dyingAt(Infinity);
  await pretrainEmbeddings(graph, { ...options, folder: folderWith({}), progress });
  const { count } = seen;
  // After four epochs three are kept, after eight six.
  for (const [epoch, from] of [
    [4, 0],
    [8, 3],
    [9, 6],
  ] as const) {
    const dying = dyingAt(epoch * count - 1);
    const killed = pretrainEmbeddings(graph, { ...options, folder: broken, progress: dying.progress });
    await expect(killed).rejects.toThrow('killed');
    expect(dying.seen.before).toBe(from * count);
  }
  writeFileSync(join(broken, `.${readdirSync(broken)[0]}.99999999.1.tmp`), 'half');
  const end = await pretrainEmbeddings(graph, { ...options, folder: broken });
  expect(readFileSync(end.file)).toEqual(readFileSync(file));
  expect(readdirSync(broken)).toEqual(readdirSync(whole));
});

test('runs that begin together train a table once: the others wait for it, also where the first is killed', async () => {
  const folder = folderWith({});
  const options = { settings, seed: 3, folder };
  const { file } = await pretrainEmbeddings(graph, { ...options, folder: folderWith({}) });
  const dying = pretrainEmbeddings(graph, { ...options, progress: dyingAt(0).progress });
  const [first, ...others] = await Promise.allSettled([
    dying,
    ...[1, 2, 3].map(() => pretrainEmbeddings(graph, options)),
  ]);
  expect(first).toMatchObject({ status: 'rejected', reason: { message: 'killed' } });
  const reused = others.map((one) => (one.status === 'fulfilled' ? one.value.reused : one.reason));
  expect(reused.sort()).toEqual([false, true, true]);
  expect(readdirSync(folder)).toHaveLength(1);
  expect(readFileSync(join(folder, readdirSync(folder)[0]!))).toEqual(readFileSync(file));
});
