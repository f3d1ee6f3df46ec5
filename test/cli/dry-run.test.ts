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
    expect(Object.keys(phases)).toEqual(['data', 'networks', 'transe', 'encode', 'clone', 'ppo']);
    expect(phases).toMatchObject({
      networks: expect.stringMatching(/^computed on (host|wasm|cpu|tensorflow): ./),
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

  test('counts the states that walks come to where each is encoded', async () => {
    await importOpenDialKg({ from: folderWith(releaseFiles) });
    const plain = ['walker.head=pa-mlp', 'clone.enabled=false', 'ppo.init=scratch', 'ppo.klCoef=0'];
    const phases = await work(tinySettings('stateText.encode=per-step', ...plain));
    expect(Object.keys(phases)).toEqual([
      'data',
      'networks',
      'transe',
      'encode',
      'first states',
      'later states',
      'clone',
      'ppo',
    ]);
    expect(phases).toMatchObject({
      'first states': expect.stringMatching(/^\d distinct texts, about \d+ tokens, 100 % of them new$/),
      'later states': expect.stringMatching(
        /^at most \d+ texts in training and \d+ on valid, of \d+ that there are; about \d+ tokens, 100 % of them new$/,
      ),
    });
  });

  test('refuses what training would refuse', async () => {
    await expect(dryRun(filmSettings('clone.enabled=true'))).rejects.toMatchObject({ code: 'config' });
  });
});
