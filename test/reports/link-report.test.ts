import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { writeReport } from '../../reports/report.js';
import { subjectsOf, type RunData } from '../../reports/run-data.js';
import { compareSettings, settingTable } from '../../reports/settings.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import type { RunInfo } from '../../src/run/records.js';
import { openRun } from '../../src/run/run-folder.js';
import { useBlankPictures } from '../fixtures/blank-pictures.js';
import { madeUpLinkConfig, madeUpLinkEvaluation, madeUpLinkTraining } from '../fixtures/made-up-links.js';
import type { LinePlot } from '../../reports/plots/plot.js';
import { takenApart } from '../fixtures/report-page.js';
import { writeMadeUpRecord, writeMadeUpRun } from '../fixtures/made-up-runs.js';

useBlankPictures();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-links-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(
  id: string,
  config: Record<string, unknown>,
  logged: Partial<Pick<RunData, 'metrics' | 'timings'>> = {},
): RunData {
  const info = { id, config } as RunInfo;
  return { info, metrics: [], timings: [], evaluations: [], ...logged };
}

const groupsOf = (runs: RunData[]) => ({
  groups: subjectsOf(runs)[0]!.groups,
  figures: madeUpLinkEvaluation('walker', 0.5).figures,
});

const walker = (mrr: number, more: Partial<EvaluationRecord> = {}) =>
  madeUpLinkEvaluation('walker', mrr, { checkpoint: 'best', ...more });

describe('settings of runs', () => {
  const trained = (algorithm: string, seed: number, training: Parameters<typeof madeUpLinkTraining>[1]) =>
    run(`${algorithm}${seed}`, madeUpLinkConfig(seed, { algorithm }), madeUpLinkTraining(seed, training));

  test('are compared at the environment steps that all took, with intervals over seeds', () => {
    const groups = groupsOf([
      ...[1, 2, 3].map((seed) => trained('ppo', seed, { updates: 60 })),
      ...[1, 2, 3].map((seed) => trained('reinforce', seed, { updates: 30 })),
    ]);
    const { figure, rows, equalSteps, threshold } = compareSettings(groups)!;
    expect(equalSteps).toBe(30 * 5120);
    // Both learn alike: at equal steps they are equal, at the end the longer one is ahead.
    expect(rows[0]!.atEqualSteps).toEqual(rows[1]!.atEqualSteps);
    expect(rows[0]!.best.value).toBeGreaterThan(rows[1]!.best.value);
    const { low, high, value, deviation } = rows[0]!.atEqualSteps;
    // Student's t with two degrees of freedom over three seeds.
    expect((high - low) / 2).toBeCloseTo((4.303 * deviation!) / Math.sqrt(3), 12);
    expect((high + low) / 2).toBeCloseTo(value, 12);
    const table = settingTable({ figure, rows, equalSteps: equalSteps!, threshold });
    expect(table.head.slice(0, 3)).toEqual(['setting', 'MRR at 153,600 steps, %', 'best MRR, %']);
    // Both learn alike, so that they pass nine tenths of the best at the same number of steps.
    expect(table.head[5]).toBe(`steps to ${(100 * threshold).toFixed(1)}, %`);
    const [first, second] = rows.map(({ stepsTo }) => stepsTo);
    expect(first).toHaveLength(3);
    expect(first).toEqual(second);
    expect(Math.max(...first!)).toBeLessThanOrEqual(equalSteps!);
    const none = {
      figure,
      rows: [
        { ...rows[0]!, stepsTo: [4000, 6000] },
        { ...rows[1]!, stepsTo: [] },
      ],
      threshold: 1,
    };
    expect(settingTable(none).rows.map(({ cells }) => cells[5])).toEqual([
      { text: '5,000', details: ['2 of 3 seeds'] },
      { text: '–' },
    ]);
    expect(table.rows.map(({ cells }) => [cells[0]!.text, cells.at(-2)!.text])).toEqual([
      ['PPO', '14 min 0 s'],
      ['REINFORCE', '7 min 0 s'],
    ]);
  });

  test('need two of them, and two seeds have no interval', () => {
    const one = groupsOf([trained('ppo', 1, {})]);
    expect(compareSettings(one)).toBeUndefined();
    const two = groupsOf([1, 2].flatMap((seed) => [trained('ppo', seed, {}), trained('reinforce', seed, {})]));
    expect(settingTable(compareSettings(two)!).rows[0]!.cells[1]!.details).toEqual([]);
  });
});

