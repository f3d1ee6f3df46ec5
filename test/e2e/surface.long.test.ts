/** The built program opens no socket and writes no shared file unless it is asked to. `npm test` builds it first. */
import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chatServer, says } from '../fixtures/chat-server.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { tinyOverrides } from '../fixtures/tiny-training.js';
import { importFilms } from '../fixtures/toy-question-training.js';
import { ownNetwork, watchedProgram } from '../fixtures/watched-program.js';

const place = folderWith({});
const [home, temporary] = [join(place, 'home'), join(place, 'temporary')];
const run = join(place, 'run');
const evaluations = ['--evaluations', join(place, 'evaluations')];
const onDemo = ['--agent', 'io', '--dataset', 'demo-questions'];
const tiny = [...tinyOverrides, 'data.dataset=demo'].flatMap((one) => ['--set', one]);

if (!ownNetwork) console.warn('skipped: packets of native code; it takes `unshare` and a system that lets it');

beforeAll(async () => {
  mkdirSync(temporary);
  env.KGWALK_HOME = home;
  await importFilms();
});
afterAll(() => rmSync(place, { recursive: true }));

/** Runs with umask 0. @param alone in a separate network namespace */
const kgwalk = (words: readonly string[], alone = true) => {
  const everybody = ['-c', 'umask 0; TMPDIR="$0" exec "$@"', temporary, execPath, 'dist/cli/main.js'];
  return watchedProgram('sh', [...everybody, ...words], alone);
};

describe('the watch sees', () => {
  test.each([
    ["fetch('http://127.0.0.1:4999/').catch(() => {})", 'connect "127.0.0.1:4999"'],
    ["require('net').createServer().listen(0, '127.0.0.1', function () { this.close(); })", 'listen 0'],
    ["require('dgram').createSocket('udp4').bind(0, '127.0.0.1', function () { this.close(); })", 'bind "udp"'],
    ["require('dns').lookup('localhost', () => {})", 'lookup "localhost"'],
    ["require('net').createServer().listen(0, '127.0.0.1', () => process.exit())", 'open "tcp 0100007F:'],
    [
      `require('child_process').execFileSync(process.execPath, ['-e', "fetch('http://[::1]:4999/').catch(() => {})"])`,
      '::1',
    ],
  ])('%s', async (code, seen) => {
    const { network } = await watchedProgram(execPath, ['-e', code]);
    expect(network.join('\n')).toContain(seen);
  });

  (ownNetwork ? test : test.skip)('what is no JavaScript', async () => {
    const { network, packets } = await watchedProgram('bash', ['-c', 'echo x >/dev/udp/192.0.2.1/9']);
    expect([network, packets]).toEqual([[], expect.any(Number)]);
    expect(packets).toBeGreaterThan(0);
  });
});

test.each([
  ['datasets demo', '--entities', '200', '--triples', '800', '--dialogues', '40', '--questions', '80'],
  ['datasets check', 'demo'],
  ['doctor'],
  ['models list'],
  ['train', 'opendialkg-tiny', ...tiny, '--run-dir', run],
  ['evaluate', run],
  ['report', run],
  ['evaluate', ...onDemo, '--limit', '1', ...evaluations],
  ['ask', 'who directed [tenet]', '--agent', 'io', '--dataset', 'films'],
])('kgwalk %s neither listens nor dials', async (command, ...words) => {
  const { exitCode, said, network, packets } = await kgwalk([...command!.split(' '), ...words]);
  expect([exitCode, network, packets]).toEqual([0, [], ownNetwork && 0]);
  expect(said).not.toBe('');
});

test('kgwalk serve listens on this machine only and dials nothing', async () => {
  const code = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['dist/cli/main.js', 'serve', process.argv[1], '--port', '0', '--json']);
    child.stdout.once('data', (text) => (process.stdout.write(text), child.kill('SIGINT')));
    child.once('exit', (code) => (process.exitCode = code));`;
  const { exitCode, said, network, packets } = await watchedProgram(execPath, ['-e', code, place]);
  // Node looks up the address that it is to listen at, though it is none of a name server's business: no packet leaves.
  const listens = ['listen {"port":0,"host":"127.0.0.1"}', 'lookup "127.0.0.1"'];
  expect([exitCode, network, packets]).toEqual([0, listens, ownNetwork && 0]);
  expect(JSON.parse(said)).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
    port: expect.any(Number),
  });
});

test('kgwalk serve env by standard input and output neither listens nor dials, by a socket it listens at that path alone', async () => {
  const words = ['serve', 'env', 'kgwalk/Grid-v1'];
  const { exitCode, network, packets } = await kgwalk(words);
  expect([exitCode, network, packets]).toEqual([0, [], ownNetwork && 0]);
  const path = join(place, 'env.sock');
  const code = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['dist/cli/main.js', ...${JSON.stringify(words)}, '--socket', process.argv[1]]);
    child.stderr.once('data', () => child.kill('SIGINT'));
    child.once('exit', (code) => (process.exitCode = code));`;
  const listening = await watchedProgram(execPath, ['-e', code, path]);
  expect([listening.exitCode, listening.network, listening.packets]).toEqual([
    ...[0, [`listen ${JSON.stringify(path)}`], ownNetwork && 0],
  ]);
});

test('a named server is dialled, and no other', async () => {
  const server = await chatServer(says('[x]'));
  const words = ['evaluate', ...onDemo, '--limit', '2', ...evaluations, '--model', `${server.url}#m`];
  const { exitCode, network } = await kgwalk(words, false);
  await server.close();
  // Connections are kept for the next request, so some are open at the end.
  const dialled = network.filter((line) => !line.startsWith('open '));
  expect([exitCode, new Set(dialled)]).toEqual([0, new Set([`connect "${new URL(server.url).host}"`])]);
});

describe('afterwards', () => {
  test('nothing is left in the folder for temporary files', () => {
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('everybody may write nothing', () => {
    const made = readdirSync(place, { recursive: true }) as string[];
    const open = made.filter((name) => lstatSync(join(place, name)).mode & 0o002);
    expect(made).toEqual(expect.arrayContaining([join('run', 'config.yaml'), join('home', 'datasets')]));
    expect(open.filter((name) => name !== 'temporary')).toEqual([]);
  });
});
