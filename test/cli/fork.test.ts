/** `kgwalk train --resume WHICH --fork`: a new run with the weights of another one, which stays as it is. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readCheckpoint, type Checkpoint } from '../../checkpoints/checkpoint.js';
import { readIndex, resolveCheckpoint } from '../../checkpoints/store.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { runsFolder } from '../../src/run/locations.js';
import { openRun } from '../../src/run/run-folder.js';
import { lockFolder } from '../../src/run/run-lock.js';
import { forkSettings, train } from '../../tasks/train.js';
import { kgwalk } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { longTest } from '../fixtures/long-tests.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { runHashes, stopAt, tinySettings } from '../fixtures/tiny-training.js';

let walks: string;
let films: string;
const critic = join(folderWith({}), 'critic');
const newFolder = () => join(folderWith({}), 'fork');

useSharedHome(async () => {
  walks = await finishedRun('dialogues');
  films = await finishedRun('questions');
  const scratch = ['ppo.baseline=critic', 'ppo.klCoef=0', 'ppo.init=scratch', 'clone.enabled=false'];
  await train({ settings: tinySettings(...scratch, 'transe.enabled=false'), folder: critic });
});

const fork = (from: string, which: string, folder: string, ...overrides: string[]) =>
  kgwalk(
    ...['train', '--resume', which, '--run-dir', from, '--fork', folder],
    ...overrides.flatMap((one) => ['--set', one]),
  );

/** A fork that must be made. */
async function forked(...words: Parameters<typeof fork>): Promise<void> {
  expect(await fork(...words)).toMatchObject({ exitCode: 0 });
}

const checkpoint = (folder: string, which: string) => readCheckpoint(resolveCheckpoint(folder, which).file);

/** The tensors by name, without the optimizer's. */
const weightsOf = ({ tensors }: Checkpoint) =>
  Object.fromEntries(Object.entries(tensors).filter(([name]) => !name.startsWith('optimizer/')));

describe('a fork', () => {
  test('begins PPO from the weights of a finished run, which stays as it is, and is anchored to them', async () => {
    const before = [runHashes(walks), readFileSync(join(walks, 'environment.json'), 'utf8')];
    const release = lockFolder(walks);
    const folder = newFolder();
    const { exitCode, err } = await fork(walks, 'best', folder, 'ppo.learningRate=0', 'ppo.updates=2');
    release();
    expect([exitCode, err]).toEqual([0, expect.stringContaining(`run ${folder}, a fork of ${walks}@best`)]);
    expect([runHashes(walks), readFileSync(join(walks, 'environment.json'), 'utf8')]).toEqual(before);

    const { name, file } = readIndex(walks).best!;
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
    expect(openRun(folder).environment.forkedFrom).toEqual({ run: walks, checkpoint: name, sha256 });
    expect(openRun(folder)).toMatchObject({
      config: { clone: { enabled: false }, ppo: { init: 'clone', learningRate: 0, updates: 2 } },
      state: { status: 'finished', done: { transe: true, encode: true, ppo: true } },
    });
    const start = checkpoint(folder, 'clone');
    expect(start.header).toMatchObject({ phase: 'clone', step: 0, metrics: {}, trainer: {} });
    expect(start.tensors).toEqual(weightsOf(readCheckpoint(file)));
    // Without a learning rate the weights stay, and with them the distance to the reference policy: none.
    const last = checkpoint(folder, 'last');
    expect(last.header).toMatchObject({ phase: 'ppo', step: 2, trainer: { optimizerSteps: 8 } });
    expect(weightsOf(last)).toEqual(start.tensors);
    const first = readMetrics(join(folder, 'metrics.jsonl')).find(({ phase }) => phase === 'ppo');
    expect(first).toMatchObject({ step: 1, metrics: { 'train/anchor_kl': 0 } });
  });

  test('of a fork, stopped before its first checkpoint and later, ends as the unbroken one', async () => {
    const [parent, whole, broken] = [newFolder(), newFolder(), newFolder()];
    await forked(walks, '3', parent, 'ppo.updates=2');
    await forked(parent, 'last', whole, 'ppo.learningRate=0.01');
    const settings = await forkSettings(openRun(parent), ['ppo.learningRate=0.01']);
    const source = { run: parent, checkpoint: 'last' };
    const stops = [stopAt('encode messages', 0), stopAt('ppo', 1), stopAt('ppo', 1)] as const;
    const begun = train({ settings, folder: broken, fork: source, ...stops[0] });
    await expect(begun).rejects.toMatchObject({ code: 'stopped' });
    expect(readIndex(broken).last!.name).toBe('clone-000000');
    for (const stop of stops.slice(1)) {
      const again = train({ settings, folder: broken, resume: 'last', ...stop });
      await expect(again).rejects.toMatchObject({ code: 'stopped' });
    }
    expect(await kgwalk('train', '--resume', '--run-dir', broken)).toMatchObject({ exitCode: 0 });
    expect(runHashes(broken)).toEqual(runHashes(whole));
    expect(openRun(whole).environment.forkedFrom).toMatchObject({ run: parent, checkpoint: 'ppo-000002' });
  });

  test('without PPO clones from the weights, and may clone before PPO', async () => {
    // Steps too small to be seen: what is there at the end was there at the beginning.
    const still = ['clone.learningRate=1e-12', 'clone.epochs=1', 'ppo.learningRate=0', 'ppo.updates=1'];
    const [cloned, both] = [newFolder(), newFolder()];
    await forked(walks, 'last', cloned, ...still, 'ppo.enabled=false');
    expect(openRun(cloned).state.done).toEqual({ transe: true, encode: true, clone: true });
    await forked(walks, 'last', both, ...still, 'clone.enabled=true');
    expect(openRun(both).state.done).toEqual({ transe: true, encode: true, clone: true, ppo: true });
    const before = weightsOf(checkpoint(walks, 'last'));
    for (const after of [cloned, both].map((folder) => weightsOf(checkpoint(folder, 'last')))) {
      const moved = Object.entries(before).flatMap(([name, { data }]) =>
        Array.from(data as Float32Array, (value, i) => Math.abs(value - Number(after[name]!.data[i]))),
      );
      expect(Math.max(...moved)).toBeLessThan(1e-9);
    }
  });

  test('takes the critic along, with which it was trained from scratch', async () => {
    const folder = newFolder();
    await forked(critic, 'last', folder, 'ppo.learningRate=0', 'ppo.updates=1');
    const { tensors } = checkpoint(folder, 'last');
    expect(Object.keys(tensors)).toContain('critic.1');
    expect(weightsOf(checkpoint(folder, 'last'))).toEqual(weightsOf(checkpoint(critic, 'last')));
  });

  test('on questions begins PPO from the weights', async () => {
    const folder = newFolder();
    await forked(films, 'best', folder, 'ppo.learningRate=0', 'ppo.updates=1');
    expect(weightsOf(checkpoint(folder, 'last'))).toEqual(weightsOf(checkpoint(films, 'best')));
  });

  longTest('on questions ends as if never stopped', async () => {
    const [whole, broken] = [newFolder(), newFolder()];
    await forked(films, 'last', whole, 'seed=5', 'ppo.updates=4');
    const settings = await forkSettings(openRun(films), ['seed=5', 'ppo.updates=4']);
    const begun = train({ settings, folder: broken, fork: { run: films, checkpoint: 'last' }, ...stopAt('ppo', 1) });
    await expect(begun).rejects.toMatchObject({ code: 'stopped' });
    await kgwalk('train', '--resume', '--run-dir', broken);
    expect(runHashes(broken)).toEqual(runHashes(whole));
  });

  test('says what it would do', async () => {
    const folder = newFolder();
    const words = ['train', '--resume', 'best', '--run-dir', walks, '--fork', folder, '--dry-run'];
    const { exitCode, out } = await kgwalk(...words);
    expect([exitCode, out]).toEqual([0, expect.stringMatching(/^(?![^]*\nclone )[^]*\nppo +4 updates/)]);
    expect(existsSync(folder)).toBe(false);
  });

  test('has its place among the runs where none is given, and may differ in what changes no weight’s meaning', async () => {
    const changes = ['walker.dropout=0.5', 'walker.featureMemory=0', 'walker.inEdges=3', 'ppo.updates=1'];
    const sets = changes.flatMap((one) => ['--set', one]);
    const { out } = await kgwalk('train', '--resume', 'best', '--run-dir', walks, ...sets, '--fork');
    const folder = out.trim();
    expect(folder).toMatch(/runs.opendialkg-tiny-\d{8}-\d{6}-s0$/);
    expect(openRun(folder).environment.forkedFrom?.run).toBe(walks);
    rmSync(folder, { recursive: true });
  });
});

