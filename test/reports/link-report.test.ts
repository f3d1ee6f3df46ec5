import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { collectLinks, groupLinkRuns } from '../../reports/link-results.js';
import { compareSettings, settingTable } from '../../reports/link-settings.js';
import { chainTable, linkFacts, linkTable } from '../../reports/link-tables.js';
import { linkResult, reservations } from '../../reports/opening.js';
import { writeReport } from '../../reports/report.js';
import { kindOf, loadRunData, type RunData } from '../../reports/run-data.js';
import type { LinkEvaluationRecord } from '../../src/run/link-records.js';
import type { RunInfo } from '../../src/run/records.js';
import { openRun } from '../../src/run/run-folder.js';
import {
  madeUpChains,
  madeUpLinkConfig,
  madeUpLinkEvaluation,
  madeUpLinkTraining,
  writeMadeUpLinkEvaluation,
} from '../fixtures/made-up-links.js';
import { hostileName, writeMadeUpRun } from '../fixtures/made-up-runs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-links-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(
  id: string,
  config: Record<string, unknown>,
  { linked = [], ...logged }: Partial<Pick<RunData, 'metrics' | 'timings' | 'linked'>> = {},
): RunData {
  const info = { id, config } as RunInfo;
  return { info, metrics: [], timings: [], evaluations: [], answered: [], linked, ...logged };
}

const groupsOf = (runs: RunData[]) => groupLinkRuns(runs)[0]!.groups;

const walker = (mrr: number, more: Partial<LinkEvaluationRecord> = {}) =>
  madeUpLinkEvaluation('walker', mrr, { checkpoint: 'best', ...more });

describe('evaluations on link queries', () => {
  test('of seeds are averaged; what learns no walk stands beside them, once, however often it was asked', () => {
    const groups = groupsOf(
      [0.8, 0.9].map((mrr, seed) =>
        run(`r${seed}`, madeUpLinkConfig(seed), { linked: [walker(mrr), madeUpLinkEvaluation('rules', 0.7)] }),
      ),
    );
    const [set, ...others] = collectLinks(groups, [
      madeUpLinkEvaluation('rules', 0.7),
      madeUpLinkEvaluation('transe', 0.95),
    ]);
    expect(others).toEqual([]);
    expect(set!.rows.map(({ label, own, seeds }) => [label, own, seeds])).toEqual([
      ['TransE', false, 1],
      ['PPO (best)', true, 2],
      ['relation chains', false, 1],
    ]);
    expect(set!.rows[1]!.directions.tail!.mrr!.value).toBeCloseTo(0.85, 12);
    expect(set!.rows[1]!.directions.tail!.mrr!.deviation).toBeCloseTo(0.1 / Math.SQRT2, 12);
  });

  test('of another split, of other data or of a sample stand apart; those with walkers come first, valid last', () => {
    const groups = groupsOf([
      run('r', madeUpLinkConfig(1), { linked: [walker(0.8, { split: 'valid' }), walker(0.8)] }),
    ]);
    const sets = collectLinks(groups, [
      madeUpLinkEvaluation('transe', 0.9, { n: 100, limit: 100, seed: 0 }),
      madeUpLinkEvaluation('transe', 0.9, { n: 100, limit: 100, seed: 1 }),
      madeUpLinkEvaluation('transe', 0.9, { hashes: { graph: 'b', dataset: 'other' } }),
    ]);
    expect(sets.map(({ split, n, rows }) => [split, n, rows.length])).toEqual([
      ['test', 661, 1],
      ['valid', 661, 1],
      ['test', 100, 1],
      ['test', 100, 1],
      ['test', 661, 1],
    ]);
  });

  test('with other beams are other rows, told by them', () => {
    const linked = [walker(0.8), walker(0.7, { beamWidth: 8 })];
    const [set] = collectLinks(groupsOf([run('r', madeUpLinkConfig(1, { algorithm: 'reinforce' }), { linked })]));
    expect(set!.rows.map(({ label }) => label)).toEqual([
      'REINFORCE (best), beam 128, 3 steps',
      'REINFORCE (best), beam 8, 3 steps',
    ]);
  });

  test('asked for tails alone have no columns of heads, and tails order the rows', () => {
    const tails = madeUpLinkEvaluation('rules', 0.81);
    tails.directions = { tail: tails.directions.tail! };
    const [set] = collectLinks([], [tails, madeUpLinkEvaluation('transe', 0.5)]);
    expect(set!.main).toBe('tail');
    expect(linkTable(set!).head).toContain('MRR head, %');
    const [alone] = collectLinks([], [tails]);
    expect(linkTable(alone!).head).toEqual([
      ...['agent', 'MRR tail, %', 'Hits@1 tail, %', 'Hits@3 tail, %', 'Hits@10 tail, %', 'triples'],
    ]);
    expect(linkFacts(alone!).map(({ name, value }) => `${name}: ${value}`)).toEqual([
      'triples: 661',
      'answers within 1 edges, tails: 52.0 %',
      'answers within 2 edges, tails: 93.0 %',
      'answers within 3 edges, tails: 98.5 %',
      'queries with an entity that train lacks: 3',
      'queries with a relation that train lacks: 0',
    ]);
  });

  test('are counted by the pooling that the settings chose', () => {
    const config = { ...madeUpLinkConfig(1), evaluation: { pooling: 'sum' } };
    const [set] = collectLinks(groupsOf([run('r', config, { linked: [walker(0.8)] })]));
    // Made up so that sums are a hundredth better.
    const { cells } = linkTable(set!).rows[0]!;
    expect([cells[0]!.details, cells[1]!.text]).toEqual([['walks summed'], '80.8']);
    expect(linkResult(set!)).toContain('80.8');
  });

  test('are summed up with n, interval, the best that learns no walk, and what no walk reaches', () => {
    const groups = groupsOf([run('r', madeUpLinkConfig(1), { linked: [walker(0.8)] })]);
    const [set] = collectLinks(groups, [madeUpLinkEvaluation('rules', 0.7), madeUpLinkEvaluation('transe', 0.75)]);
    expect(linkResult(set!)!.replaceAll('\u00a0', ' ')).toBe(
      'on umls, test (661 triples, tails), PPO (best) has an MRR of 80.0 % (95 % interval 77.0 to 83.0) and ranks the answer first for 68.0 %, 5.0 points above TransE (75.0 %)',
    );
    expect(reservations({ linked: set! })).toEqual([
      'No walk of 3 steps reaches more than 98.5\u00a0% of the answers.',
    ]);
  });
});