describe('the report of link queries', () => {
  test('shows curves by steps and by time, tables, chains and worked queries, and escapes what data says', async () => {
    const others = { algorithm: 'reinforce', shaping: 'terminal' };
    for (const seed of [1, 2, 3]) {
      writeMadeUpRun(join(folder, `ppo-s${seed}`), {
        config: madeUpLinkConfig(seed),
        ...madeUpLinkTraining(seed),
        evaluations: [walker(0.8 + seed / 100, { run: `ppo-s${seed}` })],
      });
      writeMadeUpRun(join(folder, `plain-s${seed}`), {
        config: madeUpLinkConfig(seed, others),
        ...madeUpLinkTraining(seed, { pace: 0.5 }),
      });
    }
    const names = [1, 2, 3].flatMap((seed) => [`ppo-s${seed}`, `plain-s${seed}`]);
    const { page, pictures } = await writeReport(
      names.map((name) => openRun(join(folder, name), folder)),
      {
        to: join(folder, 'out'),
        evaluations: [writeMadeUpRecord(join(folder, 'rules'), madeUpLinkEvaluation('rules', 0.6))],
      },
    );
    const html = readFileSync(page, 'utf8');
    // Walks of links have no texts, though the settings name a model that would read them.
    expect(html).not.toContain('frozen model');
    expect(takenApart(html).rest).not.toMatch(/<script|<img src=x|https?:|\u202e|\u0007/);
    for (const text of [
      'mean of 3 seeds',
      'rules',
      'Settings compared on umls',
      'rank 2.5',
      'born_in → lies_in',
      'PPO and REINFORCE',
      'Student’s t',
      'On umls, a walker was trained by PPO and REINFORCE',
    ]) {
      expect(html).toContain(text);
    }
    const files = pictures.map((file) => file.slice(folder.length + 5));
    expect(files).toEqual(
      expect.arrayContaining([
        'links-1-umls-test-mrr.png',
        'ppo-eval-mrr.png',
        'ppo-rollout-hit_rate.png',
        'ppo-rollout-reward.png',
        'settings-umls.png',
      ]),
    );
    const alt = /alt="(PPO[^"]*MRR on valid[^"]*)"/.exec(html)?.[1];
    expect(alt).toContain('REINFORCE, terminal shaping rises');
    const plot = takenApart(html).plots.find(({ title }) => /PPO.*MRR on valid/.test(title)) as LinePlot;
    expect(plot.axes.map((label) => label)).toEqual([...['thousands of environment steps', 'updates', 'minutes']]);
  });

  test('of evaluations alone needs no run, and of a run that has nothing yet says so', async () => {
    const evaluations = ['transe', 'rules'].map((agent) =>
      writeMadeUpRecord(join(folder, agent), madeUpLinkEvaluation(agent, 0.5)),
    );
    const { page } = await writeReport([], { to: join(folder, 'a'), evaluations });
    expect(readFileSync(page, 'utf8')).toContain('<h1>2 agents on the links of umls</h1>');
    writeMadeUpRun(join(folder, 'new'), { config: madeUpLinkConfig(1) });
    const fresh = openRun(join(folder, 'new'), folder);
    const { page: other } = await writeReport([fresh], { to: join(folder, 'b') });
    expect(readFileSync(other, 'utf8')).toContain('Nothing was evaluated yet');
  });
});
