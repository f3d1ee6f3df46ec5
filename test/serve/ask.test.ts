/** Questions to a run that was trained here, over HTTP. */
import { env } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serve, type Serving } from '../../serve/server.js';
import { kgwalkJson } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { folderWith } from '../fixtures/tiny-release.js';

let run: string;
const bugs: unknown[] = [];
let serving: Serving;

beforeAll(async () => {
  env.KGWALK_HOME = folderWith({});
  run = await finishedRun('questions');
  serving = await serve({ roots: [env.KGWALK_HOME], port: 0, onBug: (error) => bugs.push(error) });
});
afterAll(async () => {
  await serving.close();
  expect(bugs).toEqual([]);
});

async function post(body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${serving.url}ask`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  return { status: answer.status, ...((await answer.json()) as object) } as any;
}

const question = 'who directed [tenet]';

test('the answer is that of `kgwalk ask`, with what people read, and how long it took', async () => {
  const { status, answer, sections, milliseconds } = await post({ run: 'questions-run', question });
  expect(status).toBe(200);
  const expected = await kgwalkJson<{ answers: string[]; evidence: string[][] }>('ask', run, question);
  expect(answer).toMatchObject({
    question: 'who directed tenet',
    topics: ['tenet'],
    answers: expected.answers,
    evidence: expected.evidence,
  });
  expect(sections[0].lines.length).toBeGreaterThan(0);
  expect(milliseconds).toEqual(expect.any(Number));
});

test('questions that come at once are all answered, each its own', async () => {
  const all = await Promise.all(
    ['tenet', 'dunkirk', 'tenet', 'inception'].map((film) =>
      post({ run: 'questions-run', question: `who directed [${film}]` }),
    ),
  );
  expect(all.map(({ answer }) => answer.topics[0])).toEqual(['tenet', 'dunkirk', 'tenet', 'inception']);
});

test('the questions of a run are listed with its checkpoints', async () => {
  const about = (await (await fetch(`${serving.url}api/run?run=questions-run`)).json()) as object;
  expect(about).toMatchObject({
    asked: { words: ['question'], start: false },
    checkpoints: expect.arrayContaining(['best', 'last']),
    settings: { 'data.dataset': 'films' },
  });
});

describe('a bad question is one clear refusal, and the next one is answered', () => {
  test.each<[string, unknown, number, string]>([
    [
      'an entity that the graph lacks',
      { run: 'questions-run', question: 'who directed [tenett]' },
      400,
      'expected an entity of the graph',
    ],
    [
      'a run that is not served',
      { run: '../questions-run', question },
      400,
      'expected a key of one run that is served',
    ],
    [
      'a checkpoint that is not there',
      { run: 'questions-run', question, checkpoint: '999' },
      400,
      'expected checkpoint "999"',
    ],
    [
      'a checkpoint elsewhere',
      { run: 'questions-run', question, checkpoint: '../x' },
      400,
      'expected best, last, clone',
    ],
    ['no question', { run: 'questions-run' }, 400, 'expected question of a question to this run'],
    ['an unknown key', { run: 'questions-run', question, model: 'x.gguf' }, 400, 'model'],
    ['a number of answers beyond all', { run: 'questions-run', question, top: 1e9 }, 400, 'top'],
    ['a list', [1], 400, 'expected a question'],
    ['no JSON', '{"run":', 400, 'broken JSON'],
    ['too much', { run: 'questions-run', question: 'x'.repeat(100_000) }, 413, 'expected at most 65536 bytes'],
  ])('%s', async (_, body, status, message) => {
    const refused = await post(body);
    expect([refused.status, refused.error?.message]).toEqual([status, expect.stringContaining(message)]);
    expect((await post({ run: 'questions-run', question })).status).toBe(200);
  });

  test('a near name is offered', async () => {
    const { error } = await post({ run: 'questions-run', question: 'who directed [tenett]' });
    expect(error.hint).toContain('tenet');
  });

  test('a form or a text of another page is none', async () => {
    expect((await post({ run: 'questions-run', question }, { 'Content-Type': 'text/plain' })).status).toBe(400);
    expect((await post({ run: 'questions-run', question }, { Origin: 'http://evil.example' })).status).toBe(403);
  });
});
