import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { type ChatAnswer, chatServer, type ChatServer, fails, says } from '../fixtures/chat-server.js';
import { echoes } from '../fixtures/echo-server.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();

type Saved = EvaluationRecord & { saved: string };
type Schema = {
  type?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  maxItems?: number;
};

let server: ChatServer;
afterEach(() => server.close());

/** The first value that a schema allows, lists with one entry. */
function firstOf({ enum: values, properties, items, type, maxItems }: Schema): unknown {
  if (values) return values[0];
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, firstOf(one)]));
  if (type === 'array') return maxItems === 0 ? [] : [firstOf(items!)];
  return 'x';
}

const obeys: ChatAnswer = (response, call) => {
  const { json_schema } = call.body.response_format as { json_schema: { schema: Schema } };
  says(JSON.stringify(firstOf(json_schema.schema)))(response, call);
};
const refuses: ChatAnswer = (response, call) =>
  'response_format' in call.body
    ? fails(400, 'response_format json_schema is not supported')(response, call)
    : says('I cannot tell.')(response, call);

/** A server of chats, and of completions where `scores` says how. */
async function onServer(chats: ChatAnswer, scores: ChatAnswer = fails(404, 'Not Found')) {
  await importFilms();
  server = await chatServer((response, call) => (call.url === '/v1/completions' ? scores : chats)(response, call));
  const films = ['--dataset', 'films', '--encoder', 'hashed:32', '--model', `${server.url}#tiny`];
  const words = [...films, '--choices', 'likelihood'];
  const kept = ['--limit', '4', '--evaluations', folderWith({})];
  return {
    words,
    run: (...more: string[]) => kgwalk(...more, ...words, ...kept),
    evaluate: (...more: string[]) => kgwalkJson<Saved>('evaluate', ...more, ...words, ...kept),
  };
}

const times = (text: string, part: string) => text.split(part).length - 1;
const byName = 'cannot score texts: choices are asked for by name';

test('a chat server is asked for names: the record and a note say so, the replay has every byte', async () => {
  const { evaluate, run } = await onServer(obeys);
  const record = await evaluate('--agent', 'tog');
  expect(record).toMatchObject({ choices: 'likelihood', chosenBy: 'name', n: 4, misses: {} });
  expect(Object.keys(record.cost)).toContain('calls');
  const formats = server.calls.flatMap(({ body }) =>
    body.response_format ? [JSON.stringify(body.response_format)] : [],
  );
  expect(formats.join()).toMatch(/"enum":\["[^\]]*directed_by/);
  expect(formats.join()).not.toMatch(/"enum":\[\d/);
  expect((await kgwalk('replay', dirname(record.saved))).out).toMatch(/every byte as it was saved/);
  const compared = await run('compare', 'tog', 'structgpt');
  expect(times(compared.told, byName)).toBe(1);
});

test('one that refuses schemas has its names read: every question counts, and a note says so at the end', async () => {
  const { run } = await onServer(refuses);
  const { told, out, exitCode } = await run('evaluate', '--agent', 'tog');
  expect([exitCode, times(told, byName), times(told, 'did not keep to JSON schemas')]).toEqual([0, 1, 1]);
  expect(out).toContain('n = 4');
});

test('one that scores is as a local model: the record says no more than likelihood', async () => {
  const { evaluate, run } = await onServer(obeys, echoes());
  const record = await evaluate('--agent', 'tog');
  expect(record).toMatchObject({ choices: 'likelihood', n: 4, misses: {} });
  expect(record).not.toHaveProperty('chosenBy');
  const store = readFileSync(`${dirname(record.saved)}/completions.jsonl`, 'utf8');
  expect(store).toContain('"line":"scores"');
  expect((await kgwalk('replay', dirname(record.saved))).out).toMatch(/every byte as it was saved/);
  expect((await run('evaluate', '--agent', 'tog')).told).toContain('scores texts: choices go by likelihood');
  const named = await evaluate('--agent', 'tog', '--model-set', 'scores=off');
  expect(named.saved).not.toBe(record.saved);
  expect(named).toMatchObject({ chosenBy: 'name' });
});

test('one that stops scoring ends the evaluation with one error, and the same command goes on', async () => {
  let left = 4;
  const stops: ChatAnswer = (response, call) =>
    (left-- > 0 ? echoes() : fails(400, 'logprobs are off'))(response, call);
  const { run } = await onServer(obeys, stops);
  const { exitCode, told } = await run('evaluate', '--agent', 'tog');
  expect(exitCode).toBeGreaterThan(0);
  expect(told).toContain('--model-set scores=off');
  left = Infinity;
  const again = await run('evaluate', '--agent', 'tog');
  expect(again.exitCode).toBe(0);
  expect(again.out).toContain('n = 4');
});

test('ask tells it, too', async () => {
  const { words } = await onServer(obeys);
  const { told } = await kgwalk('ask', 'who directed [Tenet]', '--agent', 'tog', ...words);
  expect(times(told, byName)).toBe(1);
});
