import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { dropCheckpoints, readIndex, resolveCheckpoint, saveCheckpoint } from '../../checkpoints/store.js';
import type { Phase } from '../../src/run/records.js';

let run: string;
beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), 'kgwalk-run-'));
});
afterEach(() => rmSync(run, { recursive: true }));

function save(phase: Phase, step: number, metrics: Record<string, number>, keepEvery = 0, interim = false) {
  const header = {
    schemaVersion: 2 as const,
    kind: 'walker' as const,
    config: {},
    configHash: '',
    hashes: {},
    phase,
    step,
    epoch: 0,
    trainer: {},
    metrics,
  };
  const tensors = { w: { shape: [1], data: new Float32Array([step]) } };
  return saveCheckpoint(run, { header, tensors }, { keepLast: 1, keepEvery }, { interim });
}

const files = () => readdirSync(join(run, 'checkpoints')).sort();

describe('the checkpoints of a run', () => {
  test('best, last and clone survive and are found by name, pointer and step', () => {
    save('clone', 1, { 'eval/loss': 2, 'eval/path@1': 0.28 });
    save('ppo', 10, { 'eval/path@1': 0.3 });
    save('ppo', 20, { 'eval/path@1': 0.2 });
    save('ppo', 30, { 'eval/path@1': 0.1 });
    expect(files()).toEqual(
      ['clone-000001', 'index.json', 'ppo-000010', 'ppo-000030'].map((n) => (n.includes('.') ? n : `${n}.safetensors`)),
    );
    expect(resolveCheckpoint(run, 'best').name).toBe('ppo-000010');
    expect(resolveCheckpoint(run, 'clone').name).toBe('clone-000001');
    expect(resolveCheckpoint(run, '30').name).toBe('ppo-000030');
    expect(readCheckpoint(resolveCheckpoint(run, 'last').file).header.step).toBe(30);
  });

  test('a step that is saved again stands once, and stays unless it was saved for a stop', () => {
    save('ppo', 10, { 'eval/path@1': 0.3 });
    save('ppo', 10, { 'eval/path@1': 0.2 });
    expect(readIndex(run).checkpoints.map(({ step, metrics }) => [step, metrics['eval/path@1']])).toEqual([[10, 0.2]]);
    const { header, tensors } = readCheckpoint(resolveCheckpoint(run, 'last').file);
    saveCheckpoint(run, { header: { ...header, step: 20 }, tensors }, { keepLast: 2, keepEvery: 0 });
    expect(readIndex(run).checkpoints.map(({ step, interim }) => [step, interim])).toEqual([
      [10, undefined],
      [20, undefined],
    ]);
  });

  test('B-ARK-14: a checkpoint that is not there is refused with those that are', () => {
    expect(() => resolveCheckpoint(run, 'best')).toThrow('got a run that saved none yet');
    save('ppo', 10, {});
    expect(() => resolveCheckpoint(run, '20')).toThrow('got only best, last, ppo-000010');
    expect(() => resolveCheckpoint(run, 'constructor')).toThrow('expected checkpoint "constructor"');
    rmSync(join(run, 'checkpoints', 'ppo-000010.safetensors'));
    expect(() => resolveCheckpoint(run, 'last')).toThrow('got no file');
  });

  test('a run resumed from an earlier checkpoint drops the future it left, and ends as if never stopped', () => {
    const train = (from: number, to: number) => {
      for (let step = from; step <= to; step += 10) save('ppo', step, { 'eval/path@1': step / 100 }, 20);
    };
    train(10, 60);
    const straight = [files(), readFileSync(join(run, 'checkpoints', 'index.json'), 'utf8')];
    train(50, 60);
    expect([files(), readFileSync(join(run, 'checkpoints', 'index.json'), 'utf8')]).toEqual(straight);
    save('ppo', 30, { 'eval/path@1': 0.3 });
    expect(readIndex(run).checkpoints.map(({ step }) => step)).toEqual([30]);
  });

  test('dropping leaves an index and files without those that are not kept', () => {
    dropCheckpoints(run, () => false);
    expect(existsSync(join(run, 'checkpoints'))).toBe(false);
    for (const step of [10, 20, 30]) save('ppo', step, { 'eval/path@1': step / 100 }, 10);
    const before = readFileSync(join(run, 'checkpoints', 'index.json'), 'utf8');
    dropCheckpoints(run, () => true);
    expect(readFileSync(join(run, 'checkpoints', 'index.json'), 'utf8')).toBe(before);
    dropCheckpoints(run, ({ step }) => step <= 20);
    expect(files()).toEqual(['index.json', 'ppo-000010.safetensors', 'ppo-000020.safetensors']);
    expect([readIndex(run).best?.step, readIndex(run).last?.step]).toEqual([20, 20]);
  });

  test('a checkpoint of a stop by the user is the last until the next, and then as if it had never been', () => {
    save('ppo', 10, {});
    save('ppo', 20, {});
    save('ppo', 25, {}, 0, true);
    expect(readIndex(run).checkpoints.map(({ step }) => step)).toEqual([20, 25]);
    expect(resolveCheckpoint(run, 'last').step).toBe(25);
    save('ppo', 27, {}, 0, true);
    expect(readIndex(run).checkpoints.map(({ step }) => step)).toEqual([20, 27]);
    save('ppo', 30, {});
    expect(files()).toEqual(['index.json', 'ppo-000030.safetensors']);
    expect(readFileSync(join(run, 'checkpoints', 'index.json'), 'utf8')).not.toContain('interim');
  });

  test('a file that no index knows, left by a kill, is removed; the files of users stay', () => {
    save('ppo', 10, {});
    writeFileSync(join(run, 'checkpoints', 'ppo-000099.safetensors'), 'half');
    writeFileSync(join(run, 'checkpoints', 'mine.safetensors'), 'mine');
    save('ppo', 20, {});
    expect(existsSync(join(run, 'checkpoints', 'ppo-000099.safetensors'))).toBe(false);
    expect(existsSync(join(run, 'checkpoints', 'mine.safetensors'))).toBe(true);
  });

  test('a damaged index is one data error', () => {
    save('ppo', 10, {});
    writeFileSync(join(run, 'checkpoints', 'index.json'), '{"schemaVersion":1,"checkpoints":[{"phase":"../x"}]}');
    expect(() => readIndex(run)).toThrow('expected an index of checkpoints');
    writeFileSync(join(run, 'checkpoints', 'index.json'), '{');
    expect(() => readIndex(run)).toThrow('expected an index of checkpoints');
  });
});
