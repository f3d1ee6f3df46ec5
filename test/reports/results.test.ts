import { describe, expect, test } from '@jest/globals';
import { nothingEvaluated, reservationsOf, resultOf, tilesOf } from '../../reports/intro.js';
import { collectResults, facetsOf } from '../../reports/results.js';
import { withStatistics } from '../../reports/statistics.js';
import { groupRuns, subjectsOf, type EvaluationData, type RunData } from '../../reports/run-data.js';
import { missTable, resultTable, sliceTable, slicesTable, wholeTable } from '../../reports/tables.js';
import { methodOf, plainName, settingsKey } from '../../reports/format.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import type { RunInfo } from '../../src/run/records.js';
import { madeUpLinkConfig, madeUpLinkEvaluation } from '../fixtures/made-up-links.js';
import { madeUpArkEvaluation, madeUpEvaluation } from '../fixtures/made-up-runs.js';

function evaluation(record: EvaluationRecord, run?: Pick<RunInfo, 'id' | 'config'>): EvaluationData {
  const { task, dataset, graph, split, n, limit, seed, hashes, checkpoint } = record;
  const method = run && checkpoint !== undefined ? methodOf(run.config, checkpoint, record.phase) : undefined;
  return {
    name: 'e',
    folder: 'e',
    tag: run?.id ?? 'alone',
    record,
    samples: JSON.stringify([task, dataset, graph, split, n, limit, limit && seed, hashes.dataset]),
    ...(checkpoint !== undefined && {
      trained: {
        settings: run ? settingsKey(run.config) : 'gone',
        label: plainName(run?.id ?? 'gone'),
        checkpoint,
        seed: run?.config.seed,
        ...(method !== undefined && { method }),
      },
    }),
  };
}

function run(id: string, config: Record<string, unknown>, records: EvaluationRecord[] = []): RunData {
  const info = { id, config } as RunInfo;
  return { info, metrics: [], timings: [], evaluations: records.map((record) => evaluation(record, info)) };
}

function collect(runs: RunData[], others: EvaluationRecord[] = []) {
  const subjects = subjectsOf(runs);
  const labels = new Map(
    subjects.flatMap(({ groups }) => groups.map(({ label, runs: [one] }) => [settingsKey(one!.info.config), label])),
  );
  const all = runs.flatMap(({ evaluations }) => evaluations);
  const named = all.map((one) =>
    one.trained ? { ...one, trained: { ...one.trained, label: labels.get(one.trained.settings)! } } : one,
  );
  return collectResults([...named, ...others.map((record) => evaluation(record))], subjects);
}

const walker = (path1: number, more: Partial<EvaluationRecord> = {}) =>
  madeUpEvaluation('walker', path1, { checkpoint: 'best', ...more });

const linkWalker = (mrr: number, more: Partial<EvaluationRecord> = {}) =>
  madeUpLinkEvaluation('walker', mrr, { checkpoint: 'best', ...more });

test('a checkpoint is labelled by what trained it, that of a reader by its kind', () => {
  const reader = { reader: { kind: 'nsm-chains' }, ppo: { enabled: false }, clone: { enabled: false } };
  expect([methodOf(reader, 'best', 'fit'), methodOf(reader, 'best')]).toEqual(['nsm-chains', 'nsm-chains']);
  expect(methodOf({ ppo: { enabled: true }, clone: { enabled: false } }, 'best')).toBe('PPO');
  expect(methodOf({ ppo: { enabled: false }, clone: { enabled: true } }, 'best', 'clone')).toBe('clone');
});

describe('what a checkpoint is called', () => {
  const config = { clone: { enabled: true }, ppo: { enabled: true } };
  const cloned = (hash: string, more: object = {}) =>
    walker(0.3, { phase: 'clone', step: 4, hashes: { checkpoint: hash }, ...more });

  test('is the clone where best points to the clone, and then the clone has no separate row', () => {
    const [set] = collect([run('a', config, [cloned('x'), cloned('x', { checkpoint: 'clone' })])]);
    expect(set!.rows.map(({ label }) => label)).toEqual(['clone (best)']);
    expect(resultOf(set!)).toContain('clone (best) has');
  });

  test('is PPO where PPO wrote it, with the clone next to it', () => {
    const best = walker(0.4, { phase: 'ppo', step: 60, hashes: { checkpoint: 'y' } });
    const [set] = collect([run('a', config, [best, cloned('x', { checkpoint: 'clone' })])]);
    expect(set!.rows.map(({ label }) => label)).toEqual(['PPO (best)', 'clone']);
  });

  test('is either where seeds differ, and is left open where it is not recorded', () => {
    const seeds = ['clone', 'ppo'].map((phase, seed) =>
      run(`a-s${seed}`, { ...config, seed }, [
        walker(0.3, { phase, step: 4, hashes: { checkpoint: phase }, run: `a-s${seed}` }),
      ]),
    );
    expect(collect(seeds)[0]!.rows.map(({ label }) => label)).toEqual(['PPO or clone (best)']);
    expect(collect([run('b', config, [walker(0.3)])])[0]!.rows[0]!.label).toBe('PPO or clone (best)');
  });
});

