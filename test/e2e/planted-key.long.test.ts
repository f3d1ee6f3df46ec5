/** A key that comes in by every way there is, and a search for it in all that was printed and written. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useBlankPictures } from '../fixtures/blank-pictures.js';
import { type ChatAnswer, type ChatServer, chatServer, fails, says } from '../fixtures/chat-server.js';
import { type Ended, kgwalk } from '../fixtures/command-line.js';
import { says as answers, useFileServer, whole } from '../fixtures/file-server.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { tinyGguf } from '../fixtures/tiny-gguf.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { importFilms } from '../fixtures/toy-question-training.js';

useBlankPictures();
const home = useSharedHome(() => importFilms());

const key = 'sk-planted/+0123456789-=';
const forms = [key, encodeURIComponent(key), Buffer.from(key).toString('base64'), 'planted'];

let kept: string;
let servers: ChatServer[];
beforeEach(() => {
  env.KGWALK_LLM_KEY = key;
  kept = folderWith({});
  servers = [];
});
afterEach(async () => {
  delete env.KGWALK_LLM_KEY;
  await Promise.all(servers.map((server) => server.close()));
});

async function serve(...all: ChatAnswer[]): Promise<ChatServer> {
  const server = await chatServer(...all);
  servers.push(server);
  return server;
}

/** Places that hold the key, in any form: outputs by name, files of the home and the evaluations by path. */
function placesOfKey(ended: Partial<Ended>): string[] {
  const written = [env.KGWALK_HOME!, kept].flatMap((folder) =>
    (readdirSync(folder, { recursive: true }) as string[])
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile()),
  );
  const texts = [
    ...Object.entries({ out: ended.out ?? '', err: ended.err ?? '' }),
    ...written.flatMap(
      (path) =>
        [
          [path, path],
          [path, readFileSync(path, 'latin1')],
        ] as const,
    ),
  ];
  return texts.filter(([, text]) => forms.some((form) => text.includes(form))).map(([place]) => place);
}

const evaluation = (url: string, ...words: string[]) =>
  kgwalk(
    ...['evaluate', '--agent', 'cot', '--dataset', 'films', '--split', 'valid', '--limit', '2', '--json'],
    ...['--model', `${url}#m`, '--model-set', 'retries=0', '--evaluations', kept, ...words],
  );

/** Says the key in every form, as a server that shows what it was sent. */
const echo = `The key ${forms.slice(0, 3).join(' ')} is yours.`;

test('the search finds what it is to find', () => {
  expect(placesOfKey({ out: `x${key}` })).toEqual(['out']);
  env.KGWALK_HOME = folderWith({ 'a/b.json': Buffer.from(key).toString('base64') });
  expect(placesOfKey({})).toEqual([join(env.KGWALK_HOME, 'a/b.json')]);
  env.KGWALK_HOME = home();
});

