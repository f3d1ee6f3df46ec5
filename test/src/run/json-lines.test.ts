import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openJsonLines, readJsonLines } from '../../../src/run/json-lines.js';
import { anyNumber } from '../../../src/run/records.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const logFile = () => join(folderWith({}), 'deep/log.jsonl');

test('lines are on disk after a flush, in order', () => {
  const file = logFile();
  const log = openJsonLines(file);
  log.append({ a: 1 });
  log.append('søster');
  expect(readFileSync(file, 'utf8')).toBe('');
  const text = '{"a":1}\n"søster"\n';
  const sha256 = createHash('sha256').update(text).digest('hex');
  expect(log.flush()).toEqual({ bytes: Buffer.byteLength(text), sha256 });
  log.append([2]);
  log.close();
  expect(readJsonLines(file)).toEqual([{ a: 1 }, 'søster', [2]]);
});

test('numbers that are not finite are seen in the file and come back', () => {
  const file = logFile();
  const log = openJsonLines(file);
  log.append({ a: NaN, b: [Infinity, -Infinity] });
  log.close();
  expect(readFileSync(file, 'utf8')).toBe('{"a":"NaN","b":["Infinity","-Infinity"]}\n');
  const schema = z.object({ a: anyNumber, b: z.array(anyNumber) });
  expect(readJsonLines(file, schema)).toEqual([{ a: NaN, b: [Infinity, -Infinity] }]);
  // A film may be called so.
  expect(readJsonLines(file, z.object({ a: z.string() }))).toEqual([{ a: 'NaN' }]);
});

describe('after a crash', () => {
  test('a torn last line is cut, counted and not read', () => {
    const file = logFile();
    openJsonLines(file).close();
    writeFileSync(file, '{"a":1}\n{"a":');
    expect(readJsonLines(file)).toEqual([{ a: 1 }]);
    const log = openJsonLines(file);
    expect(log.truncatedBytes).toBe(5);
    log.append({ a: 2 });
    log.close();
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}\n{"a":2}\n');
  });

  test('lines after the offset of a checkpoint are forgotten, and written again give the same bytes', () => {
    const file = logFile();
    const first = openJsonLines(file);
    first.append({ step: 1 });
    const mark = first.flush();
    first.append({ step: 2 });
    first.close();
    const whole = readFileSync(file);
    const second = openJsonLines(file);
    second.append('pending lines are forgotten too');
    second.truncateAfter(mark);
    expect(readFileSync(file, 'utf8')).toBe('{"step":1}\n');
    second.append({ step: 2 });
    const { sha256 } = second.flush();
    expect(sha256).toBe(createHash('sha256').update(whole).digest('hex'));
    second.close();
    expect(readFileSync(file)).toEqual(whole);
  });

  test('an offset that does not belong to the log is refused', () => {
    const file = logFile();
    const log = openJsonLines(file);
    log.append({ step: 1 });
    const { bytes: offset } = log.flush();
    for (const wrong of [offset - 1, offset + 1, offset + 1000]) {
      expect(() => log.truncateAfter({ bytes: wrong })).toThrow(`expected a line that ends at byte ${wrong}`);
    }
    log.truncateAfter({ bytes: 0 });
    expect(log.flush().bytes).toBe(0);
    log.close();
  });
});

test('a log whose beginning is not what the checkpoint knew is refused, and stays as it is', () => {
  const file = logFile();
  const log = openJsonLines(file);
  log.append({ loss: 0.5 });
  const mark = log.flush();
  log.append({ loss: 0.25 });
  log.close();
  const altered = readFileSync(file, 'utf8').replace('0.5', '0.4');
  writeFileSync(file, altered);
  const again = openJsonLines(file);
  expect(() => again.truncateAfter(mark)).toThrow(
    `expected the first ${mark.bytes} bytes as the checkpoint knows them, got others, at ${file}`,
  );
  again.close();
  expect(readFileSync(file, 'utf8')).toBe(altered);
});

test('a broken line inside is an error with file and line', () => {
  const file = logFile();
  openJsonLines(file).close();
  appendFileSync(file, '{"a":1}\nnonsense\n{"a":2}\n');
  expect(() => readJsonLines(file)).toThrow(/got broken JSON .*nonsense.*, at .*:2$/);
});
