/** Folders in which nothing can be written: every command reports it with the place, and leaves the files as they are. */
import { cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kgwalk } from '../fixtures/command-line.js';
import { tally } from '../fixtures/long-tests.js';
import { smallDisk } from '../fixtures/small-disk.js';
import { tinyLlama } from '../fixtures/tiny-llama.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { stopAt, tinyOverrides, tinySettings } from '../fixtures/tiny-training.js';
import { importFilms } from '../fixtures/toy-question-training.js';
import { train } from '../../tasks/train.js';

const disk = smallDisk(16);
const [home, runs] = [join(disk.folder, 'home'), join(disk.folder, 'runs')];
const set = tinyOverrides.flatMap((one) => ['--set', one]);

/** Every file with its size and time of change. */
const listing = () =>
  (readdirSync(disk.folder, { recursive: true }) as string[]).sort().map((name) => {
    const { size, mtimeMs } = statSync(join(disk.folder, name));
    return `${name} ${size} ${mtimeMs}`;
  });

disk.describe('on a file system that is read-only', () => {
  const from = folderWith(releaseFiles);
  let model: string;

  beforeAll(async () => {
    env.KGWALK_HOME = home;
    model = (await tinyLlama()).path;
    await kgwalk('datasets', 'import', 'opendialkg', '--from', from);
    await importFilms();
    await train({ settings: tinySettings(), folder: join(runs, 'whole') });
    await train({ settings: tinySettings(), folder: join(runs, 'stopped'), ...stopAt('ppo', 2) }).catch(() => {});
    disk.readOnly(true);
  });
  afterAll(() => {
    disk.readOnly(false);
  });

  const elsewhere = () => join(folderWith({}), 'run');
  const words: Record<string, () => string[]> = {
    'a new run': () => ['train', 'opendialkg-tiny', ...set, '--run-dir', join(runs, 'new')],
    'resuming a run': () => ['train', '--resume', '--run-dir', join(runs, 'stopped')],
    'TransE tables': () => [
      'pretrain',
      'opendialkg',
      '--set',
      'transe.dim=8',
      '--set',
      'transe.epochs=2',
      '--seed',
      '9',
    ],
    'text vectors': () => ['train', 'opendialkg-tiny', ...set, '--model', model, '--run-dir', elsewhere()],
    'an import': () => ['datasets', 'import', 'opendialkg', '--from', from],
    'a report': () => ['report', join(runs, 'whole')],
    'an export': () => ['checkpoint', 'export', join(runs, 'whole'), '--to', join(runs, 'weights.safetensors')],
    'an evaluation of questions': () => [
      ...['evaluate', '--agent', 'fiske', '--model', 'oracle:0', '--dataset', 'films', '--split', 'train'],
      ...['--evaluations', join(runs, 'evaluations')],
    ],
    predictions: () => [
      ...['evaluate', join(runs, 'whole'), '--split', 'valid'],
      ...['--predictions', join(runs, 'predictions.jsonl')],
    ],
  };

  test.each(Object.keys(words))('%s cannot be written, which is one clear error', async (what) => {
    const before = listing();
    const { exitCode, err } = await kgwalk(...words[what]!());
    expect(err).toMatch(/expected (a place that can be written|a usable cache), got/);
    expect(err).toContain(disk.folder);
    expect(exitCode).toBe(1);
    expect(listing()).toEqual(before);
    tally('faults injected');
  });

  test('what only reads works', async () => {
    for (const command of [
      ['runs', 'list', runs],
      ['checkpoint', 'list', join(runs, 'whole')],
      ['datasets', 'check', 'opendialkg'],
    ]) {
      expect(await kgwalk(...command)).toMatchObject({ exitCode: 0 });
    }
  });

  test('a run that is copied to a writable place resumes', async () => {
    const folder = elsewhere();
    cpSync(join(runs, 'stopped'), folder, { recursive: true });
    expect(await kgwalk('train', '--resume', '--run-dir', folder)).toMatchObject({ exitCode: 0 });
  });
});
