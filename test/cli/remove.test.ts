import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { configHash } from '../../src/run/config-values.js';
import { collectEnvironment } from '../../src/run/environment.js';
import { modelsFolder, runsFolder } from '../../src/run/locations.js';
import { createRun } from '../../src/run/run-folder.js';
import { lockFolder } from '../../src/run/run-lock.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();
beforeEach(() => {
  env.KGWALK_RUNS = join(folderWith({}), 'runs');
});

/** A finished run in the folder of runs, or in another one. */
function runAt(id: string, runs = runsFolder(), settings: Record<string, unknown> = {}): string {
  const folder = join(runs, id);
  const config = { name: 'tiny', seed: 3, data: { dataset: 'films' }, ...settings };
  const environment = collectEnvironment({ configHash: configHash(config), argv: [], started: new Date(0) });
  createRun({ folder, config, environment }).close();
  return folder;
}

describe('runs remove', () => {
  test('deletes a run by name or folder, at any depth, and prints its size; the others stay', async () => {
    const [a, b, c] = [runAt('a'), runAt('deep/er/b'), runAt('c')];
    expect((await kgwalk('runs', 'remove', 'a')).err).toContain('expected --yes to delete "a"');
    expect(existsSync(a)).toBe(true);
    writeFileSync(join(a, 'weights'), Buffer.alloc(2_000_000));
    expect(await kgwalk('runs', 'remove', 'a', '--yes')).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/^removed .*runs\/a: 2\.0 MB\n$/),
    });
    const { removed, bytes } = await kgwalkJson<{ removed: string; bytes: number }>('runs', 'remove', b, '--yes');
    expect([removed, bytes > 100]).toEqual([b, true]);
    expect([a, b, c].map((folder) => existsSync(folder))).toEqual([false, false, true]);
  });

  test('deletes a broken run and a sweep with its runs', async () => {
    writeFileSync(join(runAt('broken'), 'environment.json'), '{');
    runAt('sweep/trial-001-s0');
    writeFileSync(join(runsFolder(), 'sweep/sweep.json'), '{');
    for (const name of ['broken', 'sweep']) expect((await kgwalk('runs', 'remove', name, '--yes')).exitCode).toBe(0);
    expect(readdirSync(runsFolder())).toEqual([]);
  });

  test('refuses what a process writes to: a run, an evaluation of it, the sweep around it', async () => {
    const run = runAt('sweep/trial-001-s0');
    mkdirSync(join(run, 'evaluations/test'), { recursive: true });
    writeFileSync(join(run, 'evaluations/test/asked.json'), '{}');
    for (const busy of [run, join(run, 'evaluations/test'), join(run, '..')]) {
      const unlock = lockFolder(busy);
      const refused = await kgwalk('runs', 'remove', run, '--yes');
      expect([refused.exitCode, refused.err]).toEqual([
        2,
        expect.stringContaining(`expected a run that no process writes to, got one in use, at ${busy}\n`),
      ]);
      unlock();
    }
    expect((await kgwalk('runs', 'remove', run, '--yes')).exitCode).toBe(0);
  });

  test('refuses what is no run, lies elsewhere, or is reached by a link, and deletes nothing', async () => {
    const elsewhere = runAt('there', folderWith({}));
    mkdirSync(join(runsFolder(), 'evaluations/x'), { recursive: true });
    writeFileSync(join(runsFolder(), 'evaluations/x/evaluation.json'), '{}');
    symlinkSync(elsewhere, join(runsFolder(), 'linked'));
    symlinkSync(join(elsewhere, '..'), join(runsFolder(), 'above'));
    for (const [name, exitCode, error] of [
      ['evaluations/x', 3, 'expected a run, got nothing'],
      [join(runsFolder(), 'evaluations/x'), 3, 'expected a run, got a folder without config.yaml'],
      ['nothing', 3, 'expected a run, got nothing'],
      ['..', 2, 'expected a name inside'],
      [elsewhere, 2, `expected a name inside ${runsFolder()}`],
      ['linked', 2, 'expected a path without links'],
      ['above/there', 2, 'expected a path without links'],
    ] as const) {
      const refused = await kgwalk('runs', 'remove', name, '--yes');
      expect([name, refused.exitCode, refused.err]).toEqual([name, exitCode, expect.stringContaining(error)]);
    }
    expect(existsSync(join(elsewhere, 'config.yaml'))).toBe(true);
    expect(readdirSync(runsFolder()).sort()).toEqual(['above', 'evaluations', 'linked']);
  });

  test('deletes a link in a run, not what it leads to', async () => {
    const kept = folderWith({ 'file.txt': 'kept' });
    symlinkSync(kept, join(runAt('a'), 'link'));
    expect((await kgwalk('runs', 'remove', 'a', '--yes')).exitCode).toBe(0);
    expect(readdirSync(kept)).toEqual(['file.txt']);
  });
});

