import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readCheckpoint, schemaVersion, writeCheckpoint, type CheckpointHeader } from '../../checkpoints/checkpoint.js';
import { modelCard } from '../../checkpoints/model-card.js';
import { encodeSafetensors, readSafetensors } from '../../checkpoints/safetensors.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { hostileJson, spoiltBytes } from '../fixtures/spoilt.js';

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

describe('checkpoints', () => {
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
