import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { type CheckpointHeader, readCheckpoint, schemaVersion, writeCheckpoint } from '../../checkpoints/checkpoint.js';
import { modelCard } from '../../checkpoints/model-card.js';
import { encodeSafetensors, readSafetensors } from '../../checkpoints/safetensors.js';
import { readIndex, resolveCheckpoint } from '../../checkpoints/store.js';
import { configHash } from '../../src/run/config-values.js';
import { metricsCsv, readMetrics, readTimings } from '../../src/run/metric-log.js';
import { openRun } from '../../src/run/run-folder.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { hostileBytes, hostileJson, hostileJsonLines, spoiltBytes } from '../fixtures/spoilt.js';

const environment = {
  schemaVersion: 1,
  started: '2026-01-01T00:00:00.000Z',
  argv: ['train', 'opendialkg'],
  versions: { kgwalk: '0.1.0', node: '20.19.0' },
  platform: 'linux-x64',
  cpu: 'some',
  cores: 2,
  memoryMb: 4096,
  backend: 'simd',
  configHash: configHash({ name: 'demo', seed: 3 }),
  hashes: { graph: 'a'.repeat(64) },
};
const files = {
  'config.yaml': hostileBytes('name: demo\nseed: 3\ndata:\n  dataset: demo\n  subsets: [a, b]\n'),
  'environment.json': hostileJson(environment, { ...environment, resumed: [environment] }),
  'state.json': hostileJson({ schemaVersion: 1, status: 'stopped', phase: 'ppo', done: { transe: true }, reason: 'x' }),
};

function fitting(config: Buffer) {
  try {
    return { ...environment, configHash: configHash(parse(config.toString())) };
  } catch {
    return environment;
  }
}

test.each(Object.keys(files) as (keyof typeof files)[])('a run with a spoilt %s is read or refused', async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-hostile-'));
  writeFileSync(join(folder, 'config.yaml'), 'name: demo\nseed: 3\n');
  writeFileSync(join(folder, 'environment.json'), JSON.stringify(environment));
  const read = (bytes: Buffer) => {
    writeFileSync(join(folder, name), bytes);
    // Settings that do not fit the hash of the environment would all be refused for that alone.
    if (name === 'config.yaml') writeFileSync(join(folder, 'environment.json'), JSON.stringify(fitting(bytes)));
    return openRun(folder);
  };
  const isRun = (result: unknown) => {
    const { state, config, environment: on } = result as ReturnType<typeof openRun>;
    expect(typeof config).toBe('object');
    expect(['running', 'finished', 'stopped', 'failed']).toContain(state.status);
    expect(on.argv.every((word) => typeof word === 'string')).toBe(true);
  };
  await withstands(files[name], read, { place: folder, check: isRun });
});

const record = { phase: 'ppo', step: 12, metrics: { 'train/approx_kl': 0.01, 'eval/path@1': 'NaN' } };

test('metrics are numbers, or refused with file and line', async () => {
  const { path, write } = hostileFile('metrics.jsonl');
  const inputs = hostileJsonLines(record, { ...record, step: 13 }, { phase: 'clone', step: 1, metrics: {} });
  const read = (bytes: Buffer) => {
    metricsCsv(write(bytes));
    return readMetrics(path);
  };
  const areNumbers = (result: unknown) => {
    for (const { metrics } of result as ReturnType<typeof readMetrics>) {
      expect(Object.values(metrics).every((value) => typeof value === 'number')).toBe(true);
    }
  };
  await withstands(inputs, read, { place: path, check: areNumbers });
});

test('timings are numbers, or refused with file and line', async () => {
  const { path, write } = hostileFile('timing.jsonl');
  const timing = { phase: 'ppo', step: 1, seconds: 1.5, rss_mb: 100, 'time/env_steps': 512 };
  await withstands(hostileJsonLines(timing, timing), (bytes) => readTimings(write(bytes)), { place: path });
});

test('an index of checkpoints names files of the same folder, or is refused', async () => {
  const run = mkdtempSync(join(tmpdir(), 'kgwalk-hostile-'));
  const path = join(run, 'checkpoints', 'index.json');
  mkdirSync(join(run, 'checkpoints'));
  const entry = { phase: 'ppo', step: 120, metrics: { 'eval/path@1': 0.3 }, seal: 'a'.repeat(64) };
  const index = { schemaVersion: 1, best: 'ppo-000120', checkpoints: [entry, { ...entry, phase: 'clone', step: 8 }] };
  const inputs = fc.tuple(
    hostileJson(index),
    fc.constantFrom('best', 'last', '120', '../../x', '__proto__', 'constructor'),
  );
  const read = ([bytes, which]: [Buffer, string]) => {
    writeFileSync(path, bytes);
    const { checkpoints } = readIndex(run);
    for (const { file } of checkpoints) expect(file).toMatch(/[/\\]checkpoints[/\\]\w+-\d{6,}\.safetensors$/);
    if (which !== 'best') return checkpoints;
    return resolveCheckpoint(run, which);
  };
  await withstands(inputs, read, { place: run });
});

describe('checkpoints', () => {
  const header: CheckpointHeader = {
    schemaVersion,
    kind: 'walker',
    config: { seed: 3, ppo: { clipRange: 0.2 } },
    configHash: 'c',
    hashes: { graph: 'g', encoder: 'e' },
    phase: 'ppo',
    step: 3,
    epoch: 0,
    trainer: { rng: [1, 2], log: { bytes: 12 } },
    metrics: { 'eval/path@1': 0.25 },
  };
  const tensors = { w: { shape: [2], data: new Float32Array([1, 2]) } };

  const { path, write } = hostileFile('ppo-000003.safetensors');

  test('with a spoilt header are read, or refused by name', async () => {
    const read = (text: Buffer) => {
      const metadata = new Map([['kgwalk', text.toString()]]);
      const checkpoint = readCheckpoint(
        write(encodeSafetensors({ tensors: new Map(Object.entries(tensors)), metadata })),
      );
      return [modelCard('it', checkpoint), checkpoint];
    };
    const isOwn = (result: unknown) => {
      const [, { header: read }] = result as [string, ReturnType<typeof readCheckpoint>];
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      expect(Object.keys(read).sort()).toEqual(Object.keys(header).sort());
    };
    await withstands(hostileJson(header), read, { place: path, check: isOwn });
  });

  test('with spoilt bytes are refused: their sha256 does not fit', async () => {
    writeCheckpoint(path, { header, tensors });
    const whole = readFileSync(path);
    const isWhole = (_: unknown, bytes: Buffer) => expect(bytes.equals(whole)).toBe(true);
    await withstands(spoiltBytes(whole), (bytes) => readCheckpoint(write(bytes)), { place: path, check: isWhole });
  });

  test('with NaN or infinite weights are refused where they would be used, with tensor and element', () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      writeCheckpoint(path, { header, tensors: { w: { shape: [2], data: new Float32Array([1, bad]) } } });
      expect(() => readCheckpoint(path, { finite: true })).toThrow(
        `expected finite numbers, got ${bad}, at ${path}, tensor "w", element 1`,
      );
      expect(() => readSafetensors(path, { finite: true })).toThrow('expected finite numbers');
    }
  });
});
