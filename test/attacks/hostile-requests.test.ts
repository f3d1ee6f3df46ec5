/** Hostile requests to `kgwalk serve`: large, slow, many, incomplete, from other sites. It refuses them, and answers the next. */
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { mostStreams } from '../../serve/live.js';
import { openAsker } from '../../serve/asker.js';
import { mostWaiting } from '../../serve/kept-runs.js';
import { mostConnections, serve, type Serving } from '../../serve/server.js';
import { openWorld } from '../../serve/runs.js';
import { openEvents } from '../fixtures/event-stream.js';
import { madeUpCurves, writeMadeUpRun } from '../fixtures/made-up-runs.js';
import { folderWith } from '../fixtures/tiny-release.js';

const runs = folderWith({});
writeMadeUpRun(join(runs, 'one'), { config: { name: 'one', seed: 1, ppo: {} }, metrics: madeUpCurves(1, 20) });

let serving: Serving;
const bugs: unknown[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  // Afterwards an honest request is answered, and no bug was reported.
  expect((await fetch(`${serving.url}api/list`)).status).toBe(200);
  for (const socket of sockets.splice(0)) socket.destroy();
  await serving.close();
  expect(bugs).toEqual([]);
});

async function served(patienceMs?: number): Promise<void> {
  const onBug = (error: unknown) => bugs.push(error);
  serving = await serve({ roots: [runs], port: 0, lookMs: 10, onBug, ...(patienceMs && { patienceMs }) });
}

/** Reply to bytes until the server ends the connection; `open` sends them and keeps the connection. */
function said(bytes: string, port = serving.port): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    sockets.push(socket);
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      // A client that is cut off while sending gets a reset.
      ['ECONNRESET', 'EPIPE'].includes(error.code!) ? resolve(answer) : reject(error),
    );
    socket.on('close', () => resolve(answer));
  });
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const own = () => `Host: 127.0.0.1:${serving.port}\r\nConnection: close\r\n`;

test.each<[string, () => string, number]>([
  ['an address of 100 kB', () => `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n${own()}\r\n`, 431],
  ['headers of 100 kB', () => `GET / HTTP/1.1\r\n${own()}X: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
  ['10,000 headers', () => `GET / HTTP/1.1\r\n${own()}${'X: 1\r\n'.repeat(10_000)}\r\n`, 431],
  [
    'a question that says it is 10 GB long',
    () => `POST /ask HTTP/1.1\r\n${own()}Content-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n{`,
    413,
  ],
  [
    'a question in chunks that is longer than one may be',
    () =>
      `POST /ask HTTP/1.1\r\n${own()}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
      `20000\r\n${'['.repeat(0x20000)}\r\n0\r\n\r\n`,
    413,
  ],
  [
    'a length and chunks at once',
    () => `POST /ask HTTP/1.1\r\n${own()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  [
    'JSON of 60,000 levels',
    () =>
      `POST /ask HTTP/1.1\r\n${own()}Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n${'['.repeat(60_000)}`,
    400,
  ],
  ['two hosts', () => `GET /api/list HTTP/1.1\r\nHost: evil.example\r\n${own()}\r\n`, 403],
  [
    'another host in the address',
    () => `GET http://evil.example/api/list HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    403,
  ],
  ['no host', () => 'GET /api/list HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['no HTTP', () => `${'\0'.repeat(1000)}\r\n\r\n`, 400],
  ['more runs than a stream follows', () => `GET /api/live?${'run=one&'.repeat(1500)} HTTP/1.1\r\n${own()}\r\n`, 400],
])('%s is refused', async (_what, bytes, status) => {
  await served();
  expect(statusOf(await said(bytes()))).toBe(status);
});

test.each([
  ['a script of another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }, '/api/list', 403],
  ['a page of another port', { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'cors' }, '/api/list', 403],
  [
    'a link of another site to data',
    { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' },
    '/api/list',
    403,
  ],
  ['a link of another site to the page', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }, '/', 200],
  ['the page itself', { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'cors' }, '/api/list', 200],
])('%s', async (_what, headers, path, status) => {
  await served();
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  expect(statusOf(await said(`GET ${path} HTTP/1.1\r\n${own()}${lines.join('')}\r\n`))).toBe(status);
});

test.each([
  ['headers', () => `GET / HTTP/1.1\r\nHost: 127.0.0.1:${serving.port}\r\nX: `],
  ['a body', () => `POST /ask HTTP/1.1\r\n${own()}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{`],
])('a client that does not end its %s is cut off', async (_what, bytes) => {
  await served(40);
  expect([408, NaN]).toContain(statusOf(await said(bytes())));
});

test('connections beyond the limit are closed, and make room again', async () => {
  await served();
  const idle = Array.from({ length: mostConnections }, () => {
    const socket = connect(serving.port, '127.0.0.1');
    sockets.push(socket);
    return socket;
  });
  await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  expect(await said(`GET / HTTP/1.1\r\n${own()}\r\n`)).toBe('');
  for (const socket of idle) socket.destroy();
  // The server learns of it a moment later.
  for (let left = false; !left;)
    left = await fetch(serving.url).then(
      () => true,
      () => false,
    );
});

test('streams beyond the limit are refused, and readers that read nothing block no other request', async () => {
  await served();
  // Their answers are never read: the server may not keep what they owe in memory, nor wait for them.
  const stalled = Array.from({ length: mostStreams }, () => openEvents(`${serving.url}api/live?run=one`));
  const all = await Promise.all(stalled);
  expect(serving.streams).toBe(mostStreams);
  const refused = await fetch(`${serving.url}api/live`);
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { error: { code: 'usage', message: `expected at most ${mostStreams} streams, got more, at /api/live` } },
  ]);
  for (const events of all) await events.close();
});

test('questions beyond those that may wait are refused at once, and the others are answered', async () => {
  await served();
  const asker = openAsker(openWorld([runs], 10));
  const asked = Array.from({ length: 3 * mostWaiting }, () => asker.ask({ run: 'gone', question: 'who?' }));
  const answers = await Promise.allSettled(asked);
  const said = answers.map((answer) => (answer.status === 'rejected' ? String(answer.reason.message) : 'answered'));
  const waited = said.filter((text) => !text.includes('questions at once'));
  expect(waited).toHaveLength(mostWaiting);
  expect(new Set(waited.map((text) => /gone/.test(text)))).toEqual(new Set([true]));
  await expect(asker.ask({ run: 'gone', question: 'who?' })).rejects.toThrow('gone');
  await asker.close();
});
