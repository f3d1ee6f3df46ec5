/** Suggestions of the form for questions, over HTTP, for a run of each task. */
import { env } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSuggestions } from '../../serve/suggestions.js';
import { mostWaiting } from '../../serve/kept-runs.js';
import { openWorld } from '../../serve/runs.js';
import { serve, type Serving } from '../../serve/server.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { folderWith } from '../fixtures/tiny-release.js';

let serving: Serving;
const bugs: unknown[] = [];

beforeAll(async () => {
  env.KGWALK_HOME = folderWith({});
  for (const kind of ['dialogues', 'questions', 'links'] as const) await finishedRun(kind);
  serving = await serve({ roots: [env.KGWALK_HOME], port: 0, onBug: (error) => bugs.push(error) });
});
afterAll(async () => {
  await serving.close();
  expect(bugs).toEqual([]);
});

async function get(path: string) {
  const answer = await fetch(`${serving.url}api/${path}`);
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  return { status: answer.status, ...((await answer.json()) as object) } as any;
}

describe.each([
  ['dialogues', ['question', 'start'], false],
  ['questions', ['question'], false],
  ['links', ['head', 'relation'], true],
] as const)('of a run of %s', (kind, fields, namesRelations) => {
  const run = `${kind}-run`;

  test('examples of valid are asked as they are', async () => {
    const { status, examples, relations } = await get(`questions?run=${run}`);
    expect(status).toBe(200);
    expect(examples.length).toBeGreaterThan(0);
    expect(examples.length).toBeLessThanOrEqual(4);
    expect(new Set(examples.map((one: object) => JSON.stringify(one))).size).toBe(examples.length);
    for (const example of examples) {
      expect(Object.keys(example)).toEqual(fields);
      const answer = await fetch(`${serving.url}ask`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ run, ...example }),
      });
      expect([example, answer.status]).toEqual([example, 200]);
    }
    expect(relations.length > 0).toBe(namesRelations);
    if (namesRelations) expect(relations).toContain(examples[0].relation);
  });

  test('entities are completed', async () => {
    const [example] = (await get(`questions?run=${run}`)).examples;
    const entity = example.start ?? example.head ?? /\[(.*)\]/.exec(example.question)![1];
    const half = encodeURIComponent(entity.slice(0, Math.ceil(entity.length / 2)).toUpperCase());
    const { entities } = await get(`entities?run=${run}&prefix=${half}&limit=50`);
    expect(entities).toContain(entity);
    expect((await get(`entities?run=${run}&prefix=${half}&limit=1`)).entities).toHaveLength(1);
  });
});

test.each([
  ['no run', 'questions', 'run'],
  ['a run that is not served', 'questions?run=../x', 'expected a key of one run'],
  ['another key', 'questions?run=questions-run&split=test', 'split'],
  ['no prefix', 'entities?run=questions-run', 'prefix'],
  ['an empty prefix', 'entities?run=questions-run&prefix=', 'prefix'],
  ['a long prefix', `entities?run=questions-run&prefix=${'a'.repeat(201)}`, 'prefix'],
  ['a limit of none', 'entities?run=questions-run&prefix=a&limit=0', 'limit'],
  ['a limit beyond all', 'entities?run=questions-run&prefix=a&limit=51', 'limit'],
  ['a limit that is no number', 'entities?run=questions-run&prefix=a&limit=1e', 'limit'],
  ['a fraction', 'entities?run=questions-run&prefix=a&limit=1.5', 'limit'],
])('%s is refused', async (_, path, message) => {
  const { status, error } = await get(path);
  expect([status, error.message]).toEqual([400, expect.stringContaining(message)]);
});

test('requests beyond those that may wait are refused', async () => {
  const suggestions = openSuggestions(openWorld([env.KGWALK_HOME!], 10));
  const asked = Array.from({ length: 2 * mostWaiting }, () =>
    suggestions.entities({ run: 'questions-run', prefix: 'ten' }),
  );
  const answers = await Promise.allSettled(asked);
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(mostWaiting);
  await suggestions.close();
});
