/** `kgwalk serve` as it is built: `npm test` builds it first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { portOf } from '../../cli/serve.js';
import { kgwalk } from '../fixtures/command-line.js';
import { openEvents } from '../fixtures/event-stream.js';
import { inTurn } from '../fixtures/long-tests.js';
import { madeUpCurves, writeMadeUpRun } from '../fixtures/made-up-runs.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { filmOverrides, importFilms } from '../fixtures/toy-question-training.js';

test.each(inTurn(['SIGINT', 'SIGTERM'] as const, 0))(
  'serves until %s, which ends it at once, followed or not',
  async (signal) => {
    const folder = folderWith({});
    writeMadeUpRun(join(folder, 'demo-s1'), { config: { name: 'demo', seed: 1 }, metrics: madeUpCurves(1, 3) });
    const words = ['dist/cli/main.js', 'serve', folder, '--port', '0'];
    const child = spawn(execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(child, 'close').then(([code]) => code as number);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = String(line).trim();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(await (await fetch(url)).text()).toContain('<title>kgwalk</title>');
    const events = await openEvents(`${url}api/live?run=demo-s1`);
    await events.until(({ event }) => event === 'caught-up');
    child.kill(signal);
    expect(await ended).toBe(0);
    await events.close();
  },
);

test('a taken port is one clear error', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const words = ['dist/cli/main.js', 'serve', '--port', String(port)];
  const child = spawn(execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect([err, code]).toEqual([
    `error: expected a free port, got ${port}, which another program listens on\nhint: Is it a page of before? Open http://127.0.0.1:${port}/, or choose another: --port ${port + 1}, or --port 0 for any.\n`,
    2,
  ]);
  other.close();
});

test('a run that is not there, and what is no port, are said', async () => {
  const { exitCode, err } = await kgwalk('serve', 'nowhere');
  expect([exitCode, err]).toEqual([
    2,
    expect.stringContaining('expected a run or a folder of runs, got nothing, at nowhere'),
  ]);
  for (const word of ['', 'http', '65536', '-1', '80.5'])
    expect(() => portOf(word)).toThrow(/expected a whole number from 0 to 65535/);
  expect(portOf('0')).toBe(0);
});

test('train --follow shows the run while it trains, and ends with it', async () => {
  const home = folderWith({});
  env.KGWALK_HOME = home;
  await importFilms();
  const run = join(folderWith({}), 'films-s1');
  const sets = [...filmOverrides, 'ppo.updates=6'].flatMap((one) => ['--set', one]);
  const child = spawn(execPath, ['dist/cli/main.js', 'train', 'metaqa', ...sets, '--run-dir', run, '--follow'], {
    env: { ...env, KGWALK_HOME: home },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close').then(([code]) => code as number);
  let err = '';
  const url = await new Promise<string>((resolve) =>
    child.stderr.on('data', (text) => {
      err += String(text);
      const [, found] = /follow it: (http:\S+)/.exec(err) ?? [];
      if (found) resolve(found);
    }),
  );
  const events = await openEvents(`${url}api/live`);
  const seen = await events.until(({ data }) => data.runs?.length === 1);
  expect(seen.at(-1)!.data.runs).toMatchObject([{ key: 'films-s1', dataset: 'films' }]);
  let last: unknown;
  for (let event = seen.at(-1); event; event = await events.next()) if (event.event === 'list') last = event.data;
  expect(last).toMatchObject({ runs: [{ key: 'films-s1', state: 'finished' }] });
  expect(await ended).toBe(0);
  await events.close();
});
