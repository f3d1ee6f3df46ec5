import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { meanEntityNorm } from '../../../src/embedding/transe.js';
import { knownAnswers } from '../../../src/embedding/known-answers.js';
import { linkMetrics, linkRanks } from '../../../src/embedding/rank-links.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import type { TripleColumns } from '../../../src/kg/graph.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { withArrays } from '../../../src/run/shared-memory.js';
import { keepInRun, pretrainEmbeddings, readTable } from '../../../trainers/transe/pretrain.js';
import { type TransESettings, transeSettings } from '../../../trainers/transe/settings.js';
import { trainTransE } from '../../../trainers/transe/train-transe.js';
import type { TransEState } from '../../../trainers/transe/work.js';

/** A grid of 6 by 5: `right` and `down` are translations, so TransE can fit them exactly. */
function gridTriples(): TripleColumns {
  const triples: [number, number, number][] = [];
  for (let x = 0; x < 6; x++) {
    for (let y = 0; y < 5; y++) {
      if (x < 5) triples.push([x * 5 + y, 0, (x + 1) * 5 + y]);
      if (y < 4) triples.push([x * 5 + y, 1, x * 5 + y + 1]);
    }
  }
  const column = (place: 0 | 1 | 2) => Int32Array.from(triples, (triple) => triple[place]);
  return { heads: column(0), relations: column(1), tails: column(2) };
}

const sizes = { numEntities: 30, numRelations: 2 };
const settingsOf = (over: Partial<TransESettings> = {}) =>
  transeSettings.parse({ dim: 16, negatives: 8, epochs: 6, evalEvery: 2, patience: 5, ...over });

describe('training', () => {
  const train = gridTriples();

  test.each([
    { loss: 'self-adversarial', margin: 4 },
    { loss: 'margin', margin: 1 },
    { loss: 'self-adversarial', margin: 2, norm: 2 },
    { loss: 'self-adversarial', margin: 4, batchSize: 8 },
  ] as const)('learns a small world to MRR 1: %o', async (over) => {
    const settings = settingsOf({ ...over, epochs: 300 });
    const { table } = await trainTransE({ ...sizes, train, settings, seed: 1 });
    expect(linkMetrics(linkRanks(table, train, knownAnswers([train]))).mrr).toBe(1);
  });

  test('is the same for the same seed, and another for another', async () => {
    const run = async (seed: number) =>
      (await trainTransE({ ...sizes, train, settings: settingsOf(), seed })).table.entities;
    expect(await run(5)).toEqual(await run(5));
    expect(await run(5)).not.toEqual(await run(6));
  });

  test.each([1, 8])('resumes from any epoch to the same bytes, in batches of %i', async (batchSize) => {
    const options = { ...sizes, train, valid: train, settings: settingsOf({ batchSize }), seed: 2 };
    let kept: TransEState | undefined;
    const whole = await trainTransE({
      ...options,
      onEpoch: ({ epoch }, state) => {
        if (epoch === 3) kept = withArrays(state, (numbers) => numbers.slice());
      },
    });
    expect(kept!.epoch).toBe(3);
    const resumed = await trainTransE({ ...options, resumeFrom: kept! });
    expect(resumed.state).toEqual(whole.state);
    expect(resumed.table).toEqual(whole.table);
  });

  test('B-EMB-1: stops without a gain and returns the best weights', async () => {
    const { state, table, metrics, stopped } = await trainTransE({
      ...sizes,
      train,
      valid: train,
      // Far too long steps: validation does not keep rising.
      settings: settingsOf({ epochs: 400, evalEvery: 1, patience: 3, learningRate: 3, schedule: 'constant' }),
      seed: 1,
    });
    expect(stopped).toBe(false);
    expect(state.epoch).toBe(state.best!.epoch + 3);
    expect(linkMetrics(linkRanks(table, train, knownAnswers([train])))).toEqual(metrics);
  });

  test('reports a falling loss and a falling learning rate', async () => {
    const losses: number[] = [];
    const rates: number[] = [];
    await trainTransE({
      ...sizes,
      train,
      settings: settingsOf({ epochs: 40 }),
      seed: 1,
      onEpoch: ({ loss, learningRate }) => {
        losses.push(loss);
        rates.push(learningRate);
      },
    });
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 2);
    expect(rates[0]).toBe(0.1);
    expect(rates.at(-1)!).toBeCloseTo(0.1 / 40);
  });
});

