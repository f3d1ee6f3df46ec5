import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { beforeAll, expect, test } from '@jest/globals';
import { runFiles } from '../../src/run/run-files.js';
import { kgwalk } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { folderWith } from '../fixtures/tiny-release.js';

let home: string;
beforeAll(async () => {
  home = env.KGWALK_HOME = folderWith({});
  await finishedRun('dialogues');
  await finishedRun('links');
  rmSync(runFiles(await finishedRun('questions')).checkpoints, { recursive: true });
});

test.each([
  [
    'links-run',
    /expected a run that a page can hold, got .*another kind[^]*dialogue walkers .* relation walkers .* chains/,
  ],
  ['nowhere', /expected a run, got nothing/],
  ['questions-run', /expected .*checkpoint/],
])('export of %s is one clear error, and no file', async (name, message) => {
  const page = join(home, `${name}.html`);
  const { exitCode, err } = await kgwalk('export', join(home, name), '--html', page);
  expect([exitCode > 0, existsSync(page)]).toEqual([true, false]);
  expect(err).toMatch(message);
});

test('export asks for the kind of file', async () => {
  const { exitCode, err } = await kgwalk('export', join(home, 'dialogues-run'));
  expect([exitCode, err]).toEqual([2, expect.stringContaining('Add --html')]);
});

test('a page lies in the folder of its run unless it is placed, and is written again over an older one', async () => {
  for (const _ of [1, 2]) {
    const { out } = await kgwalk('export', join(home, 'dialogues-run'), '--html', '--json');
    const { page, bytes } = JSON.parse(out) as { page: string; bytes: number };
    expect(page).toBe(join(home, 'dialogues-run', 'agent.html'));
    expect(bytes).toBeLessThan(1e6);
    expect(existsSync(page)).toBe(true);
  }
});
