/** `kgwalk serve` as it is built: `npm test` builds it first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { portOf } from '../../cli/serve.js';
import { openEvents } from '../fixtures/event-stream.js';
import { madeUpCurves, writeMadeUpRun } from '../fixtures/made-up-runs.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { filmOverrides, importFilms } from '../fixtures/toy-question-training.js';

/** The program's output, and its exit status. */
function started(...words: string[]) {
  const child = spawn(execPath, ['dist/cli/main.js', 'serve', ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  let err = '';
  child.stderr.on('data', (text) => (err += String(text)));
  const ended = once(child, 'close').then(([code]) => code as number);
  return { child, ended, err: () => err };
}

test.each(['SIGINT', 'SIGTERM'] as const)('serves until %s, which ends it at once, followed or not', async (signal) => {
  const folder = folderWith({});
  writeMadeUpRun(join(folder, 'demo-s1'), { config: { name: 'demo', seed: 1 }, metrics: madeUpCurves(1, 3) });
  const { child, ended } = started(folder, '--port', '0');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = String(line).trim();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  expect(await (await fetch(url)).text()).toContain('<title>kgwalk</title>');
  const events = await openEvents(`${url}api/live?run=demo-s1`);
  await events.until(({ event }) => event === 'caught-up');
  child.kill(signal);
  expect(await ended).toBe(0);
  await events.close();
});

test('a taken port is one clear error', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { ended, err } = started('--port', String(port));
  expect(await ended).toBe(2);
  expect(err()).toBe(
    `error: expected a free port, got ${port}, which another program listens on\nhint: Is it a page of before? Open http://127.0.0.1:${port}/, or choose another: --port ${port + 1}, or --port 0 for any.\n`,
  );
  other.close();
});

test('a run that is not there, and what is no port, are said', async () => {
  const { ended, err } = started('nowhere');
  expect(await ended).toBe(2);
  expect(err()).toContain('expected a run or a folder of runs, got nothing, at nowhere');
  for (const text of ['', 'http', '65536', '-1', '80.5'])
    expect(() => portOf(text)).toThrow(/expected a whole number from 0 to 65535/);
  expect(portOf('0')).toBe(0);
});

test('train --follow shows the run while it trains, and ends with it', async () => {
  const home = folderWith({});
  env.KGWALK_HOME = home;
  await importFilms();
  const run = join(folderWith({}), 'films-s1');
  const sets = filmOverrides.flatMap((one) => ['--set', one]);
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
  const seen = await events.until(({ data }) => data.runs?.[0]?.state === 'running');
  expect(seen.at(-1)!.data.runs).toMatchObject([{ key: 'films-s1', dataset: 'films' }]);
  while (await events.next().catch(() => undefined));
  expect(await ended).toBe(0);
  await events.close();
});
