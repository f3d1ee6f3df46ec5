import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { paperTables, printedKs, printedModels, printedSystems } from '../../reports/llm-ark.js';
import { writeReport } from '../../reports/report.js';
import { collectResults } from '../../reports/results.js';
import { loadRunData, subjectsOf } from '../../reports/run-data.js';
import { openRun } from '../../src/run/run-folder.js';
import { useBlankPictures } from '../fixtures/blank-pictures.js';
import { madeUpArkEvaluation, madeUpEvaluation, writeMadeUpRun } from '../fixtures/made-up-runs.js';

useBlankPictures();
const walker = { head: 'pa-mlp', placeVectors: false };
const arkSettings = {
  data: { dataset: 'opendialkg', graph: 'dialogue' },
  encoder: { model: 'models/small.gguf' },
  stateText: { encode: 'per-step', template: 'normal' },
  walker: { ...walker, precision: 'bf16', entityInit: 'frozen', pathAware: true },
  ppo: { enabled: true },
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-ark-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Given {
  name: string;
  seed?: number;
  settings?: Record<string, unknown>;
  path1?: number;
  ark?: boolean;
}

function run({ name, seed = 1, settings = {}, path1 = 0.2, ark = false }: Given): string {
  const evaluation = ark ? madeUpArkEvaluation : madeUpEvaluation;
  const place = join(folder, `${name}-s${seed}`);
  writeMadeUpRun(place, {
    config: { name, seed, ...arkSettings, ...settings },
    evaluations: [
      evaluation(name, path1, { checkpoint: 'best' }),
      evaluation(name, 0.5, { checkpoint: 'last' }),
      evaluation(name, 0.5, { checkpoint: 'best', twoHopBonus: 0.6 }),
    ],
  });
  return place;
}

function resultsOf(places: readonly string[]) {
  const runs = places.map((place) => loadRunData(openRun(place, folder)));
  const subjects = subjectsOf(runs);
  const evaluations = runs.flatMap((one) => one.evaluations);
  return { sets: collectResults(evaluations, subjects), subjects };
}

function tablesOf(places: readonly string[]) {
  const { sets, subjects } = resultsOf(places);
  const [first, second] = paperTables(sets[0]!, subjects);
  const lines = (part: typeof first) => part?.table?.rows.map(({ cells }) => cells.map(({ text }) => text));
  return { first, systems: lines(first), ablations: lines(second) };
}

/** The first two columns: who, and how it was counted. */
const names = (lines: string[][] | undefined) => lines?.map(([name, counted]) => `${name}, ${counted}`);

describe('the tables of the paper', () => {
  test('hold what is printed: twelve systems, five models, ten figures each', () => {
    for (const { path, target } of [...printedSystems, ...Object.values(printedModels)]) {
      expect([path.length, target.length]).toEqual([printedKs.length, printedKs.length]);
      for (const figures of [path, target]) {
        const values = figures.filter((text) => text !== '').map(Number);
        expect(values.every((value) => value >= 0 && value <= 100)).toBe(true);
        expect(values).toEqual(values.toSorted((a, b) => a - b));
      }
    }
    expect(printedSystems.at(-1)).toBe(printedModels.full);
    // What the paper says of its figures in words.
    const [ark, hitkg] = ['LLaMA-2-7B-ARK', 'HiTKG'].map((name) =>
      printedSystems.find(({ system }) => system === name)!,
    );
    expect(Number(ark!.target[0]) - Number(hitkg!.target[0])).toBeCloseTo(5.28);
    expect(Number(printedModels.full.path[0]) - Number(printedModels.WP.path[0])).toBeCloseTo(15.61);
  });

  test('have no place on pages of other walkers', () => {
    const plain = run({ name: 'plain', settings: { walker: { head: 'pa-mlp', placeVectors: true } } });
    const candidate = run({ name: 'llm-ark-2024', settings: { walker: { head: 'candidate' } } });
    expect(tablesOf([plain, candidate]).first).toBeUndefined();
  });

  test('place a run by its settings, not by its name', () => {
    const of = (part: Record<string, unknown>) => ({ walker: { ...arkSettings.walker, ...part } });
    const { systems, ablations } = tablesOf([
      run({ name: 'a' }),
      run({ name: 'b', settings: of({ precision: 'f32' }) }),
      run({
        name: 'c',
        settings: { ...of({ precision: 'f32' }), stateText: { encode: 'per-step', template: 'none' } },
      }),
      run({ name: 'd', settings: of({ entityInit: 'random-trainable' }) }),
      run({ name: 'WT', settings: of({ pathAware: false }) }),
      run({ name: 'f', settings: of({ pathAware: false, entityInit: 'random-trainable' }) }),
      run({ name: 'other', settings: { walker: { head: 'candidate' } } }),
    ]);
    expect(names(systems)!.slice(printedSystems.length)).toEqual(['a, strict', 'b, strict']);
    expect(names(ablations)).toEqual([
      'LLaMA-2-7B-ARK, paper',
      'a, strict',
      'LLaMA-2-7B-ARK-UI, paper',
      'c, strict',
      'LLaMA-2-7B-ARK-FP32, paper',
      'b, strict',
      'LLaMA-2-7B-ARK-WT, paper',
      'd, strict',
      'LLaMA-2-7B-ARK-WP, paper',
      'WT, strict',
      'f, strict',
    ]);
  });

  test('show the best checkpoint under its own ranking, each way of counting on a separate line', () => {
    const { first, systems } = tablesOf([run({ name: 'a', ark: true, path1: 0.2 })]);
    const [strict, ark, lastHop] = systems!.slice(printedSystems.length);
    expect([strict![1], ark![1], lastHop![1]]).toEqual(['strict', 'ark', 'ark, path’s end']);
    expect([strict![2], strict![7]]).toEqual(['20.0', '22.4']);
    expect([ark![2], ark![7]]).toEqual(['10.0', '61.0']);
    expect([lastHop![2], lastHop![7]]).toEqual(['', '51.0']);
    expect(first!.caption).not.toContain('--count ark adds');
  });

  test('never average over seeds that were counted differently', () => {
    const { first, systems } = tablesOf([run({ name: 'a', ark: true }), run({ name: 'a', seed: 2, path1: 0.3 })]);
    expect(systems!.slice(printedSystems.length).map((line) => line.slice(0, 3))).toEqual([
      ['a', 'strict', '30.0'],
      ['a', 'strict', '20.0'],
      ['a', 'ark', '10.0'],
      ['a', 'ark, path’s end', ''],
    ]);
    expect(first!.caption).toContain('--count ark adds');
  });

  test('do not count a baseline twice because one of its evaluations was counted in both ways', () => {
    const places = [true, false].map((ark, i) => {
      const place = join(folder, `with-${ark}`);
      const evaluation = ark ? madeUpArkEvaluation : madeUpEvaluation;
      writeMadeUpRun(place, {
        config: { name: 'a', seed: i, ...arkSettings },
        evaluations: [evaluation('frequency', 0.2), evaluation('a', 0.2, { checkpoint: 'best' })],
      });
      return place;
    });
    const baseline = resultsOf(places).sets[0]!.rows.find(({ own }) => !own)!;
    expect([baseline.seeds, baseline.metrics['path@1']!.deviation]).toEqual([1, undefined]);
  });

  test('say which edges a walker may walk, and warn where dialogues of test chose some', async () => {
    const edges = { policy: 'ark', maxOut: 50, entitiesCut: 234, edges: 173128, kept: 150000 };
    const pageOf = async (brought: Record<string, number>) => {
      const place = join(folder, `edges-${Object.keys(brought).join('-')}`);
      const evaluation = madeUpArkEvaluation('a', 0.2, {
        checkpoint: 'best',
        bounds: { 'path@1': 0.92 },
        details: { coverage: { goldWalkable: 0.926 }, edges: { ...edges, brought } },
      });
      writeMadeUpRun(place, { config: { name: 'a', seed: 1, ...arkSettings }, evaluations: [evaluation] });
      const { page } = await writeReport([openRun(place, folder)], { to: join(place, 'out') });
      return readFileSync(page, 'utf8');
    };
    const [honest, leaking] = [await pageOf({ train: 30 }), await pageOf({ train: 30, test: 1 })];
    expect(honest.match(/edges ark, 50 actions, 92\.6 % of golds left/g)!.length).toBeGreaterThanOrEqual(2);
    expect(honest).toContain('walks reach at most 92.0');
    expect(honest).not.toContain('chose edges of');
    expect(leaking).toContain('Dialogues of valid and test chose edges of PPO (best)');
  });

  test('stand on the page, with their source and what forbids the comparison', async () => {
    const place = run({ name: 'a', ark: true });
    const { page } = await writeReport([openRun(place, folder)], { to: join(folder, 'out') });
    const html = readFileSync(page, 'utf8');
    for (const text of [
      'LLM-ARK, table 1',
      'LLM-ARK, table 2',
      'HiTKG',
      '36.39',
      'Conversational Reasoning on Knowledge',
    ])
      expect(html).toContain(text);
    expect(html.match(/do not compare across the line/g)).toHaveLength(1);
  });
});