describe('datasets remove', () => {
  const folder = () => join(env.KGWALK_HOME!, 'datasets');

  test('deletes a data set, with what a killed import left of it, and names the runs on it', async () => {
    await importFilms();
    runAt('on-films');
    runAt('on-others', runsFolder(), { data: { dataset: 'others' } });
    mkdirSync(join(folder(), '.films.old'));
    writeFileSync(join(folder(), '.films.old/dataset.json'), '{}');
    const { exitCode, out, err } = await kgwalk('datasets', 'remove', 'films', '--yes');
    expect([exitCode, out, err]).toEqual([
      0,
      expect.stringMatching(/^removed .*datasets\/films: \d+ bytes\n$/),
      'needed by on-films\n',
    ]);
    expect(readdirSync(folder())).toEqual([]);
    expect((await kgwalk('datasets', 'remove', 'films', '--yes')).err).toContain(
      'expected an imported data set, got "films"',
    );
  });

  test('refuses other folders, links and names that lead out', async () => {
    await importFilms();
    mkdirSync(join(folder(), 'own'));
    const elsewhere = folderWith({});
    renameSync(join(folder(), 'films'), join(elsewhere, 'films'));
    symlinkSync(join(elsewhere, 'films'), join(folder(), 'films'));
    for (const [name, error] of [
      ['own', 'expected an imported data set'],
      ['films', 'expected a path without links'],
      ['../datasets', 'expected a data set name'],
    ] as const) {
      expect((await kgwalk('datasets', 'remove', name, '--yes')).err).toContain(error);
    }
    expect(readdirSync(folder()).sort()).toEqual(['films', 'own']);
    expect(existsSync(join(elsewhere, 'films/dataset.json'))).toBe(true);
  });
});

describe('models remove', () => {
  test('deletes a model with its record and what a download left, and names the runs with its vectors', async () => {
    mkdirSync(join(modelsFolder(), 'tiny.gguf.download'), { recursive: true });
    writeFileSync(join(modelsFolder(), 'tiny.gguf.download/part'), 'abc');
    for (const name of ['tiny.gguf', 'tiny.json', 'other.gguf']) writeFileSync(join(modelsFolder(), name), 'abcd');
    runAt('with-tiny', runsFolder(), { encoder: { model: 'tiny' } });
    const unlock = lockFolder(join(modelsFolder(), 'tiny.gguf.download'), 'a download');
    expect((await kgwalk('models', 'remove', 'tiny', '--yes')).err).toContain(
      'expected a download without another writer',
    );
    unlock();
    expect(await kgwalk('models', 'remove', 'tiny', '--yes')).toMatchObject({
      out: expect.stringMatching(/^removed .*models\/tiny\.gguf: \d+ bytes\n$/),
      err: 'needed by with-tiny\n',
    });
    expect(readdirSync(modelsFolder())).toEqual(['other.gguf']);
  });

  test('refuses the embedded model, names without a download, paths and links', async () => {
    mkdirSync(modelsFolder(), { recursive: true });
    const elsewhere = folderWith({ 'big.gguf': 'abc' });
    symlinkSync(join(elsewhere, 'big.gguf'), join(modelsFolder(), 'big.gguf'));
    for (const [name, error] of [
      ['demo', 'expected a downloaded model, got demo'],
      ['none', 'Downloaded: big. The embedded model belongs to the package.'],
      [join(elsewhere, 'big.gguf'), 'expected a name of a model'],
      ['big', 'expected a path without links'],
    ] as const) {
      expect((await kgwalk('models', 'remove', name, '--yes')).err).toContain(error);
    }
    expect(readdirSync(elsewhere)).toEqual(['big.gguf']);
    expect(readdirSync(modelsFolder())).toEqual(['big.gguf']);
  });
});