describe('a fork is refused before anything is made', () => {
  test.each([
    [['walker.width=64'], 'walker.width: 32 in the run, 64 asked for'],
    [['encoder.windowTokens=16'], 'encoder.windowTokens: 32 in the run, 16 asked for'],
    [['env.horizon=3'], 'env.horizon: 2 in the run, 3 asked for'],
    [['data.graph=wide'], 'expected a checkpoint of graph'],
    [['encoder.model=hashed:64'], 'expected a checkpoint of encoder hashed:64'],
    [['ppo.init=scratch', 'ppo.klCoef=0'], 'expected ppo.init=clone in a fork'],
    [['ppo.cliprange=0.1'], 'did you mean ppo.clipRange'],
  ])('with %j', async (overrides, message) => {
    const folder = newFolder();
    const { exitCode, err } = await fork(walks, 'best', folder, ...overrides);
    expect([exitCode, err]).toEqual([expect.any(Number), expect.stringContaining(message)]);
    expect(exitCode).not.toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  test('from a checkpoint that is not there or is damaged', async () => {
    const folder = newFolder();
    expect(await fork(walks, '77', folder)).toMatchObject({
      err: expect.stringContaining('expected checkpoint "77"'),
    });
    const damaged = newFolder();
    cpSync(walks, damaged, { recursive: true });
    writeFileSync(readIndex(damaged).last!.file, 'not a checkpoint');
    expect(await fork(damaged, 'last', folder)).toMatchObject({ err: expect.stringContaining('ppo-000004') });
    expect(existsSync(folder)).toBe(false);
  });

  test.each([
    [['--fork'], 'expected --resume with --fork'],
    [['--resume', 'best', '--fork'], 'expected --run-dir with --resume'],
    [
      ['--resume', 'best', '--run-dir', 'RUN', '--fork', '--seeds', '1,2'],
      'expected one fork, got --fork with --seeds',
    ],
    [['--resume', 'best', '--run-dir', 'RUN', '--fork', 'RUN'], 'expected a folder without a run'],
    [['--resume', 'best', '--run-dir', 'NOWHERE', '--fork'], 'expected a run'],
  ])('by %j', async (words, message) => {
    const places = { RUN: walks, NOWHERE: newFolder() };
    const named = words.map((word) => places[word as keyof typeof places] ?? word);
    const { exitCode, err } = await kgwalk('train', ...named);
    expect([exitCode, err]).toEqual([expect.any(Number), expect.stringContaining(message)]);
    expect(exitCode).not.toBe(0);
    expect(existsSync(join(runsFolder(), basename(walks)))).toBe(false);
  });
});
