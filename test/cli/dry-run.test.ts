import { describe, expect, test } from '@jest/globals';
import { dryRun } from '../../cli/dry-run.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { tinySettings } from '../fixtures/tiny-training.js';
import { filmSettings, importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();

const work = async (settings: Parameters<typeof dryRun>[0]) =>
  Object.fromEntries((await dryRun(settings)).map(({ phase, work }) => [phase, String(work)]));

describe('a dry run', () => {
  test('counts the work on dialogues', async () => {
    await importOpenDialKg({ from: folderWith(releaseFiles) });
    const phases = await work(tinySettings());
    expect(Object.keys(phases)).toEqual(['data', 'transe', 'encode', 'clone', 'ppo']);
    expect(phases).toMatchObject({
      data: expect.stringMatching(/^3 train and \d+ valid samples on graph dialogue$/),
      clone: '6 updates of 1 samples',
      ppo: '4 updates of 2 samples, 4 walks each',
    });
  });

  test('counts the work on questions', async () => {
    await importFilms();
    expect(await work(filmSettings())).toMatchObject({
      data: expect.stringMatching(/^\d+ train and \d+ valid questions on graph films$/),
      transe: 'off',
      encode: expect.stringMatching(/^5 distinct texts/),
      clone: 'off',
      ppo: '20 updates of 8 questions, 8 walks each',
    });
  });

  test('refuses what training would refuse', async () => {
    await expect(dryRun(filmSettings('clone.enabled=true'))).rejects.toMatchObject({ code: 'config' });
  });
});
