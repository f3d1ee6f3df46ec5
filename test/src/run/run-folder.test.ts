import { describe, expect, test } from '@jest/globals';
import { machine } from '../../../src/run/files.js';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configHash } from '../../../src/run/config-values.js';
import { collectEnvironment } from '../../../src/run/environment.js';
import { createRun, listRuns, openRun, runId, runIn } from '../../../src/run/run-folder.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const config = { name: 'tiny', seed: 1, ppo: { clipRange: 0.2, targetKl: null, sizes: [1, 2] } };
const environment = collectEnvironment({ configHash: configHash(config), argv: ['train', 'tiny'] });
const runs = () => folderWith({});
const create = (folder: string, resume = false, settings = config) =>
  createRun({ folder, config: settings, environment, resume });

test('the default name has preset, time and seed and is a safe folder name', () => {
  expect(runId('open dial/kg', 3, new Date(2026, 0, 2, 3, 4, 5))).toBe('open-dial-kg-20260102-030405-s3');
});

test('a new run holds its settings, environment and state', () => {
  const folder = join(runs(), 'deep/a');
  const run = create(folder);
  expect(run).toMatchObject({ id: 'a', folder, resumed: false });
  const info = openRun(folder);
  expect(info).toMatchObject({ id: 'a', config, configHash: configHash(config), environment });
  expect(info.state).toEqual({ schemaVersion: 1, status: 'running', done: {} });
  run.close();
});

test('a run that is opened twice has separate settings each time', () => {
  const folder = join(runs(), 'a');
  create(folder).close();
  (openRun(folder).config.ppo as { sizes: number[] }).sizes.push(3);
  (openRun(folder).config.ppo as { sizes: number[] }).sizes.push(4);
  expect(openRun(folder).config).toEqual(config);
});

test('what a new run begins with is there before it counts as a run, and a resumed one keeps what it has', () => {
  const folder = join(runs(), 'a');
  const prepared: boolean[] = [];
  const prepare = () => void prepared.push(existsSync(join(folder, 'config.yaml')));
  const broken = () => {
    throw new Error('killed');
  };
  expect(() => createRun({ folder, config, environment, prepare: broken })).toThrow('killed');
  expect(runIn(folder)).toBeUndefined();
  for (const resume of [false, true]) createRun({ folder, config, environment, resume, prepare }).close();
  expect(prepared).toEqual([false]);
  expect(runIn(folder)).toMatchObject({ id: 'a' });
});

test('settings that lost their end are refused, though what is left of them can be read', () => {
  const folder = join(runs(), 'a');
  const run = create(folder);
  run.close();
  const text = readFileSync(run.files.config, 'utf8');
  const lines = text.trimEnd().split('\n').length;
  for (let kept = 1; kept < lines; kept++) {
    writeFileSync(run.files.config, text.split('\n').slice(0, kept).join('\n'));
    expect(() => openRun(folder)).toThrow(run.files.config);
  }
  expect(lines).toBeGreaterThan(1);
});

test('the state is on disk at once, phase by phase', () => {
  const run = create(join(runs(), 'a'));
  run.update({ phase: 'clone', done: { transe: true, encode: true } });
  expect(JSON.parse(readFileSync(run.files.state, 'utf8'))).toEqual({
    schemaVersion: 1,
    status: 'running',
    phase: 'clone',
    done: { transe: true, encode: true },
  });
  run.update({ status: 'finished' });
  run.close();
  expect(openRun(run.folder).state.status).toBe('finished');
});

describe('a folder that holds a run', () => {
  test('is refused unless resuming, and is unlocked after the refusal', () => {
    const folder = join(runs(), 'a');
    create(folder).close();
    expect(() => create(folder)).toThrow('expected a folder without a run');
    create(folder, true).close();
  });

  test('resumes with its state, and its environment records the new session', () => {
    const folder = join(runs(), 'a');
    const first = create(folder);
    first.update({ status: 'failed', reason: 'no space', phase: 'ppo', done: { clone: true } });
    first.close();
    const second = create(folder, true);
    expect(second.resumed).toBe(true);
    expect(second.state).toEqual({ schemaVersion: 1, status: 'running', phase: 'ppo', done: { clone: true } });
    expect(openRun(folder).environment.resumed).toEqual([environment]);
    second.close();
  });

  test('resumes with the new settings, and drops what a killed write left unfinished', () => {
    const folder = join(runs(), 'a');
    create(folder).close();
    const [unfinished, other] = [`.metrics.arrow.${2 ** 22 + 1}@${machine}.3.tmp`, '.mine.tmp'].map((name) =>
      join(folder, name),
    );
    for (const file of [unfinished!, other!]) writeFileSync(file, 'half');
    const longer = { ...config, ppo: { ...config.ppo, updates: 9 } };
    create(folder, true, longer).close();
    expect(openRun(folder).config).toEqual(longer);
    expect([existsSync(unfinished!), existsSync(other!)]).toEqual([false, true]);
  });

  test('is not written by two', () => {
    const folder = join(runs(), 'a');
    const run = create(folder);
    expect(() => create(folder, true)).toThrow('expected a run without another writer');
    run.close();
  });
});

test('resuming where there is no run starts one; killed, it reads as stopped', () => {
  const run = create(join(runs(), 'missing'), true);
  expect([run.resumed, openRun(run.folder).state.status]).toEqual([false, 'running']);
  run.close();
  expect(openRun(run.folder).state.status).toBe('stopped');
});

test('a run is opened by folder or by name, and a name cannot lead out of the runs', () => {
  const place = runs();
  create(join(place, 'a')).close();
  expect(openRun('a', place).id).toBe('a');
  expect(() => openRun('..', place)).toThrow('expected a name inside');
  expect(() => openRun('b', place)).toThrow('expected a run, got nothing');
  mkdirSync(join(place, 'c'));
  expect(() => openRun('c', place)).toThrow('expected a run, got a folder without config.yaml');
});

test('a listing shows whole and broken runs and passes over other folders', () => {
  const place = runs();
  create(join(place, 'b')).close();
  create(join(place, 'a')).close();
  writeFileSync(join(place, 'b/environment.json'), '{"torn');
  mkdirSync(join(place, 'other'));
  const [a, b, ...rest] = listRuns(place);
  expect(a).toMatchObject({ id: 'a', config });
  expect(b).toMatchObject({
    id: 'b',
    problem: expect.stringContaining('expected the environment of a run, got broken JSON'),
  });
  expect(rest).toEqual([]);
  expect(listRuns(join(place, 'missing'))).toEqual([]);
});

test('a place that cannot be written is a clear error', () => {
  const place = runs();
  writeFileSync(join(place, 'file'), '');
  expect(() => create(join(place, 'file/run'))).toThrow('expected a place that can be written');
  expect(existsSync(join(place, 'file/run'))).toBe(false);
});

test('a run whose name is nearly that of another is guessed', () => {
  const place = runs();
  create(join(place, 'farm')).close();
  expect(() => openRun(join(place, 'frm'))).toThrow(
    expect.objectContaining({ hint: `Did you mean ${join(place, 'farm')}? The runs there are: \`kgwalk runs list\`.` }),
  );
});