test('chains of the relation that is asked most come first, the most used ones before others', () => {
  expect(chainTable(madeUpChains).rows.map(({ cells }) => cells.map(({ text }) => text))).toEqual([
    ['—citizen_of→', '—born_in→ —lies_in→', '31', '30', '96.8'],
    ['', 'stays', '1', '0', '0.0'],
    ['←citizen_of—', '←lies_in— ←born_in—', '28', '21', '75.0'],
    ['—/film/actor/film./film/performance/film→', expect.stringContaining(`—${hostileName}→`), '4', '1', '25.0'],
  ]);
});

describe('settings of runs', () => {
  const trained = (algorithm: string, seed: number, training: Parameters<typeof madeUpLinkTraining>[1]) =>
    run(`${algorithm}${seed}`, madeUpLinkConfig(seed, { algorithm }), madeUpLinkTraining(seed, training));

  test('are compared at the environment steps that all took, with intervals over seeds', () => {
    const groups = groupsOf([
      ...[1, 2, 3].map((seed) => trained('ppo', seed, { updates: 60 })),
      ...[1, 2, 3].map((seed) => trained('reinforce', seed, { updates: 30 })),
    ]);
    const { rows, equalSteps } = compareSettings(groups)!;
    expect(equalSteps).toBe(30 * 5120);
    // Both learn alike: at equal steps they are equal, at the end the longer one is ahead.
    expect(rows[0]!.atEqualSteps).toEqual(rows[1]!.atEqualSteps);
    expect(rows[0]!.best.value).toBeGreaterThan(rows[1]!.best.value);
    const { low, high, value, deviation } = rows[0]!.atEqualSteps;
    // Student's t with two degrees of freedom over three seeds.
    expect((high - low) / 2).toBeCloseTo((4.303 * deviation!) / Math.sqrt(3), 12);
    expect((high + low) / 2).toBeCloseTo(value, 12);
    const table = settingTable({ rows, equalSteps: equalSteps! });
    expect(table.head.slice(0, 3)).toEqual(['setting', 'MRR at 153,600 steps, %', 'best MRR, %']);
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

  test('are named by what was trained how, without what goes with the algorithm', () => {
    const all = ['ppo', 'reinforce'].flatMap((algorithm) =>
      ['none', 'terminal'].flatMap((shaping) =>
        [0, 0.5].map((actionDropout, i) =>
          run(`${algorithm}-${shaping}-${i}`, madeUpLinkConfig(1, { algorithm, shaping, actionDropout })),
        ),
      ),
    );
    const labelsOf = (runs: RunData[]) => groupLinkRuns(runs).map(({ groups }) => groups.map(({ label }) => label));
    expect(labelsOf(all)[0]!.slice(3, 6)).toEqual([
      'PPO, terminal shaping, dropout 0.5',
      'REINFORCE',
      'REINFORCE, dropout 0.5',
    ]);
    const other = run('k', { ...madeUpLinkConfig(1), data: { dataset: 'kinship' } });
    const plain = run('p', { ...madeUpLinkConfig(1), linkWalker: { width: 32 } });
    const wide = run('w', { ...madeUpLinkConfig(1), linkWalker: { width: 64 } });
    expect(labelsOf([plain, other, wide])).toEqual([['PPO, width=32', 'PPO, width=64'], ['k']]);
    const [bare, cloned] = [false, true].map((enabled) =>
      run(`c${enabled}`, { ...madeUpLinkConfig(1), clone: { enabled, epochs: enabled ? 2 : 4 } }),
    );
    expect(labelsOf([bare!, cloned!])).toEqual([['PPO', 'PPO, cloned first']]);
    const long = (id: string, algorithm: string, updates: number) => {
      const { ppo, ...rest } = madeUpLinkConfig(1, { algorithm });
      return run(id, { ...rest, ppo: { ...(ppo as object), updates } });
    };
    // The baseline, which goes with the algorithm, is asked before the updates, and parts nothing.
    expect(labelsOf([long('a', 'ppo', 9), long('b', 'reinforce', 9), long('c', 'reinforce', 8)])).toEqual([
      ['PPO, updates=9', 'REINFORCE, updates=9', 'REINFORCE, updates=8'],
    ]);
  });
});

describe('the report of link queries', () => {
  test('shows curves by steps and by time, tables, chains and worked queries, and escapes what data says', async () => {
    const others = { algorithm: 'reinforce', shaping: 'terminal' };
    for (const seed of [1, 2, 3]) {
      writeMadeUpRun(join(folder, `ppo-s${seed}`), {
        config: madeUpLinkConfig(seed),
        ...madeUpLinkTraining(seed),
        links: [walker(0.8 + seed / 100, { run: `ppo-s${seed}` })],
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
        evaluations: [writeMadeUpLinkEvaluation(join(folder, 'rules'), madeUpLinkEvaluation('rules', 0.6))],
      },
    );
    const html = readFileSync(page, 'utf8');
    // Walks of links have no texts, though the settings name a model that would read them.
    expect(html).not.toContain('frozen model');
    expect(html).not.toMatch(/<script|<img src=x|https?:|\u202e|\u0007/);
    for (const text of [
      'mean of 3 seeds',
      'relation chains',
      'Settings compared on umls',
      'ranked 2.5',
      '—born_in→ —lies_in→',
      'PPO and REINFORCE',
      'Student’s t',
      'On the triples of umls',
    ]) {
      expect(html).toContain(text);
    }
    const files = pictures.map((file) => file.slice(folder.length + 5));
    expect(files).toEqual(
      expect.arrayContaining([
        'links-umls-test-661-mrr.png',
        'ppo-eval-mrr.png',
        'ppo-eval-mrr-time.png',
        'ppo-rollout-hit_rate.png',
        'ppo-rollout-hit_rate-time.png',
        'ppo-rollout-reward.png',
        'links-settings-umls.png',
      ]),
    );
    const alt = /alt="([^"]*mean reciprocal rank on valid[^"]*minutes[^"]*)"/.exec(html)?.[1];
    expect(alt).toContain('REINFORCE, terminal shaping rises');
  });

  test('of evaluations alone needs no run, and of a run that has nothing yet says so', async () => {
    const evaluations = ['transe', 'rules'].map((agent) =>
      writeMadeUpLinkEvaluation(join(folder, agent), madeUpLinkEvaluation(agent, 0.5)),
    );
    const { page } = await writeReport([], { to: join(folder, 'a'), evaluations });
    expect(readFileSync(page, 'utf8')).toContain('<h1>2 agents on umls</h1>');
    writeMadeUpRun(join(folder, 'new'), { config: madeUpLinkConfig(1) });
    const fresh = openRun(join(folder, 'new'), folder);
    expect(kindOf(loadRunData(fresh))).toBe('links');
    const { page: other } = await writeReport([fresh], { to: join(folder, 'b') });
    expect(readFileSync(other, 'utf8')).toContain('Nothing was evaluated yet');
  });
});
