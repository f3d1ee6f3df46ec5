/** `kgwalk sweep` by words: what is refused before anything starts. The runs themselves: test/faults/killed-sweep.long.test.ts. */
import { existsSync, readdirSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { openSweep, plannedSweep } from '../../plans/sweep.js';
import { parseSpace } from '../../plans/space.js';

useOwnHome();

describe('is refused with one clear error, and nothing is made:', () => {
  const grid = ['--grid', 'ppo.clipRange=0.1,0.2'];
  const sample = ['--sample', 'ppo.learningRate=log:1e-4..1e-2'];

  test.each<[string, string[], string, string?]>([
    [
      'an unknown key',
      ['demo', '--grid', 'ppo.clipRnge=0.1'],
      'unknown key ppo.clipRnge; did you mean ppo.clipRange?, at --grid ppo.clipRnge',
    ],
    ['nothing to vary', ['demo'], 'expected something to vary', '--grid ppo.clipRange=0.1,0.2'],
    ['draws without a number', ['demo', ...sample], 'expected --trials with --sample, got none', '--trials 20'],
    ['no jobs', ['demo', ...grid, '--jobs', '0'], 'expected a whole number from 1, got "0", at --jobs'],
    ['no seeds', ['demo', ...grid, '--seeds', '0'], 'expected a whole number from 1, got "0", at --seeds'],
    ['a seed twice', ['demo', ...grid, '--seeds', '1,1'], 'expected different seeds, got 1,1, at --seeds'],
    ['no minutes', ['demo', ...grid, '--max-minutes', '0'], 'expected a number above 0, got "0", at --max-minutes'],
    [
      'a figure of test',
      ['demo', ...grid, '--metric', 'test/path@1'],
      'expected a figure of valid under eval/',
      'test never chooses',
    ],
    ['η without halving', ['demo', ...grid, '--eta', '2'], 'expected --halving with --eta'],
    [
      'an η of 1',
      ['demo', ...grid, '--halving', '5', '--eta', '1'],
      'expected a whole number from 2, got "1", at --eta',
    ],
    [
      'a name that leads out',
      ['demo', ...grid, '--name', '../x'],
      'expected letters, digits, dots and dashes, got "../x", at --name',
    ],
    ['two places', ['demo', ...grid, '--name', 'x', '--run-dir', 'y'], 'expected --name or --run-dir, got both'],
  ])('%s', async (_, words, message, hint = '') => {
    const folder = join(folderWith({}), 'sweep');
    const place = words.includes('--name') ? [] : ['--run-dir', folder];
    const { exitCode, err } = await kgwalk('sweep', ...words, ...place);
    expect([exitCode, err]).toEqual([2, expect.stringContaining(message)]);
    expect(err).toContain(hint);
    expect(existsSync(folder)).toBe(false);
  });

  test('data that is not there', async () => {
    const folder = join(folderWith({}), 'sweep');
    const { exitCode, err } = await kgwalk('sweep', 'demo', ...grid, '--run-dir', folder);
    expect([exitCode, err]).toEqual([3, expect.stringContaining('expected an imported data set, got "demo"')]);
    expect(existsSync(folder)).toBe(false);
  });

  test('a folder with a sweep of other arguments, naming the difference', async () => {
    const folder = join(folderWith({}), 'sweep');
    openSweep(folder, await plannedSweep(planOf('ppo.clipRange=0.1,0.2')), false).close();
    const other = ['sweep', 'demo', '--grid', 'ppo.clipRange=0.1,0.3'];
    const { exitCode, err } = await kgwalk(...other, '--run-dir', folder, '--resume');
    expect(exitCode).toBe(2);
    expect(err).toContain('--grid ppo.clipRange: 0.1,0.2 in the sweep, 0.1,0.3 asked for');
    expect(readdirSync(folder).sort()).toEqual(['sweep.json', 'trials.jsonl']);
  });
});

const planOf = (grid: string) => ({
  ...{ preset: 'demo', overrides: [], dimensions: parseSpace([grid], []), seeds: [0] },
  ...{ seed: 0, better: 'high' as const },
});

test('runs list shows a sweep in one row, and one that is broken with its problem', async () => {
  const runs = folderWith({});
  const sweep = openSweep(join(runs, 'sweep-a'), await plannedSweep(planOf('ppo.clipRange=0.1,0.2,0.3')), false);
  for (const trial of [1, 2]) sweep.append({ kind: 'trial', trial, set: { 'ppo.clipRange': trial / 10 } });
  sweep.append({ kind: 'end', trial: 1, seed: 0, state: 'finished', value: 0.5, metric: 'eval/path@1' });
  sweep.append({ kind: 'end', trial: 2, seed: 0, state: 'failed', reason: 'no memory' });
  const shown = () => kgwalkJson<object[]>('runs', 'list', runs);
  expect(await shown()).toEqual([
    {
      ...{ run: 'sweep-a', status: 'running', metric: 'eval/path@1', score: 0.5 },
      ...{ preset: 'demo', trials: '2 of 3', problem: '1 failed' },
    },
  ]);
  sweep.close();
  expect(await shown()).toMatchObject([{ status: 'stopped' }]);
  mkdirSync(join(runs, 'sweep-b'));
  writeFileSync(join(runs, 'sweep-b', 'sweep.json'), '{}');
  expect(await shown()).toMatchObject([
    { run: 'sweep-a' },
    { run: 'sweep-b', status: 'broken', problem: expect.stringContaining('a sweep') },
  ]);
});
