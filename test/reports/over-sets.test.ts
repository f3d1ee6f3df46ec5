import { describe, expect, test } from '@jest/globals';
import { overSetsViews } from '../../reports/over-sets.js';
import type { ChartGroup, Draw } from '../../reports/pictures.js';
import type { ResultRow, ResultSet } from '../../reports/results.js';

const main = { key: 'hit@1', title: 'Hit@1', unit: '%', better: 'high', place: 'main' } as const;

function set(dataset: string, scores: Readonly<Record<string, readonly number[]>>, more: object = {}): ResultSet {
  const rows = Object.entries(scores).map(([label, runs], i) => {
    const records = runs.map((value) => ({ metrics: { 'hit@1': { value, low: 0, high: 1, n: 9 } } }));
    return {
      label,
      color: '#000',
      own: i === 0,
      checkpoint: i === 0 ? 'best' : undefined,
      records,
    } as unknown as ResultRow;
  });
  return { title: dataset, about: { task: 'questions', dataset, split: 'valid' }, main, rows, ...more } as ResultSet;
}

function drawn(): { draw: Draw; groups: ChartGroup[] } {
  const groups: ChartGroup[] = [];
  const draw: Draw = async (some) => {
    groups.push(...some);
    return [];
  };
  return { draw, groups };
}

const metaqa = { walker: [0.9, 0.8, 0.7], lookup: [0.6], alone: [0.1] };
const webqsp = { walker: [0.5, 0.7, 0.6], lookup: [0.55] };

describe('results over data sets', () => {
  test('are of the agents that stand in all of them', async () => {
    const { draw, groups } = drawn();
    const [view, ...others] = await overSetsViews([set('metaqa', metaqa), set('webqsp', webqsp)], draw);
    expect(others).toEqual([]);
    expect(view!.title).toBe('Hit@1 over 2 data sets: metaqa, webqsp, valid');
    const cells = view!.parts[0]!.table!.rows.map((row) => row.cells.map(({ text }) => text));
    expect(cells.map(([label, runs]) => [label, runs])).toEqual([
      ['walker', '3 + 3'],
      ['lookup', '1 + 1'],
    ]);
    // The middle four of six; 1 − the mean; two of three and all of three runs are above the lookup.
    expect(cells[0]![2]).toMatch(/^70\.0 \[/);
    expect(cells[0]![3]).toMatch(/^30\.0 \[/);
    expect(cells[1]!.slice(2)).toEqual(['57.5 [57.5, 57.5]', '42.5 [42.5, 42.5]', expect.stringMatching(/^83\.3 \[/)]);
    const plot = groups[0]!.charts[0]!.plot as unknown as { lines: { label: string; seeds: number[][] }[] };
    expect(plot.lines.map(({ label, seeds }) => [label, seeds[0]![0], seeds[0]![75], seeds[0]![95]])).toEqual([
      ['walker', 1, expect.closeTo(1 / 3, 9), 0],
      ['lookup', 1, 0, 0],
    ]);
  });

  test('need two data sets, one figure, one split and a real model', async () => {
    const { draw } = drawn();
    const of = (...sets: ResultSet[]) => overSetsViews(sets, draw);
    expect(await of(set('metaqa', metaqa))).toEqual([]);
    expect(await of(set('metaqa', metaqa), set('webqsp', webqsp, { simulated: 'oracle:0.1' }))).toEqual([]);
    expect(await of(set('metaqa', metaqa), set('webqsp', webqsp, { main: { ...main, key: 'f1' } }))).toEqual([]);
    expect(await of(set('metaqa', metaqa), set('metaqa', metaqa))).toEqual([]);
    expect(await of(set('metaqa', { walker: [1] }), set('webqsp', { other: [1] }))).toEqual([]);
  });
});