describe('runs', () => {
  test('that differ in the seed alone are one group, named without it', () => {
    const groups = groupRuns([
      run('tiny-20260102-030405-s1', { seed: 1, ppo: { klCoef: 1 } }),
      run('tiny-20260102-030406-s2', { seed: 2, ppo: { klCoef: 1 } }),
    ]);
    expect(groups.map(({ label, runs }) => [label, runs.length])).toEqual([['tiny', 2]]);
  });

  test('that differ in what changes no weight, too, are averaged, and no label speaks of it', () => {
    const settings = (seed: number, clipRange: number, tensorboard: boolean) => ({
      ...{
        name: `try-${seed}`,
        seed,
        ppo: { clipRange },
        log: { tensorboard },
        encoder: { model: 'm', workers: seed },
      },
    });
    const groups = groupRuns([
      run('a-s1', settings(1, 0.1, true)),
      run('a-s2', settings(2, 0.1, false)),
      run('b-s3', settings(3, 0.2, true)),
      run('b-s4', settings(4, 0.2, false)),
    ]);
    expect(groups.map(({ label, runs }) => [label, runs.length])).toEqual([
      [expect.stringContaining('clipRange=0.1'), 2],
      [expect.stringContaining('clipRange=0.2'), 2],
    ]);
    expect(groups.map(({ label }) => label).join()).not.toMatch(/tensorboard|workers/);
    expect(groupRuns([run('tiny-20260102-030405-s1', { seed: 1 })])[0]!.label).toBe('tiny-20260102-030405-s1');
  });

  test('of several settings are labelled by what differs', () => {
    const groups = groupRuns([
      run('a', { seed: 1, ppo: { klCoef: 1, clipRange: 0.2 } }),
      run('b', { seed: 1, ppo: { klCoef: 0.1, clipRange: 0.2 } }),
      run('c', { seed: 1, ppo: { klCoef: 1, clipRange: 0.1 } }),
    ]);
    expect(groups.map(({ label }) => label)).toEqual([
      'clipRange=0.2, klCoef=1',
      'clipRange=0.2, klCoef=0.1',
      'clipRange=0.1, klCoef=1',
    ]);
  });

  test('are named by what was trained how, without what goes with the algorithm', () => {
    const all = ['ppo', 'reinforce'].flatMap((algorithm) =>
      ['none', 'terminal'].flatMap((shaping) =>
        [0, 0.5].map((actionDropout, i) =>
          run(`${algorithm}-${shaping}-${i}`, madeUpLinkConfig(1, { algorithm, shaping, actionDropout })),
        ),
      ),
    );
    const labelsOf = (runs: RunData[]) => subjectsOf(runs).map(({ groups }) => groups.map(({ label }) => label));
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

describe('results', () => {
  const seeds = [0.28, 0.3].map((path1, i) =>
    run(`r${i}`, { seed: i }, [walker(path1, { seed: i }), madeUpEvaluation('frequency', 0.2)]),
  );

  test('of seeds are averaged with their deviation, and equal ones of a baseline count once', () => {
    const [set, ...others] = collect(seeds, [madeUpEvaluation('frequency', 0.2), madeUpEvaluation('transe', 0.95)]);
    expect(others).toEqual([]);
    expect(set!.rows.map(({ label, own, seeds: count }) => [label, own, count])).toEqual([
      ['TransE', false, 1],
      ['walker (best)', true, 2],
      ['most frequent', false, 1],
    ]);
    const [, own, baseline] = set!.rows;
    expect(own!.metrics['path@1']!.value).toBeCloseTo(0.29, 12);
    expect(own!.metrics['path@1']!.deviation).toBeCloseTo(0.02 / Math.SQRT2, 12);
    expect(baseline!.metrics['path@1']!.deviation).toBeUndefined();
  });

  test('of agents are averaged only where nothing but the seed differs, and told apart by what does', () => {
    const transe = (path1: number, seed: number, epochs: number, more: object = {}) =>
      madeUpEvaluation('transe', path1, {
        ...{ seed, options: { switches: {}, seed, transe: { dim: 8, epochs } } },
        ...{ hashes: { table: String(path1) }, ...more },
      });
    const rowsOf = (...records: EvaluationRecord[]) =>
      collect([], records)[0]!.rows.map(({ label, seeds: count }) => [label, count]);
    expect(rowsOf(transe(0.3, 0, 20), transe(0.4, 1, 20))).toEqual([['TransE', 2]]);
    expect(rowsOf(transe(0.3, 0, 20), transe(0.4, 0, 100))).toEqual([
      ['TransE, epochs 100', 1],
      ['TransE, epochs 20', 1],
    ]);
    // One seed twice is no two seeds; nor are two budgets, data draws or encoders.
    expect(rowsOf(transe(0.3, 0, 20), transe(0.4, 0, 20))).toHaveLength(2);
    for (const other of [{ fold: 2 }, { ks: [1, 7] }, { encoder: 'b' }, { hashes: { source: 's' } }]) {
      expect(rowsOf(transe(0.3, 0, 20), transe(0.4, 1, 20, other))).toHaveLength(2);
    }
    const twice = [0.3, 0.4].map((path1) =>
      run('a', { seed: 1 }, [walker(path1, { hashes: { checkpoint: `${path1}` } })]),
    );
    expect(collect(twice)[0]!.rows.map(({ seeds: count }) => count)).toEqual([1, 1]);
  });

  test('with further figures stand for those that have fewer of the same', () => {
    const ark = madeUpArkEvaluation('walker', 0.28, { checkpoint: 'best' });
    const [set] = collect([run('r', { seed: 1 }, [walker(0.28), ark, madeUpEvaluation('frequency', 0.2)])]);
    expect(set!.rows.map(({ label }) => label)).toEqual(['walker (best)', 'most frequent']);
    const { head, rows } = wholeTable(set!);
    expect(rows.map(({ cells }) => cells[head.indexOf('ark-path@1, %')]!.text)).toEqual([
      (100 * ark.metrics['ark-path@1']!.value).toFixed(1),
      '',
    ]);
    expect(head.filter((key) => key.startsWith('ark-'))).toHaveLength(2 * 5);
  });

  test('show the figures declared for every table that at least one row has', () => {
    const [set] = collect([run('r', { seed: 1 }, [walker(0.28), madeUpEvaluation('frequency', 0.2)])]);
    expect(resultTable(set!).head).toEqual([
      'agent',
      ...['path@1', 'path@5', 'path@25', 'target@1', 'target@5', 'target@25', 'MRR of paths'].map((key) => `${key}, %`),
    ]);
    expect(set!.main.key).toBe('path@1');
  });

  test('on other samples stand apart, those that did not choose the checkpoint first', () => {
    const one = run('r', { seed: 1 }, [
      madeUpEvaluation('random', 0.01, { graph: 'wide' }),
      walker(0.28, { split: 'test' }),
      walker(0.29),
      walker(0.27, { checkpoint: 'clone', twoHopBonus: 0.6 }),
    ]);
    const sets = collect([one]);
    expect(sets.map(({ title, about }) => [title, about.graph])).toEqual([
      ['opendialkg, test', 'dialogue'],
      ['opendialkg, valid, graph dialogue', 'dialogue'],
      ['opendialkg, valid, graph wide', 'wide'],
    ]);
    expect(sets[1]!.rows.map(({ label }) => label)).toEqual(['walker (best)', 'walker (clone)']);
    expect(sets[1]!.rows.map(({ aside }) => aside)).toEqual([[], ['two hop bonus 0.6']]);
  });

  test('of another split, of other data or of a sample stand apart; those with walkers come first, valid last', () => {
    const runs = [run('r', madeUpLinkConfig(1), [linkWalker(0.8, { split: 'valid' }), linkWalker(0.8)])];
    const sets = collect(runs, [
      madeUpLinkEvaluation('transe', 0.9, { n: 100, limit: 100, seed: 0 }),
      madeUpLinkEvaluation('transe', 0.9, { n: 100, limit: 100, seed: 1 }),
      madeUpLinkEvaluation('transe', 0.9, { hashes: { graph: 'b', dataset: 'other' } }),
    ]);
    expect(sets.map(({ about: { split, n }, rows }) => [split, n, rows.length])).toEqual([
      ['test', 1322, 1],
      ['valid', 1322, 1],
      ['test', 1322, 1],
      ['test', 100, 1],
      ['test', 100, 1],
    ]);
  });

  test('with other beams are separate rows, labelled by the beams', () => {
    const config = madeUpLinkConfig(1, { algorithm: 'reinforce' });
    const [set] = collect([run('r', config, [linkWalker(0.8), linkWalker(0.7, { beamWidth: 8 })])]);
    expect(set!.rows.map(({ label }) => label)).toEqual([
      'REINFORCE (best), beam width 128',
      'REINFORCE (best), beam width 8',
    ]);
    expect(facetsOf(linkWalker(0.8))).toEqual(['horizon 3', 'beam width 128']);
  });

  test('are shown by slices: of several agents the main figure, of one all of them', () => {
    const [set] = collect([run('r', madeUpLinkConfig(1), [linkWalker(0.8)])], [madeUpLinkEvaluation('rules', 0.6)]);
    const slices = ['direction=head', 'direction=tail'];
    const table = slicesTable(set!, slices);
    expect(table.head).toEqual(['samples', 'n', 'PPO (best)', 'rules']);
    expect(table.rows.map(({ cells }) => cells.map(({ text }) => text))).toEqual([
      ['all', '1,322', '80.0', '60.0'],
      ['direction: head', '661', '76.0', '57.0'],
      ['direction: tail', '661', '84.0', '63.0'],
    ]);
    expect(sliceTable(set!, slices).rows.map(({ cells }) => cells[0]!.text)).toEqual([
      'head: PPO (best)',
      'head: rules',
      'tail: PPO (best)',
      'tail: rules',
    ]);
    const [alone] = collect([run('r', madeUpLinkConfig(1), [linkWalker(0.8)])]);
    expect(slicesTable(alone!, slices).head.slice(2)).toEqual(['MRR, %', 'Hits@1, %', 'Hits@3, %', 'Hits@10, %']);
    expect(slicesTable(alone!, []).rows).toEqual([]);
  });

  test('give reasons for missed samples', () => {
    const [set] = collect([run('r', { seed: 1 }, [walker(0.28, { n: 1000, misses: { 'not-ranked': 250, cut: 0 } })])]);
    const { head, rows } = missTable(set!);
    expect(head).toEqual(['agent', 'no miss', 'not ranked']);
    expect(rows[0]!.cells.map(({ text }) => text)).toEqual(['walker (best)', '75.0', '25.0']);
  });

  test('say where a difference may be chance, by the test of each sample', async () => {
    const sets = collect([run('r', { seed: 1 }, [walker(0.28)])], [madeUpEvaluation('frequency', 0.27)]);
    const difference = { value: -0.01, low: -0.03, high: 0.01, n: 2127, pValue: 0.31 };
    const [set] = await withStatistics(sets, async (_task, _figures, agents, reference) =>
      agents.map((_, place) => (place === reference ? {} : { difference })),
    );
    expect(resultOf(set!)).toContain('1.0 points above most frequent (27.0\u00a0%), which may be chance');
    expect(tilesOf(set!, undefined)[2]).toMatchObject({
      value: '+1.0 points',
      detail: expect.stringContaining('p = 0.31'),
    });
    const { head, rows } = resultTable(set!);
    const index = head.indexOf('path@1 against walker (best)');
    expect(rows.map(({ cells }) => cells[index])).toEqual([
      { text: '' },
      { text: '−1.0', details: ['−3.0 to +1.0', 'p = 0.31'] },
    ]);
  });

  test('are summed up with n, interval, seeds and the distance to the best of the others', () => {
    const [set] = collect(seeds);
    const text = resultOf(set!).replaceAll('\u00a0', ' ');
    expect(text).toContain('on the 2,127 samples of opendialkg, valid, walker (best) has a path@1 of 29.0 %');
    const [figure, interval, against] = tilesOf(set!, undefined);
    expect(figure).toEqual({ name: 'path@1', value: '29.0\u00a0%', detail: 'walker (best), n = 2,127' });
    expect(interval).toMatchObject({
      value: expect.stringMatching(/^27\.\d to 30\.\d$/),
      detail: expect.stringContaining('± 1.4 between 2 seeds'),
    });
    expect(against).toMatchObject({ name: 'against most frequent', value: '+9.0 points' });
    expect(text).toContain('9.0 points above most frequent (20.0 %)');
    expect(reservationsOf(set!)).toEqual(['On opendialkg, valid, walks reach at most 98.6\u00a0%.']);
    expect(nothingEvaluated(groupRuns(seeds))).toContain('kgwalk evaluate r0');
    const [links] = collect(
      [run('r', madeUpLinkConfig(1), [linkWalker(0.8)])],
      [madeUpLinkEvaluation('rules', 0.7), madeUpLinkEvaluation('transe', 0.75)],
    );
    expect(resultOf(links!).replaceAll('\u00a0', ' ')).toBe(
      'on the 1,322 samples of umls, test, PPO (best) has an MRR of 80.0 %, 5.0 points above TransE (75.0 %)',
    );
  });
});