describe('pretraining a graph', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kgwalk-transe-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const { heads, relations, tails } = gridTriples();
  const builder = new GraphBuilder();
  const names = ['right', 'down'];
  heads.forEach((head, i) => {
    builder.add(`e${head}`, names[relations[i]!]!, `e${tails[i]}`);
    builder.add(`e${tails[i]}`, `~${names[relations[i]!]}`, `e${head}`);
  });
  const graph = builder.build('grid');
  const options = () => ({ settings: settingsOf({ validShare: 0.1 }), seed: 1, folder });

  test('keeps a normalised table with inverses, and reuses it with equal content', async () => {
    const first = await pretrainEmbeddings(graph, options());
    expect(first.reused).toBe(false);
    expect(meanEntityNorm(first.table)).toBeCloseTo(1, 5);
    expect(first.history.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(first.history[1]!.metrics['eval/mrr']).toBeGreaterThan(0);
    const [right, left] = [graph.relationId('right'), graph.relationId('~right')];
    const row = (relation: number) => [...first.table.relations.subarray(relation * 16, relation * 16 + 16)];
    expect(row(left)).toEqual(row(right).map((value) => -value));
    const again = await pretrainEmbeddings(graph, options());
    expect(again).toEqual({ ...first, reused: true });
    keepInRun(again, { graph, ...options() }, join(folder, 'run'));
    expect(readFileSync(join(folder, 'run', 'transe.safetensors'))).toEqual(readFileSync(first.file));
  });

  test('other settings, seeds and exclusions get separate tables', async () => {
    const base = options();
    const files = [
      await pretrainEmbeddings(graph, base),
      await pretrainEmbeddings(graph, { ...base, seed: 2 }),
      await pretrainEmbeddings(graph, { ...base, settings: { ...base.settings, margin: 3 } }),
      await pretrainEmbeddings(graph, { ...base, settings: { ...base.settings, validShare: 0 } }),
    ].map(({ file }) => file);
    expect(new Set(files).size).toBe(4);
  });

  test('stopped after an epoch, it resumes to the same bytes', async () => {
    const whole = await pretrainEmbeddings(graph, options());
    const bytes = readFileSync(whole.file);
    rmSync(whole.file);
    const stop = AbortSignal.abort(new WorkbenchError('stopped', 'stopped by the user'));
    await expect(pretrainEmbeddings(graph, { ...options(), signal: stop })).rejects.toThrow('stopped by the user');
    expect(readdirSync(folder)).toEqual([expect.stringContaining('unfinished')]);
    const controller = new AbortController();
    const progress = () => ({
      update: (done: number) => void (done > 100 && controller.abort(new WorkbenchError('stopped', 'later'))),
      finish() {},
    });
    await expect(pretrainEmbeddings(graph, { ...options(), progress, signal: controller.signal })).rejects.toThrow(
      'later',
    );
    const finished = await pretrainEmbeddings(graph, options());
    expect(readFileSync(finished.file)).toEqual(bytes);
    expect(readdirSync(folder).length).toBe(1);
  });

  test('a table of another graph is refused, a damaged one trained again', async () => {
    const { file } = await pretrainEmbeddings(graph, options());
    const other = new GraphBuilder();
    other.add('a', 'b', 'c');
    expect(() => readTable(file, other.build('other'))).toThrow(/expected a checkpoint of graph/);
    const bytes = readFileSync(file);
    const { writeFileAtomic } = await import('../../../src/run/files.js');
    writeFileAtomic(file, bytes.subarray(0, 100));
    expect((await pretrainEmbeddings(graph, options())).reused).toBe(false);
    expect(readFileSync(file)).toEqual(bytes);
  });
});
