import { describe, expect, test } from '@jest/globals';
import { nothingEvaluated, reservations, walkResult } from '../../reports/opening.js';
import { collectResults, ksOf, shownKs } from '../../reports/results.js';
import { groupRuns, type RunData } from '../../reports/run-data.js';
import { agentTable } from '../../reports/tables.js';
import type { EvaluationRecord, RunInfo } from '../../src/run/records.js';
import { madeUpArkEvaluation, madeUpEvaluation } from '../fixtures/made-up-runs.js';

function run(id: string, config: Record<string, unknown>, evaluations: EvaluationRecord[] = []): RunData {
  return { info: { id, config } as RunInfo, metrics: [], timings: [], evaluations, answered: [], linked: [] };
}

const walker = (path1: number, more: Partial<EvaluationRecord> = {}) =>
  madeUpEvaluation('walker', path1, { checkpoint: 'best', ...more });

describe('runs', () => {
  test('that differ in the seed alone are one group, named without it', () => {
    const groups = groupRuns([
      run('tiny-20260102-030405-s1', { seed: 1, ppo: { klCoef: 1 } }),
      run('tiny-20260102-030406-s2', { seed: 2, ppo: { klCoef: 1 } }),
    ]);
    expect(groups.map(({ label, runs }) => [label, runs.length])).toEqual([['tiny', 2]]);
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
});

describe('results', () => {
  const seeds = [0.28, 0.3].map((path1, i) =>
    run(`r${i}`, { seed: i }, [walker(path1, { seed: i }), madeUpEvaluation('frequency', 0.2)]),
  );

  test('of seeds are averaged with their deviation, and equal ones of a baseline count once', () => {
    const [set] = collectResults(groupRuns(seeds));
    const [own, baseline] = set!.rows;
    expect(own).toMatchObject({ label: 'walker (best)', own: true, seeds: 2 });
    expect(own!.metrics['path@1']!.value).toBeCloseTo(0.29, 12);
    expect(own!.metrics['path@1']!.deviation).toBeCloseTo(0.02 / Math.SQRT2, 12);
    expect(baseline).toMatchObject({ label: 'most frequent', own: false, seeds: 1 });
    expect(baseline!.metrics['path@1']!.deviation).toBeUndefined();
  });

  test('counted in both ways stand beside each other, and without columns where nobody was', () => {
    const ark = madeUpArkEvaluation('walker', 0.28, { checkpoint: 'best' });
    const setOf = (first: EvaluationRecord) =>
      collectResults(groupRuns([run('r', { seed: 1 }, [first, madeUpEvaluation('frequency', 0.2)])]))[0]!;
    const { head, rows } = agentTable(setOf(ark));
    const at = (key: string) => head.indexOf(`${key}, %`);
    expect(head.slice(1, -1).map((key) => key.split('@')[0])).toEqual([
      'path',
      'ark-path',
      'target',
      'target-any',
      'ark-target',
    ]);
    expect(rows.map(({ cells }) => cells[at('ark-path@1')]!.text)).toEqual([
      (100 * ark.metrics['ark-path@1']!.value).toFixed(1),
      '',
    ]);
    const all = agentTable(setOf(ark), true).head;
    expect(all.indexOf('ark-path@25, %')).toBe(all.indexOf('path@25, %') + 1);
    expect(all.filter((key) => key.startsWith('ark-'))).toHaveLength(2 * 5);
    expect(agentTable(setOf(walker(0.28))).head).toEqual(['agent', 'path@1, %', 'target@1, %', 'samples']);
  });

  test('on other samples stand apart, those that did not choose the checkpoint first', () => {
    const one = run('r', { seed: 1 }, [
      madeUpEvaluation('random', 0.01, { graph: 'wide' }),
      walker(0.28, { split: 'test' }),
      walker(0.29),
      walker(0.27, { checkpoint: 'clone', twoHopBonus: 0.6 }),
    ]);
    const sets = collectResults(groupRuns([one]));
    expect(sets.map(({ split, graph }) => `${split} ${graph}`)).toEqual([
      'test dialogue',
      'valid dialogue',
      'valid wide',
    ]);
    expect(sets[1]!.rows.map(({ label }) => label)).toEqual(['walker (best)', 'walker (clone; two-hop bonus 0.6)']);
  });

  test('name the k that were measured', () => {
    const { rows } = collectResults(groupRuns(seeds))[0]!;
    expect(ksOf(rows, 'path')).toEqual([1, 3, 5, 10, 25]);
    expect(shownKs(rows, 'target')).toEqual([1, 5, 25]);
    expect(shownKs(rows, 'nothing')).toEqual([]);
  });

  test('are summed up with n, interval, seeds and the distance to the best baseline', () => {
    const groups = groupRuns(seeds);
    const [set] = collectResults(groups);
    const text = walkResult(set!)!.replaceAll('\u00a0', ' ');
    expect(text).toContain('2,127 samples');
    expect(text).toMatch(/29\.0 % \(95 % interval 27\.\d to 30\.\d; mean of 2 seeds, ± 1\.4/);
    expect(text).toContain('9.0 points above the strongest baseline, most frequent (20.0 %)');
    expect(reservations({ walks: set, groups })[0]).toContain('no walk can exceed 98.6');
    expect(nothingEvaluated(groups)).toContain('kgwalk evaluate r0');
  });
});
