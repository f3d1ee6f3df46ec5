import { expect, test } from '@jest/globals';
import { tableFromIPC } from 'apache-arrow';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  metricsCsv,
  wideCsv,
  openMetricLog,
  openTimingLog,
  readMetrics,
  readTimings,
  writeMetricsArrow,
} from '../../../src/run/metric-log.js';
import type { MetricRecord, TimingRecord } from '../../../src/run/records.js';
import { folderWith } from '../../fixtures/tiny-release.js';

function sampleLog() {
  const folder = folderWith({});
  const file = join(folder, 'metrics.jsonl');
  const log = openMetricLog(file);
  log.append('clone', 1, { 'train/loss': 2.5, 'eval/path@1': 0.25 });
  log.append('ppo', 1, { 'train/approx_kl': NaN });
  log.close();
  return { folder, file };
}

const rows = [
  { phase: 'clone', step: 1, key: 'train/loss', value: 2.5 },
  { phase: 'clone', step: 1, key: 'eval/path@1', value: 0.25 },
  { phase: 'ppo', step: 1, key: 'train/approx_kl', value: NaN },
];

test('a line holds phase, step and metrics, and nothing of the clock', () => {
  const { file } = sampleLog();
  expect(readFileSync(file, 'utf8').split('\n')[0]).toBe(
    '{"phase":"clone","step":1,"metrics":{"train/loss":2.5,"eval/path@1":0.25}}',
  );
  expect(readMetrics(file)[1]).toEqual({ phase: 'ppo', step: 1, metrics: { 'train/approx_kl': NaN } });
});

test('the Arrow file has the same figures in four columns', async () => {
  const { file, folder } = sampleLog();
  writeMetricsArrow(file, join(folder, 'metrics.arrow'));
  const table = tableFromIPC(readFileSync(join(folder, 'metrics.arrow')));
  expect(table.schema.fields.map(({ name, type }) => `${name}: ${type}`)).toEqual([
    'phase: Dictionary<Int32, Utf8>',
    'step: Int32',
    'key: Dictionary<Int32, Utf8>',
    'value: Float64',
  ]);
  expect(table.toArray().map((row) => ({ ...row.toJSON() }))).toEqual(rows);
});

test('equal metrics give equal Arrow bytes, also the second time in one process', async () => {
  const { file, folder } = sampleLog();
  for (const name of ['a', 'b']) writeMetricsArrow(file, join(folder, name));
  expect(readFileSync(join(folder, 'a'))).toEqual(readFileSync(join(folder, 'b')));
});

test('a run without metrics still has an Arrow file', async () => {
  const folder = folderWith({});
  openMetricLog(join(folder, 'm.jsonl')).close();
  writeMetricsArrow(join(folder, 'm.jsonl'), join(folder, 'm.arrow'));
  expect(tableFromIPC(readFileSync(join(folder, 'm.arrow'))).numRows).toBe(0);
});

test('the CSV has a row a figure, quotes what needs it and shows NaN', () => {
  const { file } = sampleLog();
  const log = openMetricLog(file);
  log.append('a,"b"', 2, { x: 1e-7 });
  log.close();
  expect(metricsCsv(file)).toBe(
    'phase,step,key,value\nclone,1,train/loss,2.5\nclone,1,eval/path@1,0.25\nppo,1,train/approx_kl,NaN\n"a,""b""",2,x,1e-7\n',
  );
});

test('the wide CSV has a row a step with all its figures, seconds and environment steps since the beginning', () => {
  const metrics: MetricRecord[] = [
    { phase: 'clone', step: 1, metrics: { 'train/loss': 2.5 } },
    { phase: 'ppo', step: 1, metrics: { 'train/loss': 1 } },
    { phase: 'ppo', step: 1, metrics: { 'eval/mrr': NaN } },
  ];
  const timings: TimingRecord[] = [
    { phase: 'clone', step: 2, seconds: 1.5, rss_mb: 9 },
    { phase: 'ppo', step: 1, seconds: 0.25, rss_mb: 9, 'time/env_steps': 64 },
  ];
  expect(wideCsv(metrics, timings).split('\n')).toEqual([
    'phase,step,train/loss,eval/mrr,seconds,env_steps',
    'clone,1,2.5,,,',
    'ppo,1,1,NaN,1.75,64',
    'clone,2,,,1.5,0',
    '',
  ]);
});

test('each record holds the seconds since the one before, memory and rates', () => {
  const file = join(folderWith({}), 'timing.jsonl');
  let clock = 10;
  const log = openTimingLog(file, () => clock);
  clock = 12.5;
  log.record('clone', 1, { 'time/env_steps': 80 });
  clock = 13;
  log.record('clone', 2);
  log.close();
  const rss_mb = expect.any(Number);
  expect(readTimings(file)).toEqual([
    { phase: 'clone', step: 1, seconds: 2.5, rss_mb, 'time/env_steps': 80 },
    { phase: 'clone', step: 2, seconds: 0.5, rss_mb },
  ]);
});
