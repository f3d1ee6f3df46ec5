import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { machine } from '../../../../src/run/files.js';
import { meanEntityNorm } from '../../../../src/embedding/transe.js';
import { GraphBuilder } from '../../../../src/kg/build-graph.js';
import { keepInRun, pretrainEmbeddings, readTable } from '../../../../agents/embeddings/transe/pretrain.js';
import { transeSettings } from '../../../../agents/embeddings/transe/settings.js';
import type { ProgressReporter } from '../../../../src/run/progress.js';
import { folderWith } from '../../../fixtures/tiny-release.js';
import { filmGraph } from '../../../fixtures/toy-questions.js';

const graph = filmGraph();
const settings = transeSettings.parse({ dim: 8, epochs: 10, evalEvery: 3, validShare: 0.2, patience: 9 });

test('keeps a normalised table with inverses, and reuses it with equal content', async () => {
  const options = { settings, seed: 3, folder: folderWith({}) };
  const first = await pretrainEmbeddings(graph, options);
  expect(first.reused).toBe(false);
  expect(meanEntityNorm(first.table)).toBeCloseTo(1, 5);
  expect(first.history.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(first.history[2]!.metrics['eval/mrr']).toBeGreaterThan(0);
  const row = (name: string) => [...first.table.relations.slice(8 * graph.relationId(name))].slice(0, 8);
  expect(row('~year')).toEqual(row('year').map((value) => -value));
  const again = await pretrainEmbeddings(graph, options);
  expect(again).toEqual({ ...first, reused: true });
  const run = folderWith({});
  keepInRun(again, { graph, ...options }, run);
  expect(readFileSync(join(run, 'transe.safetensors'))).toEqual(readFileSync(first.file));
});

test('other settings and seeds get separate tables', async () => {
  const options = { settings, seed: 3, folder: folderWith({}) };
  const changes = [
    {},
    { seed: 2 },
    { settings: { ...settings, margin: 3 } },
    { settings: { ...settings, validShare: 0 } },
  ];
  for (const change of changes) await pretrainEmbeddings(graph, { ...options, ...change });
  expect(readdirSync(options.folder)).toHaveLength(4);
});

test('a table of another graph is refused, a damaged one trained again', async () => {
  const options = { settings, seed: 3, folder: folderWith({}) };
  const { file } = await pretrainEmbeddings(graph, options);
  const other = new GraphBuilder();
  other.add('a', 'b', 'c');
  expect(() => readTable(file, other.build('other'))).toThrow(/expected a checkpoint of graph/);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.subarray(0, 100));
  expect((await pretrainEmbeddings(graph, options)).reused).toBe(false);
  expect(readFileSync(file)).toEqual(bytes);
});

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
  const { file } = await pretrainEmbeddings(graph, { ...options, folder: whole });
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
  writeFileSync(join(broken, `.${readdirSync(broken)[0]}.99999999@${machine}.1.tmp`), 'half');
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
