import { expect, test } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTimingLog, readTimings } from '../../../src/run/metric-log.js';

test('each record holds the seconds since the one before, memory and rates', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'kgwalk-timing-')), 'timing.jsonl');
  let clock = 10;
  const log = openTimingLog(file, () => clock);
  clock = 12.5;
  log.record('clone', 1, { 'time/env_steps': 80 });
  clock = 13;
  log.record('clone', 2);
  log.close();
  const [first, second] = readTimings(file);
  expect(first).toMatchObject({ phase: 'clone', step: 1, seconds: 2.5, 'time/env_steps': 80 });
  expect(second!.seconds).toBe(0.5);
  expect(first!.rss_mb).toBeGreaterThan(1);
});
