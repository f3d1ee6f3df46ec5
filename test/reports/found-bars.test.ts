import { expect, test } from '@jest/globals';
import { foundBars, sectionBars } from '../../reports/figures.js';
import type { ResultRow } from '../../reports/results.js';

const bars = [
  { label: 'annotators', value: 0.26, low: 0.22, high: 0.3 },
  { label: 'a draw', value: 0.22, low: 0.2, high: 0.25 },
];

test('bars that an evaluation found are drawn in their order, with their intervals in words', () => {
  const records = [{ sections: [{ title: 'Other' }, { title: 'Agreement', bars }] }];
  const row = { label: 'walker', records } as unknown as ResultRow;
  const [group] = foundBars(row, 'Agreement', 'valid');
  const [chart] = group!.charts;
  expect(chart!.name).toBe('valid-agreement');
  expect(chart!.alt).toContain('annotators 26.0 [22.0, 30.0], a draw 22.0 [20.0, 25.0]');
  expect(chart!.plot).toMatchObject({ kind: 'bars', unit: '%', bars, title: 'Agreement, %: walker' });
  expect(foundBars(row, 'Other', 'valid')).toEqual([]);
});

test('nothing is drawn of a section without bars', () => {
  expect([sectionBars({}, 'x'), sectionBars({ bars: [] }, 'x')]).toEqual([undefined, undefined]);
});
