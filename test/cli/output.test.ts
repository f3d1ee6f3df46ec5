import { stdout } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { formatTable } from '../../cli/output.js';
import { printed } from '../fixtures/command-line.js';

describe('a table', () => {
  test('aligns text left, numbers right and leaves no blanks at line ends', () => {
    const rows = [
      { agent: 'random', 'path@1': 2.1 },
      { agent: 'walker', 'path@1': 29, note: 'ours' },
    ];
    expect(formatTable(rows)).toBe('agent   path@1  note\nrandom     2.1\nwalker      29  ours');
  });

  test('is a dash without rows', () => expect(formatTable([])).toBe('-'));

  test('shows control characters of names as escapes', () => {
    expect(formatTable([{ name: 'a\u001b[2Jb' }])).not.toContain('\u001b');
  });
});

describe('a table that is wider than the terminal', () => {
  const rows = [{ agent: 'walker', 'path@1': '2.1 [1.9, 2.3]', p: 0.01, note: 'ours' }];
  const whole = 'agent   path@1             p  note\nwalker  2.1 [1.9, 2.3]  0.01  ours';

  test('hides the columns that do not fit, from the right, and counts them', () => {
    expect(formatTable(rows, 34)).toBe(whole);
    const three = 'agent   path@1             p\nwalker  2.1 [1.9, 2.3]  0.01\n1 column hidden: --wide shows all';
    expect(formatTable(rows, 33)).toBe(three);
    expect(formatTable(rows, 28)).toBe(three);
    expect(formatTable(rows, 27)).toBe('agent   path@1\nwalker  2.1 [1.9, 2.3]\n2 columns hidden: --wide shows all');
    expect(formatTable(rows, 3)).toBe('agent\nwalker\n3 columns hidden: --wide shows all');
  });

  test('is whole in a pipe, and on a terminal with --wide', async () => {
    const { isTTY, columns } = stdout;
    const shown = async (isTTY: boolean, ...words: string[]) => {
      Object.assign(stdout, { isTTY, columns: 60 });
      const lines = (await printed('results', '--task', 'links', ...words)).trimEnd().split('\n');
      return { widest: Math.max(...lines.map(({ length }) => length)), last: lines.at(-1) };
    };
    try {
      const narrow = await shown(true);
      expect(narrow.widest).toBeLessThanOrEqual(60);
      expect(narrow.last).toMatch(/^\d columns hidden: --wide shows all$/);
      for (const whole of [await shown(false), await shown(true, '--wide')]) {
        expect(whole.widest).toBeGreaterThan(60);
        expect(whole.last).not.toContain('hidden');
      }
    } finally {
      Object.assign(stdout, { isTTY, columns });
    }
  });
});
