/** Words of the live page: they are those of the report. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { escapeText } from '../../reports/html.js';
import { writeReport } from '../../reports/report.js';
import { phaseHeading, phaseName } from '../../reports/titles.js';
import type { RunSummary, ShownExample, ShownSet } from '../../serve/api.js';
import { serve, type Serving } from '../../serve/server.js';
import { openRun } from '../../src/run/run-folder.js';
import { madeUpCurves, madeUpEvaluation, madeUpExamples, writeMadeUpRun } from '../fixtures/made-up-runs.js';
import { folderWith } from '../fixtures/tiny-release.js';

const runs = folderWith({});
let serving: Serving;
let html: string;

const get = async <T>(path: string) => (await fetch(`${serving.url}api/${path}`)).json() as Promise<T>;

beforeAll(async () => {
  for (const algorithm of ['ppo', 'reinforce']) {
    writeMadeUpRun(join(runs, algorithm), {
      config: { name: algorithm, ppo: { enabled: true, algorithm }, data: { dataset: 'opendialkg' } },
      metrics: madeUpCurves(1, 20),
      evaluations: [
        madeUpEvaluation(algorithm, 0.28, { checkpoint: 'best', examples: madeUpExamples }),
        madeUpEvaluation('frequency', 0.2),
      ],
    });
  }
  const { page } = await writeReport(
    ['ppo', 'reinforce'].map((name) => openRun(join(runs, name))),
    { to: join(folderWith({}), 'report') },
  );
  html = readFileSync(page, 'utf8');
  serving = await serve({ roots: [runs], port: 0 });
});
afterAll(() => serving.close());

test('headings, heads, figures and captions of results', async () => {
  const { sets } = await get<{ sets: ShownSet[] }>('results');
  expect(sets).toHaveLength(1);
  const { heading, table, caption } = sets[0]!.shown;
  expect(table.head.length).toBeGreaterThan(2);
  expect(table.rows.map(({ own }) => own)).toEqual([true, true, false]);
  const texts = table.rows.flatMap(({ cells }) => cells.flatMap(({ text, details = [] }) => [text, ...details]));
  for (const text of [heading, caption, ...table.head, ...texts]) expect(html).toContain(`>${escapeText(text)}<`);
});

test('verdicts of examples', async () => {
  const { sets } = await get<{ sets: ShownSet[] }>('results');
  const [key] = sets[0]!.rows[0]!.evaluations;
  const { examples } = await get<{ examples: ShownExample[] }>(`examples?evaluation=${encodeURIComponent(key!)}`);
  for (const { verdict } of examples) expect(html).toContain(`>${escapeText(verdict)}<`);
});

test('phases of runs, by their algorithms', async () => {
  const { runs: listed } = await get<{ runs: RunSummary[] }>('list');
  const algorithms = listed.flatMap(({ algorithm }) => algorithm ?? []);
  expect(listed.map(({ key, algorithm }) => [basename(key), algorithm])).toEqual([
    ['ppo', 'PPO'],
    ['reinforce', 'REINFORCE'],
  ]);
  expect(html).toContain(`<h3>${phaseHeading(phaseName('ppo', algorithms), undefined)}</h3>`);
});

test.each<[string, string[], string | undefined, string]>([
  ['ppo', [], undefined, 'PPO'],
  ['ppo', ['REINFORCE'], undefined, 'REINFORCE'],
  ['ppo', ['REINFORCE', 'PPO', 'PPO'], 'umls', 'PPO and REINFORCE on umls'],
  ['clone', ['PPO'], 'umls', 'cloning on umls'],
  ['own-phase', [], undefined, 'own-phase'],
])('heading of %s by %j on %s', (phase, algorithms, dataset, heading) => {
  expect(phaseHeading(phaseName(phase, algorithms), dataset)).toBe(heading);
});
