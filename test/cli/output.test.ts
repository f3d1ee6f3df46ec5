import { describe, expect, test } from '@jest/globals';
import { formatTable } from '../../cli/output.js';

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
