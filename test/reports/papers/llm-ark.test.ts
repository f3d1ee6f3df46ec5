import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { llmArk } from '../../../reports/papers/llm-ark.js';
import { paperViews } from '../../../reports/papers/table.js';
import { writeReport } from '../../../reports/report.js';
import { collectResults } from '../../../reports/results.js';
import { loadRunData, subjectsOf } from '../../../reports/run-data.js';
import { openRun } from '../../../src/run/run-folder.js';
import { useBlankPictures } from '../../fixtures/blank-pictures.js';
import { madeUpArkEvaluation, madeUpEvaluation, writeMadeUpRun } from '../../fixtures/made-up-runs.js';

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
  const evaluations = runs.flatMap((one) => one.evaluations);
  return collectResults(evaluations, subjectsOf(runs));
}

function tablesOf(places: readonly string[]) {
  const [first, second] = paperViews(llmArk, resultsOf(places))[0]?.parts ?? [];
  const lines = (part: typeof first) => part?.table?.rows.map(({ cells }) => cells.map(({ text }) => text));
  return { first, systems: lines(first), ablations: lines(second) };
}

/** Lines of a table that are ours. */
const oursOf = (lines: string[][] | undefined) => lines!.filter(([, counted]) => counted !== 'paper');

/** The first two columns: who, and how it was counted. */
const names = (lines: string[][] | undefined) => lines?.map(([name, counted]) => `${name}, ${counted}`);

describe('the tables of the paper', () => {
  test('hold what is printed: twelve systems, five models, ten figures each', () => {
    const [systems, models] = llmArk.tables.map(
      ({ rows }) => new Map(rows.flatMap((row) => Object.entries(row.printed))),
    );
    expect([systems!.size, models!.size]).toEqual([12, 5]);
    const valuesOf = (texts: string) => texts.split(' ').map((text) => (text === '-' ? NaN : Number(text)));
    for (const texts of [...systems!.values(), ...models!.values()]) {
      const values = valuesOf(texts);
      expect(values).toHaveLength(10);
      for (const part of [values.slice(0, 5), values.slice(5)].map((all) => all.filter((one) => !Number.isNaN(one)))) {
        expect(part.every((value) => value >= 0 && value <= 100)).toBe(true);
        expect(part).toEqual(part.toSorted((a, b) => a - b));
      }
    }
    // What the paper says of its figures in words.
    const ark = valuesOf(systems!.get('LLaMA-2-7B-ARK')!);
    expect(ark[5]! - valuesOf(systems!.get('HiTKG')!)[5]!).toBeCloseTo(5.28);
    expect(ark[0]! - valuesOf(models!.get('LLaMA-2-7B-ARK-WP')!)[0]!).toBeCloseTo(15.61);
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
    expect(names(oursOf(systems))).toEqual(['PPO (best; a), strict', 'PPO (best; b), strict']);
    expect(names(ablations)).toEqual([
      'LLaMA-2-7B-ARK, paper',
      'PPO (best; a), strict',
      'LLaMA-2-7B-ARK-UI, paper',
      'PPO (best; c), strict',
      'LLaMA-2-7B-ARK-FP32, paper',
      'PPO (best; b), strict',
      'LLaMA-2-7B-ARK-WT, paper',
      'PPO (best; d), strict',
      'LLaMA-2-7B-ARK-WP, paper',
      'PPO (best; WT), strict',
      'PPO (best; f), strict',
    ]);
  });

  test('have a row for each head without features of edges, and for each prompt', () => {
    const head = (name: string, more = {}) => ({ walker: { head: name, edgeFeatures: false, ...more } });
    const place = join(folder, 'prompts');
    writeMadeUpRun(place, {
      config: { name: 'seq', seed: 1, ...arkSettings, ...head('seq2seq') },
      evaluations: [
        madeUpEvaluation('seq', 0.2, { checkpoint: 'best' }),
        madeUpEvaluation('ark-opa', 0.1, { model: 'small.gguf' }),
        madeUpEvaluation('ark-normal', 0.1, { model: 'small.gguf', switches: { any: 1 } }),
        madeUpEvaluation('ark-standard', 0.1, { model: 'small.gguf', dataset: 'demo' }),
      ],
    });
    const flow = run({ name: 'flow', settings: head('attn-flow') });
    const helped = run({ name: 'helped', settings: head('attn-io', { edgeFeatures: true }) });
    const { systems, ablations } = tablesOf([place, flow, helped]);
    const found = names(systems)!;
    const after = (system: string) => found[found.indexOf(`${system}, paper`) + 1];
    expect([after('Seq2Seq'), after('AttnFlow'), after('GPT-4-OPA')]).toEqual([
      'PPO (best; prompts), strict',
      'PPO (best; flow), strict',
      'ark-opa, strict',
    ]);
    expect(oursOf(systems)).toHaveLength(3);
    expect(ablations).toBeUndefined();
  });

  test('show the best checkpoint under its own ranking, each way of counting on a separate line', () => {
    const { first, systems } = tablesOf([run({ name: 'a', ark: true, path1: 0.2 })]);
    const [strict, ark, lastHop] = oursOf(systems);
    expect([strict![1], ark![1], lastHop![1]]).toEqual(['strict', 'ark', 'ark, path’s end']);
    expect([strict![2], strict![7]]).toEqual(['20.0', '22.4']);
    expect([ark![2], ark![7]]).toEqual(['10.0', '61.0']);
    expect([lastHop![2], lastHop![7]]).toEqual(['', '51.0']);
    expect(first!.caption).not.toContain('--count ark adds');
  });

  test('never average over seeds that were counted differently', () => {
    const { first, systems } = tablesOf([run({ name: 'a', ark: true }), run({ name: 'a', seed: 2, path1: 0.3 })]);
    expect(oursOf(systems).map((line) => line.slice(1, 3))).toEqual([
      ['strict', '30.0'],
      ['strict', '20.0'],
      ['ark', '10.0'],
      ['ark, path’s end', ''],
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
    const baseline = resultsOf(places)[0]!.rows.find(({ own }) => !own)!;
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
