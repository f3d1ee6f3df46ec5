/** SIGKILL on the built program in the middle of an evaluation: `npm test` builds it first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Rng } from '../../src/run/seeds.js';
import { kgwalk } from '../fixtures/command-line.js';
import { often, tally } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();

const kills = often(1, 20);

const words = (root: string) => [
  ...['evaluate', '--agent', 'fiske', '--model', 'oracle:0.2', '--json'],
  ...['--dataset', 'films', '--split', 'train', '--evaluations', root],
];

/** Every file of the only evaluation in `root` whose bytes must not depend on how it came to be. */
function resultsIn(root: string) {
  const folder = join(root, readdirSync(root)[0]!);
  const files = ['asked.json', 'answers.jsonl', 'traces.jsonl', 'rows.arrow', 'evaluation.json', 'seal.json'];
  const stored = readFileSync(join(folder, 'completions.jsonl'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (line === '') return [];
      const { line: kind, key } = JSON.parse(line) as { line: string; key: string };
      return kind === 'completion' ? [key] : [];
    });
  return { bytes: files.map((name) => readFileSync(join(folder, name))), stored };
}

/** Kills the program once the completions have grown to `size` bytes. @returns whether it was killed before it was done */
async function killedAt(size: number, root: string): Promise<boolean> {
  const child = spawn(execPath, ['dist/cli/main.js', ...words(root)], { env, stdio: 'ignore' });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const grown = () => {
    const [name] = existsSync(root) ? readdirSync(root) : [];
    const file = name && join(root, name, 'completions.jsonl');
    return file && existsSync(file) ? statSync(file).size : 0;
  };
  while (grown() < size && child.exitCode === null) await setTimeout(1);
  child.kill('SIGKILL');
  const [code] = await ended;
  return code === null;
}

test('killed at random moments and run again it asks nothing twice and gives the unbroken result', async () => {
  await importFilms();
  const whole = folderWith({});
  expect((await kgwalk(...words(whole))).exitCode).toBe(0);
  const unbroken = resultsIn(whole);
  expect(new Set(unbroken.stored).size).toBe(unbroken.stored.length);
  const size = statSync(join(whole, readdirSync(whole)[0]!, 'completions.jsonl')).size;

  const rng = new Rng(kills);
  let died = 0;
  for (let i = 0; i < kills; i++) {
    const root = folderWith({});
    // Twice on the way, the second time further on.
    const first = rng.integer(size);
    for (const at of [first, first + rng.integer(size - first)]) if (await killedAt(at, root)) died++;
    expect((await kgwalk(...words(root))).exitCode).toBe(0);
    const { bytes, stored } = resultsIn(root);
    expect(bytes).toEqual(unbroken.bytes);
    expect([...stored].sort()).toEqual([...unbroken.stored].sort());
    const left = readdirSync(root, { recursive: true }) as string[];
    expect(left.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  }
  expect(died).toBeGreaterThan(0);
  tally('moments killed', died);
});
