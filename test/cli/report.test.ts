import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useBlankPictures } from '../fixtures/blank-pictures.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { madeUpAnswers, writeMadeUpEvaluation } from '../fixtures/made-up-evaluations.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { importFilms } from '../fixtures/toy-question-training.js';

useBlankPictures();
useOwnHome();

/** Request of an evaluation that can be resumed. */
const begun = {
  ...{ schemaVersion: 2, kind: 'evaluation', task: 'questions', agent: 'fiske', resamples: 1000, hashes: {} },
  about: { dataset: 'harbour', split: 'dev-valid' },
};

test('kgwalk report takes evaluations by folder and by name, and writes next to them', async () => {
  const root = folderWith({});
  const [fiske, tog] = ['fiske', 'tog'].map((agent) =>
    writeMadeUpEvaluation(join(root, agent), { record: madeUpAnswers(agent, 0.5) }),
  ) as [string, string];
  const one = await kgwalkJson<{ page: string }>('report', 'tog', '--evaluations', root);
  expect(one.page).toBe(join(tog, 'report', 'index.html'));
  const both = await kgwalkJson<{ page: string; pictures: string[] }>('report', fiske, tog);
  expect(both.page).toBe(join(root, 'report-fiske-tog', 'index.html'));
  // Another comparison lies next to it.
  const other = await kgwalkJson<{ page: string }>('report', tog, fiske);
  expect([other.page, existsSync(both.page)]).toEqual([join(root, 'report-tog-fiske', 'index.html'), true]);
  expect(readFileSync(both.page, 'utf8')).toContain('2 agents on the questions of harbour');
  expect(both.pictures.every((file) => existsSync(file))).toBe(true);
});

test('kgwalk report prints how to resume an evaluation that was stopped', async () => {
  const folder = writeMadeUpEvaluation(join(folderWith({}), 'fiske'), {
    record: madeUpAnswers('fiske', 0.5),
  });
  rmSync(join(folder, 'evaluation.json'));
  writeFileSync(join(folder, 'asked.json'), JSON.stringify(begun));
  const { exitCode, err } = await kgwalk('report', folder);
  expect(exitCode).not.toBe(0);
  expect(err).toContain('expected a finished evaluation, got one that was stopped');
  expect((await kgwalk('report', 'nothing-like-it')).err).toContain('expected a run');
});

test('kgwalk compare --report writes the page of what it compared, with worked questions', async () => {
  await importFilms();
  const kept = folderWith({});
  const to = join(kept, 'page');
  const films = ['--dataset', 'films', '--encoder', 'hashed:32', '--evaluations', kept, '--model', 'oracle:0'];
  const { agents, report } = await kgwalkJson<{ agents: unknown[]; report: { page: string } }>(
    ...['compare', 'tog', 'fiske', ...films, '--report', to],
  );
  expect(agents).toHaveLength(2);
  expect(report.page).toBe(join(to, 'index.html'));
  const html = readFileSync(report.page, 'utf8');
  for (const part of [
    '2 agents on the questions of films',
    'oracle:0, simulated',
    'Worked examples',
    'stop: covered',
  ]) {
    expect(html).toContain(part);
  }
});
