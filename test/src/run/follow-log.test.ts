import { appendFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Cursor, followRecords, logStart, readOn } from '../../../src/run/json-lines.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const numbers = z.number();
const log = (text: string) => {
  const file = join(folderWith({}), 'log.jsonl');
  writeFileSync(file, text);
  return file;
};
const read = (file: string, from: Cursor = logStart) => readOn(file, numbers, from);

describe('a log that grows', () => {
  test('is read on from where the last reading ended, line by whole line', () => {
    const file = log('1\n2\n3');
    const first = read(file);
    expect(first).toMatchObject({ records: [1, 2], reset: false, more: false });
    appendFileSync(file, '3\n4\n');
    const second = read(file, first.cursor);
    expect(second).toMatchObject({ records: [33, 4], reset: false });
    expect(read(file, second.cursor)).toMatchObject({ records: [], reset: false, cursor: second.cursor });
  });

  test('starts again when it was cut', () => {
    const file = log('1\n2\n3\n');
    const { cursor } = read(file);
    truncateSync(file, 2);
    const cut = read(file, cursor);
    expect(cut).toMatchObject({ records: [1], reset: true });
    appendFileSync(file, '5\n');
    expect(read(file, cut.cursor)).toMatchObject({ records: [5], reset: false });
  });

  test.each([
    ['beyond its old length is read from its start', '1\n7\n8\n9\n', { records: [1, 7, 8, 9], reset: true }],
    ['to the same lines continues', '1\n2\n3\n4\n', { records: [4], reset: false }],
  ])('that was cut and grew again %s', (_, text, expected) => {
    const file = log('1\n2\n3\n');
    const { cursor } = read(file);
    writeFileSync(file, text);
    expect(read(file, cursor)).toMatchObject(expected);
  });

  test('is empty before it is there, and after it went', () => {
    const file = log('1\n');
    const { cursor } = read(file);
    rmSync(file);
    expect(read(file)).toMatchObject({ records: [], reset: false });
    expect(read(file, cursor)).toMatchObject({ records: [], reset: true });
  });

  test('of several megabytes comes in parts', () => {
    const file = log(`${'1'.repeat(79)}\n`.repeat(30_000));
    let [cursor, count, parts] = [logStart, 0, 0];
    for (let more = true; more; parts++) {
      const part = read(file, cursor);
      ({ cursor, more } = part);
      count += part.records.length;
    }
    expect([count, parts]).toEqual([30_000, 3]);
  });

  test('with a line that is something else says where', () => {
    const file = log('1\n"two"\n');
    expect(() => read(file)).toThrow(/expected a line of this log.*log\.jsonl, after byte 0/);
    expect(() => read(log('1\n{\n'))).toThrow(/broken JSON/);
  });

  test('with a line of over a megabyte is refused, not gathered', () => {
    expect(() => read(log(`${'1'.repeat(2 << 20)}\n`))).toThrow(/expected lines of at most 1048576 bytes/);
  });

  test('that is a link is not read', () => {
    const file = log('1\n');
    const link = join(folderWith({}), 'metrics.jsonl');
    symlinkSync(file, link);
    expect(read(link)).toMatchObject({ records: [], cursor: logStart });
  });
});

test('each record is reported once, also those that are written again after a cut', () => {
  const file = log('1\n2\n3\n');
  const seen: number[] = [];
  const look = followRecords(file, numbers, (record) => seen.push(record));
  look();
  truncateSync(file, 2);
  look();
  appendFileSync(file, '2\n3\n4\n5');
  look();
  rmSync(file);
  look();
  writeFileSync(file, '1\n2\n3\n4\n5\n6\n');
  look();
  look();
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
});
