import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { dialogueAgents } from '../../agents/dialogue-agents.js';
import { evaluateAgent, type Evaluation } from '../../evaluation/evaluate.js';
import { writePredictions } from '../../evaluation/predictions-file.js';
import { saveEvaluation } from '../../evaluation/save-evaluation.js';
import { evaluationSettings } from '../../evaluation/settings.js';
import { namedWalk, sampleOf, world } from '../agents/baselines/toy-world.js';

const samples = [
  sampleOf('a', namedWalk('Heat', 'directed_by', 'Mann')),
  sampleOf('b', [[world.entityId('Lonely'), 0, 0]]),
];
let folder = '';
let evaluation: Evaluation;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-evaluation-'));
  const agent = await dialogueAgents.create('frequency', {
    graph: world,
    train: samples.slice(0, 1),
    ranking: { beamWidth: 30 },
  } as never);
  evaluation = await evaluateAgent(agent, samples, {
    graph: world,
    settings: evaluationSettings.parse({ resamples: 20 }),
    seenTargets: new Set(),
    about: { dataset: 'toy', split: 'valid', turns: 'all' },
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a run keeps the record as JSON and the rows as Arrow, with equal bytes each time', async () => {
  const file = await saveEvaluation(folder, 'valid-best', evaluation);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(evaluation.record);
  const arrow = readFileSync(join(folder, 'evaluations', 'valid-best.arrow'));
  const rows = tableFromIPC(arrow)
    .toArray()
    .map((row) => row!.toJSON());
  expect(rows[0]).toMatchObject({ id: 'a', hops: 1, path: 1, target: 1, seen: false, first: true, miss: '' });
  expect(rows[1]).toMatchObject({ id: 'b', path: 0, miss: 'start-without-edges' });
  expect(rows[1]!.log_prob).toBeNaN();
  await saveEvaluation(folder, 'again', evaluation);
  expect(readFileSync(join(folder, 'evaluations', 'again.arrow')).equals(arrow)).toBe(true);
});

test('predictions are names, one sample a line of JSON or one path a line of CSV', () => {
  const predictions = { samples, answers: evaluation.answers, graph: world };
  const jsonl = join(folder, 'predictions.jsonl');
  writePredictions(jsonl, predictions);
  const [first, second] = readFileSync(jsonl, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({ id: 'a', start: 'Heat', gold: [['Heat', 'directed_by', 'Mann']] });
  expect(first.paths[0].path).toEqual([['Heat', 'directed_by', 'Mann']]);
  expect(first.answers[0].entity).toBe('Mann');
  expect(second.paths).toEqual([]);

  const csv = join(folder, 'predictions.csv');
  writePredictions(csv, predictions);
  const rows = parse(readFileSync(csv, 'utf8'), { columns: true }) as Record<string, string>[];
  expect(rows).toHaveLength(10 + 1);
  expect(rows[0]).toMatchObject({ id: 'a', rank: '1', target: 'Mann' });
  expect(JSON.parse(rows[0]!.path!)).toEqual([['Heat', 'directed_by', 'Mann']]);
  expect(rows.at(-1)).toMatchObject({ id: 'b', rank: '0' });
});

test('predictions need a name whose format is known', () => {
  expect(() => writePredictions(join(folder, 'x.txt'), { samples, answers: [], graph: world })).toThrow(
    /\.jsonl or \.csv/,
  );
});
