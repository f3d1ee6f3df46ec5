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
let server: ChatServer;
afterEach(() => server.close());

const chats = says('I cannot tell.');

/** A server of chats, and of completions where `scores` says how. */
async function onServer(scores: ChatAnswer = fails(404, 'Not Found')) {
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

test('a server that cannot score texts is one error that names the remedies', async () => {
  const { run, words } = await onServer();
  const error = 'expected log-probabilities of a prompt, got none';
  const evaluated = await run('evaluate', '--agent', 'tog');
  expect(evaluated).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining(error) });
  expect(evaluated.err).toContain('--choices written');
  expect((await kgwalk('ask', 'who directed [Tenet]', '--agent', 'tog', ...words)).err).toContain(error);
});

test('one that scores is as a local model: the record says no more than likelihood', async () => {
  const { evaluate } = await onServer(echoes());
  const record = await evaluate('--agent', 'tog');
  expect(record).toMatchObject({ choices: 'likelihood', n: 4, misses: {} });
  const store = readFileSync(`${dirname(record.saved)}/completions.jsonl`, 'utf8');
  expect(store).toContain('"line":"scores"');
  expect((await kgwalk('replay', dirname(record.saved))).out).toMatch(/every byte as it was saved/);
});

test('one that stops scoring ends the evaluation with one error, and the same command resumes it', async () => {
  let left = 4;
  const stops: ChatAnswer = (response, call) =>
    (left-- > 0 ? echoes() : fails(400, 'logprobs are off'))(response, call);
  const { run } = await onServer(stops);
  const { exitCode, err } = await run('evaluate', '--agent', 'tog');
  expect(exitCode).toBeGreaterThan(0);
  expect(err).toContain('--choices written');
  left = Infinity;
  const again = await run('evaluate', '--agent', 'tog');
  expect(again.exitCode).toBe(0);
  expect(again.out).toContain('n = 4');
});
