import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Forecast } from '../../tasks/forecast.js';
import type { QuestionRow } from '../../tasks/questions/row.js';
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { type ChatAnswer, fails, says, useChatServers } from '../fixtures/chat-server.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { hosted, hostedAnswers } from '../fixtures/hosted-server.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { importFilms } from '../fixtures/toy-question-training.js';

useSharedHome(importFilms);
type Saved = EvaluationRecord & { saved: string };

const started = useChatServers();
const answersOf = hostedAnswers();
const common = ['--dataset', 'films', '--split', 'train', '--encoder', 'hashed:32', '--limit', '4'];
const wordsFor = (url: string, ...set: string[]) => [
  ...['--agent', 'tog', ...common, '--evaluations', folderWith({}), '--model', `${url}#m`],
  ...set.flatMap((one) => ['--model-set', one]),
];

/** Answers and calls: the same from every server whose replies can be read. */
const rowsOf = ({ saved }: Saved) =>
  readFileSync(`${dirname(saved)}/answers.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const { id, entities, calls, metrics } = JSON.parse(line) as QuestionRow;
      return { id, entities, calls, metrics };
    });

async function evaluated(behaviour: string, ...set: string[]) {
  const server = await started(answersOf(behaviour));
  const record = await kgwalkJson<Saved>('evaluate', ...wordsFor(server.url, ...set));
  return { record, rows: rowsOf(record), calls: server.calls };
}

let plain: Awaited<ReturnType<typeof evaluated>>;
beforeAll(async () => {
  plain = await evaluated('plain');
});

const withRoom = ['o-series that thinks', 'long thoughts', 'thoughts without marks'];
const neverRead = ['thoughts that never end', 'thoughts alone'];
const readable = Object.keys(hosted).filter((name) => name !== 'plain' && !neverRead.includes(name));

test('the plain server finds some answers, and its replies are counted', () => {
  const { record } = plain;
  expect(record.metrics['hit@1']!.value).toBeGreaterThan(0);
  expect(record.metrics).not.toHaveProperty('cut');
  expect(record.cost).toMatchObject({ promptTokens: { total: 100 * plain.calls.length } });
});

describe('a server whose replies can be read finds the same as the plain one', () => {
  test.each(readable)('%s', async (behaviour) => {
    const { record, rows } = await evaluated(behaviour, ...(withRoom.includes(behaviour) ? ['replyTokens=1000'] : []));
    expect(rows).toEqual(plain.rows);
    expect(record.metrics['hit@1']).toEqual(plain.record.metrics['hit@1']);
    expect(record.misses).toEqual(plain.record.misses);
    for (const key of ['cut', 'unreadable']) expect(record.metrics).not.toHaveProperty(key);
  });
});

describe('a reply that ends within thoughts is never a decision', () => {
  test.each([...withRoom, ...neverRead])('%s', async (behaviour) => {
    const { record, rows } = await evaluated(behaviour);
    expect(record.metrics.unreadable!.value).toBe(1);
    expect(record.metrics.cut?.value).toBe(behaviour === 'thoughts that never end' ? undefined : 1);
    expect(record.sections.at(-1)!.lines![0]).toMatch(/replyTokens=.*reasoning=off/);
    const phases = Object.values(record.details.phases as Record<string, { stages: object }>);
    expect(phases.flatMap(({ stages }) => Object.keys(stages))).toEqual(phases.map(() => 'unparsed'));
    expect(rows.every(({ metrics }) => metrics['hit@1'] === 0)).toBe(true);
  });

  test('which tables and pages say, and only where it happens', async () => {
    const server = await started(answersOf('long thoughts'));
    const words = wordsFor(server.url).slice(2);
    const page = folderWith({});
    const { out, exitCode } = await kgwalk('compare', 'tog', 'random-chain', ...words, '--report', page);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/cut % +unreadable %/);
    expect(out).toContain('--model-set replyTokens=4096');
    const html = readFileSync(`${page}/index.html`, 'utf8');
    for (const said of ['replies cut, %', 'replies unreadable, %', 'replyTokens=4096']) expect(html).toContain(said);
    const other = await started(answersOf('plain'));
    expect((await kgwalk('compare', 'tog', 'random-chain', ...wordsFor(other.url).slice(2))).out).not.toContain(
      'cut %',
    );
  });
});

describe('the price of tokens', () => {
  const price = 'price=2,0.5,10';

  test('is that of the tokens of the record, and no part of it', async () => {
    const { record } = await evaluated('plain', price);
    const calls = plain.calls.length;
    expect(record).toMatchObject({ price: (calls * (60 * 2 + 40 * 0.5 + 50 * 10)) / 1e6 });
    expect({ ...record.hashes, model: '' }).toEqual({ ...plain.record.hashes, model: '' });
    expect(record.hashes.model).toMatch(/#m:context-8192$/);
  });

  test('is forecast by the simulated model, which asks no server and keeps nothing', async () => {
    const server = await started(answersOf('plain'));
    const words = ['evaluate', '--dry-run', ...wordsFor(server.url, price, 'replyTokens=1000')];
    const forecast = await kgwalkJson<Forecast>(...words);
    const kept = folderWith({});
    const oracle = [...common, '--model', 'oracle:0.1', '--evaluations', kept];
    const { cost } = await kgwalkJson<Saved>('evaluate', '--agent', 'tog', ...oracle);
    const [calls, prompt, reply] = [cost.calls!.total, cost.promptTokens!.total, cost.completionTokens!.total];
    expect(forecast).toEqual({
      ...{ model: 'oracle:0.1', n: 4, calls, promptTokens: prompt, completionTokens: reply },
      price: (prompt * 2 + reply * 10) / 1e6,
      most: { completionTokens: 1000 * calls, price: (prompt * 2 + 1000 * calls * 10) / 1e6 },
    });
    expect(server.calls).toEqual([]);
    expect((await kgwalk(...words)).out).toMatch(/^4 samples by oracle:0\.1: \d+ calls[^]*reply tokens, price \d/);
    expect(await kgwalk('evaluate', '--dry-run', ...wordsFor(server.url, 'price=2'))).toMatchObject({ exitCode: 2 });
  });
});

test('repeats ask every sample again, and their variance is in the interval', async () => {
  const serves = answersOf('plain');
  let asked = 0;
  // Every second call of an answer is right: the same question is right in one repeat and wrong in another.
  const wavers: ChatAnswer = (response, call) => {
    const isAnswer = JSON.stringify(call.body).includes('the list of names');
    (isAnswer && ++asked % 2 === 0 ? says('{"answers":["nobody"]}') : serves)(response, call);
  };
  const server = await started(wavers);
  const set = ['repeats=4', 'concurrency=1', 'temperature=0.5'];
  const words = wordsFor(server.url, ...set);
  const record = await kgwalkJson<Saved>('evaluate', ...words);
  expect(record).toMatchObject({ n: 16, repeats: 4, limit: 4, model: `${server.url}#m (temperature-0.5)` });
  const ids = rowsOf(record).map(({ id }) => id);
  expect(new Set(ids).size).toBe(16);
  expect(ids[4]).toBe(`${ids[0]!} · repeat 2`);
  expect(new Set(server.calls.map(({ body }) => body.seed)).size).toBe(server.calls.length);
  expect(record.sections).toContainEqual({
    title: 'Repeats',
    lines: [expect.stringMatching(/^Hit@1: (?:[\d.]+, ){3}[\d.]+; standard deviation [\d.]+$/)],
  });
  // Four questions are four clusters, each of the mean of its repeats.
  const { columns, clusters } = byQuestion(rowsOf(record));
  const [estimate] = bootstrapMeans(columns, clusters, { resamples: 2000, shares: [true] });
  expect(record.metrics['hit@1']).toEqual(estimate);
  expect((await kgwalk('replay', dirname(record.saved))).out).toMatch(/16 samples replayed: every byte/);
  const { out, exitCode } = await kgwalk('compare', 'tog', 'random-chain', ...words.slice(2));
  expect(exitCode).toBe(0);
  expect(out).toMatch(/n = 16, a seeded sample of 4 · repeats 4/);
});

/** Hit@1 of all rows, and the question of each. */
const byQuestion = (rows: ReturnType<typeof rowsOf>) => ({
  columns: [rows.map(({ metrics }) => metrics['hit@1']!)],
  clusters: rows.map(({ id }) => id.split(' · ')[0]!),
});

test('a server that stays busy leaves an unfinished evaluation, which the same command ends', async () => {
  let left = 6;
  const serves = answersOf('plain');
  const tires: ChatAnswer = (response, call) => (left-- > 0 ? serves : fails(429, 'slow down'))(response, call);
  const server = await started(tires);
  const words = ['evaluate', ...wordsFor(server.url, 'retries=0')];
  const { exitCode, out, err } = await kgwalk(...words);
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
  expect(err).toMatch(/429 slow down[^]*Run the same command again/);
  left = Infinity;
  const answered = server.calls.length;
  const record = await kgwalkJson<Saved>(...words);
  expect(rowsOf(record)).toEqual(plain.rows);
  expect(server.calls.length - answered).toBe(plain.calls.length - 6);
});
