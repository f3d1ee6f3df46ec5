/** The built program as a server of environments: `npm test` builds it first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { frame, ops, readFrames } from '../../../serve/env/frames.js';
import { kgwalk } from '../../fixtures/command-line.js';
import { helloFrame, resetFrame, stepFrame } from '../../fixtures/env-replies.js';
import { longTest } from '../../fixtures/long-tests.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const grid = ['kgwalk/Grid-v1', '--option', 'size=3', '--num-envs', '2'];
const started: { kill(signal: 'SIGKILL'): boolean }[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function program(...words: string[]) {
  const child = spawn(execPath, ['dist/cli/main.js', 'serve', 'env', ...words], { env, stdio: 'pipe' });
  started.push(child);
  let err = '';
  child.stderr.on('data', (text) => (err += String(text)));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, err }));
  return { child, ended };
}

/** Starts a server on a separate path and waits until it is ready. */
async function listening(...words: string[]) {
  const path = join(folderWith({}), 'env.sock');
  const server = program(...words, '--socket', path);
  await once(server.child.stderr, 'data');
  return { ...server, path };
}

/** Says something and reads as many replies. */
async function said(socket: Socket, ...requests: Buffer[]): Promise<number[]> {
  const seen: number[] = [];
  socket.write(Buffer.concat(requests));
  for await (const { op } of readFrames(
    socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>,
    2 ** 24,
  )) {
    seen.push(op);
    if (seen.length === requests.length) break;
  }
  return seen;
}

describe('by standard input and output', () => {
  test('one client is served, and the program ends when it says so', async () => {
    const { child, ended } = program(...grid);
    child.stdin.write(Buffer.concat([helloFrame(), resetFrame({ seed: 1 }), stepFrame([1, 2]), frame(ops.close, [])]));
    const seen: number[] = [];
    for await (const { op } of readFrames(child.stdout as AsyncIterable<Buffer>, 2 ** 24)) seen.push(op);
    expect(seen).toEqual([ops.hello, ops.reset, ops.step]);
    expect((await ended).code).toBe(0);
  });

  longTest('it ends with the process that started it, killed or not', async () => {
    const dying = `
      const child = require('child_process').spawn(process.execPath, ['dist/cli/main.js', 'serve', 'env', 'kgwalk/Grid-v1'], { stdio: ['pipe', 'pipe', 'ignore'] });
      child.stdin.write(Buffer.from(${JSON.stringify(helloFrame().toString('latin1'))}, 'latin1'));
      child.stdout.once('data', () => console.log(child.pid));
      setInterval(() => {}, 1000);`;
    const parent = spawn(execPath, ['-e', dying], { stdio: ['ignore', 'pipe', 'inherit'] });
    started.push(parent);
    const [text] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(text);
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    while (isAlive(pid)) await setTimeout(5);
  });

  longTest('errors are printed, and the exit status gives their kind', async () => {
    const other = program('kgwalk/LinkQuery-v1');
    expect(await other.ended).toMatchObject({ code: 2, err: expect.stringContaining('expected a data set of links') });
    // Here standard input may be a terminal.
    const socket = ['--socket', join(folderWith({}), 'env.sock')];
    expect(await kgwalk('serve', 'env', 'kgwalk/Grit-v1', ...socket)).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('Did you mean kgwalk/Grid-v1?'),
    });
    expect(
      await kgwalk('serve', 'env', 'kgwalk/LinkQuery-v1', '--dataset', 'nobody-has-this', ...socket),
    ).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining('expected an imported data set'),
    });
  });
});

describe('by a socket', () => {
  longTest('that its user alone may open, clients come and go, each with separate environments', async () => {
    const { child, ended, path } = await listening(...grid);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const [first, second] = [connect(path), connect(path)];
    expect(await said(first, helloFrame(), resetFrame(), stepFrame([1, 1]))).toEqual([1, 2, 3]);
    expect(await said(second, helloFrame(), stepFrame([1, 1]))).toEqual([ops.hello, ops.error]);
    first.destroy();
    second.write(frame(ops.close, []));
    await once(second, 'close');
    const third = connect(path);
    expect(await said(third, helloFrame())).toEqual([ops.hello]);
    child.kill('SIGTERM');
    await once(third, 'close');
    expect((await ended).code).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  longTest('a client of a killed server sees the connection end, and a new server takes over the path', async () => {
    const { child, path } = await listening(...grid);
    const client = connect(path);
    await said(client, helloFrame());
    child.kill('SIGKILL');
    await once(client, 'close');
    expect(existsSync(path)).toBe(true);
    const again = program(...grid, '--socket', path);
    await once(again.child.stderr, 'data');
    expect(await said(connect(path), helloFrame())).toEqual([ops.hello]);
  });

  longTest('a path that is taken is left as it is', async () => {
    const { path } = await listening(...grid);
    expect(await kgwalk('serve', 'env', ...grid, '--socket', path)).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('the socket of another server'),
    });
    const file = join(folderWith({}), 'notes.txt');
    writeFileSync(file, 'mine');
    expect(await kgwalk('serve', 'env', ...grid, '--socket', file)).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('a file that is no socket'),
    });
    expect(statSync(file).size).toBe(4);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
