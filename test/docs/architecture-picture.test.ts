import { readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript, a tool of the repository
import * as tool from '../../.ci/draw-architecture.js';

interface Row {
  name: string;
  says: string | undefined;
  folders: string[];
  stations: string[];
  imports: string[];
}
const { draw, picture, structure } = tool as { draw(): string; picture: string; structure(): Row[] };

describe('the picture of the architecture', () => {
  const rows = structure();
  const row = (name: string) => rows.find((one) => one.name === name)!;

  test('is that of the code: `node .ci/draw-architecture.js` draws it again', () => {
    expect(readFileSync(picture, 'utf8')).toBe(draw());
  });

  test('has a row with words for every layer, and imports that go down', () => {
    expect(rows.map(({ name }) => name).slice(0, 4)).toEqual(['cli', 'export', 'serve', 'reports']);
    expect(rows.filter(({ says }) => !says).map(({ name }) => name)).toEqual([]);
    const places = new Map(rows.map(({ name }, i) => [name, i]));
    const up = rows.flatMap(({ name, imports }) =>
      imports.filter((other) => places.get(other)! < places.get(name)!).map((other) => `${name} → ${other}`),
    );
    expect(up).toEqual([]);
  });

  test('knows folders and imports of all kinds', () => {
    expect(row('tasks').folders).toEqual(['dialogues', 'episodes', 'links', 'questions']);
    expect(row('reports').imports).toEqual(['src/metrics', 'src/run']);
    expect(row('cli').imports).toContain('reports'); // by `import()` alone
  });

  test.each(['docs/architecture.md', 'CONTRIBUTING.md'])('%s names files and folders that are there', (page) => {
    const folders = readdirSync('.').filter((name) => !['node_modules', 'dist', '.git'].includes(name));
    const under = (name: string) => (statSync(name).isDirectory() ? readdirSync(name, { recursive: true }) : []);
    const files = folders.flatMap((folder) => [
      `/${folder}`,
      ...under(folder).map((file) => posix.join('/', folder, String(file))),
    ]);
    const named = [...readFileSync(page, 'utf8').matchAll(/`((?:[\w.-]+\/)*[\w-]+\.(?:test\.ts|ts|js))`/g)];
    const missing = named.map(([, name]) => name!).filter((name) => !files.some((file) => file.endsWith(`/${name}`)));
    expect(missing).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });

  test('has the functions between the command and the loss, each called by the one before', () => {
    const calls = [
      ['cli/train.ts', 'await trainRun('],
      ['tasks/train.ts', 'await trainRun('],
      ['trainers/train.ts', 'await runPhase('],
      ['trainers/phase.ts', 'await phase.step('],
      ['trainers/ppo-phase.ts', 'step: trainer.step.bind(trainer)'],
      ['trainers/ppo.ts', 'await ppoStep('],
      ['trainers/ppo-step.ts', ' ppoObjective('],
    ] as const;
    expect(calls.filter(([file, call]) => !readFileSync(file, 'utf8').includes(call))).toEqual([]);
  });

  test('has the dozen stations of the page', () => {
    const numbers = rows.flatMap(({ stations }) => stations).map(Number);
    expect(numbers.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
});
