import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { dialogueAgents } from '../../agents/dialogue-agents.js';
import { evaluationFiles, saveEvaluation } from '../../evaluation/keep.js';
import { evaluationSettings } from '../../trainers/run-settings.js';
import { predictionsFile } from '../../tasks/dialogues/predictions.js';
import { dialogueMeasure } from '../../tasks/dialogues/score.js';
import { evaluatedDialogues } from '../fixtures/evaluated.js';
import { readJsonLines } from '../../src/run/json-lines.js';
import { namedWalk, sampleOf, world } from '../agents/baselines/toy-world.js';

const samples = [
  sampleOf('a', namedWalk('Heat', 'directed_by', 'Mann')),
  sampleOf('b', [[world.entityId('Lonely'), 0, 0]]),
];
let folder = '';
let evaluation: Awaited<ReturnType<typeof evaluatedDialogues>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-evaluation-'));
  const agent = await dialogueAgents.create('frequency', {
    graph: world,
    train: samples.slice(0, 1),
    ranking: { beamWidth: 30 },
  } as never);
  evaluation = await evaluatedDialogues(agent, samples, {
    graph: world,
    settings: evaluationSettings.parse({ resamples: 20 }),
    seenTargets: new Set(),
    about: { dataset: 'toy', split: 'valid', turns: 'all' },
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a run keeps the record as JSON and the rows as Arrow, with equal bytes each time', async () => {
  const files = evaluationFiles(join(folder, 'evaluations', 'valid-best'));
  saveEvaluation(join(folder, 'evaluations', 'valid-best'), evaluation, dialogueMeasure);
  expect(JSON.parse(readFileSync(files.evaluation, 'utf8'))).toEqual(evaluation.record);
  expect(readJsonLines(files.answers, dialogueMeasure.row)).toEqual(evaluation.rows);
  const arrow = readFileSync(files.rows);
  const rows = tableFromIPC(arrow)
    .toArray()
    .map((row) => row!.toJSON());
  expect(rows[0]).toMatchObject({ id: 'a', hops: 1, path: 1, target: 1, seen: false, first: true, miss: '' });
  expect(rows[1]).toMatchObject({ id: 'b', path: 0, miss: 'start-without-edges' });
  expect(rows[1]!.log_prob).toBeNaN();
  const again = evaluationFiles(join(folder, 'evaluations', 'again'));
  saveEvaluation(join(folder, 'evaluations', 'again'), evaluation, dialogueMeasure);
  for (const name of ['evaluation', 'answers', 'rows', 'seal'] as const) {
    expect(readFileSync(again[name]).equals(readFileSync(files[name]))).toBe(true);
  }
});

function predict(name: string): string {
  const file = join(folder, name);
  const predictions = predictionsFile(file);
  const data = { samples, graph: world };
  // In another order than that of the samples.
  [1, 0].forEach((i) => {
    const answer = evaluation.answers[i];
    predictions.take(samples[i]!, answer && { answer }, data);
  });
  predictions.write();
  return file;
}

test('predictions are names, one sample a line of JSON or one path a line of CSV', () => {
  const jsonl = predict('predictions.jsonl');
  const [first, second] = readFileSync(jsonl, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({ id: 'a', start: 'Heat', gold: [['Heat', 'directed_by', 'Mann']] });
  expect(first.paths[0].path).toEqual([['Heat', 'directed_by', 'Mann']]);
  expect(first.answers[0].entity).toBe('Mann');
  expect(second.paths).toEqual([]);

  const csv = predict('predictions.csv');
  const rows = parse(readFileSync(csv, 'utf8'), { columns: true }) as Record<string, string>[];
  expect(rows).toHaveLength(10 + 1);
  expect(rows[0]).toMatchObject({ id: 'a', rank: '1', target: 'Mann' });
  expect(JSON.parse(rows[0]!.path!)).toEqual([['Heat', 'directed_by', 'Mann']]);
  expect(rows.at(-1)).toMatchObject({ id: 'b', rank: '0' });
});

test('predictions need a name whose format is known', () => {
  expect(() => predictionsFile(join(folder, 'x.txt'))).toThrow(/\.jsonl or \.csv/);
});