describe('the key of a server', () => {
  test('is sent there and appears in no evaluation, report or answer, even if the server repeats it', async () => {
    const server = await serve(says(echo));
    const evaluated = await evaluation(server.url);
    expect(evaluated.exitCode).toBe(0);
    expect(server.calls.length).toBeGreaterThan(0);
    expect(new Set(server.calls.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${key}`]));
    expect(JSON.stringify(server.calls.map(({ body }) => body))).not.toContain('planted');
    expect(placesOfKey(evaluated)).toEqual([]);
    const reported = await kgwalk('report', join(kept, readdirSync(kept)[0]!), '--to', join(kept, 'page'));
    expect(reported.exitCode).toBe(0);
    const question = ['ask', 'who directed [tenet]', '--agent', 'cot', '--dataset', 'films', '--trace'];
    const asked = await kgwalk(...question, '--model', `${server.url}#m`);
    expect([asked.exitCode, asked.out]).toEqual([0, expect.stringContaining('***')]);
    expect(placesOfKey({ out: reported.out + asked.out, err: reported.err + asked.err })).toEqual([]);
  });

  test('is no part of what a kept reply is found by', async () => {
    const server = await serve(says('[tenet]'));
    const first = await evaluation(server.url);
    const asked = server.calls.length;
    env.KGWALK_LLM_KEY = 'sk-another-0123456789';
    const again = await evaluation(server.url);
    expect([first.exitCode, again.exitCode, server.calls.length]).toEqual([0, 0, asked]);
  });

  test.each<[string, ChatAnswer]>([
    ['401', fails(401, echo)],
    ['500', fails(500, echo)],
    ['400', fails(400, echo)],
    ['a page', (response) => void response.end(`<html>${echo}</html>`)],
    ['a cut', (response) => void response.destroy()],
    ['no answer', () => {}],
  ])('is in no trace of a failure: %s', async (_, answer) => {
    const server = await serve(answer);
    const ended = await evaluation(server.url, '--model-set', 'timeoutMs=300');
    expect(server.calls.length).toBeGreaterThan(0);
    expect(ended.err + ended.out).toMatch(/expected|failure/);
    expect(placesOfKey(ended)).toEqual([]);
  });
});

describe('a key in the wrong place', () => {
  const server = useFileServer(() => whole(tinyGguf({})));

  test.each([
    ['a login', ['evaluate', '--agent', 'io', '--dataset', 'films', '--model', `http://ada:${key}@127.0.0.1/v1#m`]],
    ['a query', ['evaluate', '--agent', 'io', '--dataset', 'films', '--model', `http://127.0.0.1/v1?key=${key}#m`]],
    ['no model', ['evaluate', '--agent', 'io', '--dataset', 'films', '--model', `http://ada:${key}@127.0.0.1/v1`]],
    ['an encoder', ['train', 'opendialkg-tiny', '--model', `https://ada:${key}@host/m.gguf`]],
    ['a setting', ['train', 'opendialkg-tiny', '--set', `llm.apiKey=${key}`]],
    ['a broken setting', ['train', 'opendialkg-tiny', '--set', `llm.apiKey=[${key}`]],
    ['a model’s setting', ['ask', 'x', '--model', 'http://127.0.0.1/v1#m', '--model-set', `apiKey=${key}`]],
    ['a download', ['models', 'get', `https://ada:${key}@127.0.0.1:1/m.gguf`]],
  ])('is refused without being repeated: %s', async (_, words) => {
    // What is typed is masked by where it stands, not by what the environment holds.
    delete env.KGWALK_LLM_KEY;
    for (const json of [[], ['--json']]) {
      const ended = await kgwalk(...words, ...json);
      expect(ended.exitCode).not.toBe(0);
      expect(placesOfKey(ended)).toEqual([]);
    }
  });

  test('as an option that there is not, neither', () => {
    const words = ['dist/cli/main.js', 'evaluate', `--api-key=${key}`];
    const { status, stdout, stderr } = spawnSync(execPath, words, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, expect.stringContaining("unknown option '--api-key=***'")]);
    expect(placesOfKey({ out: stdout, err: stderr })).toEqual([]);
  });

  test('of a download address is neither kept with the model nor printed', async () => {
    delete env.KGWALK_LLM_KEY;
    const address = `${server.origin}/m.gguf?token=${encodeURIComponent(key)}`;
    const got = await kgwalk('models', 'get', address, '--accept-unverified');
    expect([got.exitCode, server.asked[0]!.url]).toEqual([0, `/m.gguf?token=${encodeURIComponent(key)}`]);
    const more = [await kgwalk('models', 'list', '--json'), await kgwalk('models', 'info', 'm')];
    expect(more[0]!.out).toContain('token=***');
    server.answers = [answers(403)];
    more.push(await kgwalk('models', 'get', address.replace('m.gguf', 'n.gguf'), '--accept-unverified'));
    for (const ended of [got, ...more]) expect(placesOfKey(ended)).toEqual([]);
  });
});
