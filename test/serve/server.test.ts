/** The server over real sockets of 127.0.0.1: its answers, its access checks, and what it never gives away. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { serve, type Serving } from '../../serve/server.js';
import { lockFolder } from '../../src/run/run-lock.js';
import { openEvents } from '../fixtures/event-stream.js';
import { madeUpCurves, madeUpEvaluation, madeUpExamples, writeMadeUpRun } from '../fixtures/made-up-runs.js';
import { folderWith } from '../fixtures/tiny-release.js';

const config = (seed: number, clipRange = 0.2) => ({
  ...{ name: 'demo', seed, data: { dataset: 'opendialkg' } },
  ppo: { enabled: true, updates: 120, clipRange },
});

/** Two seeds of one setting and a run of another, the first evaluated. */
function sampleRuns(): string {
  const runs = folderWith({});
  const metrics = madeUpCurves(1, 20);
  const evaluations = [madeUpEvaluation('walker', 0.3, { checkpoint: 'best', examples: madeUpExamples })];
  writeMadeUpRun(join(runs, 'demo-s1'), { config: config(1), metrics, evaluations });
  writeMadeUpRun(join(runs, 'demo-s2'), { config: config(2), metrics: madeUpCurves(2, 20) });
  writeMadeUpRun(join(runs, 'wide'), { config: config(1, 0.4) });
  return runs;
}

const open: Serving[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function served(runs = sampleRuns(), more: { host?: string } = {}): Promise<Serving & { runs: string }> {
  const bugs: unknown[] = [];
  const serving = await serve({ roots: [runs], port: 0, lookMs: 10, onBug: (error) => bugs.push(error), ...more });
  open.push({ ...serving, close: () => serving.close().then(() => expect(bugs).toEqual([])) });
  return Object.assign(serving, { runs });
}

/** Status and body of an answer; headers and the path go as they are written here. */
function ask(port: number, path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers, method }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => (body += text));
      answer.on('end', () => resolve({ status: answer.statusCode!, body, headers: answer.headers }));
    });
    asked.on('error', reject).end();
  });
}

const json = async (port: number, path: string) => {
  const { status, body } = await ask(port, path);
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  return { status, ...(JSON.parse(body) as object) } as any;
};

describe('the list', () => {
  test('has every run with its state, and equal groups for seeds of one setting', async () => {
    const { port, runs } = await served();
    const state = (id: string, text: object) =>
      writeFileSync(join(runs, id, 'state.json'), JSON.stringify({ schemaVersion: 1, done: {}, ...text }));
    state('demo-s1', { status: 'running', phase: 'ppo' });
    state('demo-s2', { status: 'running', phase: 'clone' });
    state('wide', { status: 'failed', reason: 'Diverged: got NaN' });
    writeMadeUpRun(join(runs, 'torn'), { config: config(9) });
    writeFileSync(join(runs, 'torn/environment.json'), '{');
    const release = lockFolder(join(runs, 'demo-s1'));
    const { runs: list } = await json(port, '/api/list');
    release();
    expect(list).toMatchObject([
      { key: 'demo-s1', label: 'demo', state: 'running', phase: 'ppo', updates: 120, seed: 1, dataset: 'opendialkg' },
      { key: 'demo-s2', label: 'demo', state: 'stale' },
      { key: 'torn', state: 'broken', reason: expect.stringContaining('environment.json') },
      { key: 'wide', state: 'failed', reason: 'Diverged: got NaN' },
    ]);
    const [one, two, , wide] = list as { group: string }[];
    expect(two!.group).toBe(one!.group);
    expect(wide!.group).not.toBe(one!.group);
  });

  test('of settings has those in which runs differ', async () => {
    const { port } = await served();
    expect(await json(port, '/api/settings?run=demo-s1&run=wide')).toMatchObject({
      differences: [{ key: 'ppo.clipRange', values: ['0.2', '0.4'] }],
    });
    expect((await json(port, '/api/settings?run=demo-s1')).status).toBe(400);
  });

  test('of results has the agents of a set with intervals, and their examples', async () => {
    const { port } = await served();
    const { sets } = await json(port, '/api/results');
    expect(sets).toMatchObject([
      {
        task: 'dialogues',
        rows: [{ label: 'PPO (best)', own: true, evaluations: ['demo-s1/evaluations/0'], examples: 3 }],
      },
    ]);
    const { examples } = await json(port, '/api/examples?evaluation=demo-s1/evaluations/0');
    expect(examples).toMatchObject(JSON.parse(JSON.stringify(madeUpExamples)));
    expect(examples[0].drawing).toMatch(/^<svg class="walks-drawn".*class="taken gold".*41 %/);
  });
});

describe('live', () => {
  test('all that was logged comes first, then each line as it is written', async () => {
    const { url, runs } = await served();
    const events = await openEvents(`${url}api/live?run=demo-s1`);
    const before = await events.until(({ event }) => event === 'caught-up');
    expect(before[0]).toMatchObject({ event: 'list', data: { runs: [{ key: 'demo-s1' }, {}, {}] } });
    const logged = before.flatMap(({ event, data }) => (event === 'log' ? data.records : []));
    expect(logged).toEqual(JSON.parse(JSON.stringify(madeUpCurves(1, 20))));
    appendFileSync(
      join(runs, 'demo-s1/metrics.jsonl'),
      '{"phase":"ppo","step":21,"metrics":{"train/loss":"NaN"}}\n{"phase":',
    );
    expect(await events.next()).toMatchObject({
      event: 'log',
      data: { run: 'demo-s1', log: 'metrics', reset: false, records: [{ step: 21, metrics: { 'train/loss': null } }] },
    });
    appendFileSync(join(runs, 'demo-s1/metrics.jsonl'), '"ppo","step":22,"metrics":{}}\n');
    expect(await events.next()).toMatchObject({ data: { records: [{ step: 22 }] } });
    await events.close();
  });

  test('a log that a resumed run cut is sent from the start', async () => {
    const { url, runs } = await served();
    const log = join(runs, 'demo-s1/metrics.jsonl');
    const [first] = readFileSync(log, 'utf8').split('\n');
    const events = await openEvents(`${url}api/live?run=demo-s1`);
    await events.until(({ event }) => event === 'caught-up');
    truncateSync(log, first!.length + 1);
    expect(await events.next()).toMatchObject({ event: 'log', data: { reset: true, records: [{ step: 1 }] } });
    await events.close();
  });

  test('a browser whose connection broke resumes after what it has', async () => {
    const { url, runs } = await served();
    const first = await openEvents(`${url}api/live?run=demo-s1`);
    const { id } = (await first.until(({ event }) => event === 'caught-up')).at(-1)!;
    await first.close();
    appendFileSync(join(runs, 'demo-s1/metrics.jsonl'), '{"phase":"ppo","step":21,"metrics":{}}\n');
    const second = await openEvents(`${url}api/live?run=demo-s1`, { 'Last-Event-ID': id });
    const seen = await second.until(({ event }) => event === 'caught-up');
    expect(seen.flatMap(({ event, data }) => (event === 'log' ? data.records : []))).toMatchObject([{ step: 21 }]);
    await second.close();
    const foreign = await openEvents(`${url}api/live?run=demo-s1`, { 'Last-Event-ID': '%7B"a":' });
    expect((await foreign.until(({ event }) => event === 'caught-up')).length).toBeGreaterThan(2);
    await foreign.close();
  });

  test('many follow at once, each from the beginning, and a browser that goes away is forgotten', async () => {
    const serving = await served();
    const all = await Promise.all(Array.from({ length: 20 }, () => openEvents(`${serving.url}api/live?run=demo-s1`)));
    const counts = await Promise.all(
      all.map(async (events) => {
        const seen = await events.until(({ event }) => event === 'caught-up');
        return seen.flatMap(({ event, data }) => (event === 'log' ? data.records : [])).length;
      }),
    );
    expect(new Set(counts)).toEqual(new Set([madeUpCurves(1, 20).length]));
    expect(serving.streams).toBe(20);
    for (const events of all.slice(1)) await events.close();
    // The one that stays sees the list change again and again until the others are gone.
    for (let n = 0; serving.streams > 1; n++) {
      mkdirSync(join(serving.runs, `more-${n}`));
      writeMadeUpRun(join(serving.runs, `more-${n}`), { config: config(n) });
      await all[0]!.until(({ event }) => event === 'list');
    }
    expect(serving.streams).toBe(1);
    await all[0]!.close();
  });

  test('a new run, and one that ends, change the list', async () => {
    const { url, runs } = await served();
    const events = await openEvents(`${url}api/live`);
    await events.until(({ event }) => event === 'caught-up');
    writeMadeUpRun(join(runs, 'new'), { config: config(3) });
    const changed = (await events.until(({ event }) => event === 'list')).at(-1)!;
    expect(changed.data.runs.length).toBe(4);
    await events.close();
  });

  test('a line that is broken is said, and hides nothing else', async () => {
    const { url, runs } = await served();
    appendFileSync(join(runs, 'demo-s1/metrics.jsonl'), '{"phase":7}\n');
    const events = await openEvents(`${url}api/live?run=demo-s1&run=demo-s2`);
    const seen = await events.until(({ event }) => event === 'caught-up');
    expect(seen.filter(({ event }) => event === 'trouble')).toMatchObject([
      { data: { run: 'demo-s1', log: 'metrics', message: expect.stringContaining('phase') } },
    ]);
    expect(seen.filter(({ event }) => event === 'log').map(({ data }) => data.run)).toEqual(['demo-s2']);
    await events.close();
  });

  test('the end of the server ends every stream, behind what is new', async () => {
    const serving = await served();
    const events = await openEvents(`${serving.url}api/live?run=demo-s1`);
    await events.until(({ event }) => event === 'caught-up');
    writeMadeUpRun(join(serving.runs, 'new'), { config: config(3) });
    await serving.close();
    open.splice(0);
    await expect(events.next()).resolves.toMatchObject({ event: 'list' });
    await expect(events.next()).resolves.toBeUndefined();
    await expect(ask(serving.port, '/')).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe('refuses others', () => {
  test('gets an answer under the name of another site', async () => {
    const { port } = await served();
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example']) {
      expect((await ask(port, '/api/list', { Host: host })).status).toBe(403);
    }
    expect((await ask(port, '/api/list', { Host: `localhost:${port}` })).status).toBe(200);
  });

  test('has a page of another site ask for it, and no header lets other sites read', async () => {
    const { port } = await served();
    expect((await ask(port, '/api/list', { Origin: 'http://evil.example' })).status).toBe(403);
    const own = await ask(port, '/api/list', { Origin: `http://127.0.0.1:${port}` });
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, undefined]);
  });

  test('gets in beyond loopback without the token', async () => {
    const { port, token, url } = await served(undefined, { host: '0.0.0.0' });
    expect(url).toBe(`http://0.0.0.0:${port}/?token=${token}`);
    const statuses = async (path: string, ...all: Record<string, string>[]) =>
      Promise.all(all.map(async (headers) => (await ask(port, path, headers)).status));
    const wrong: Record<string, string>[] = [
      {},
      { Authorization: `Bearer ${token}x` },
      { Authorization: token! },
      { Cookie: 'kgwalk=x' },
    ];
    expect(await statuses('/api/list', ...wrong)).toEqual([401, 401, 401, 401]);
    expect(await statuses(`/api/list?token=${token}`, {})).toEqual([401]);
    expect(await statuses('/?token=wrong', {})).toEqual([401]);
    const right: Record<string, string>[] = [
      { Authorization: `Bearer ${token}` },
      { Cookie: `kgwalk=${token}`, Host: 'box.lan:80' },
    ];
    expect(await statuses('/api/list', ...right)).toEqual([200, 200]);
    const { status, headers } = await ask(port, `/?token=${token}`);
    expect([status, headers.location]).toEqual([302, '/']);
    expect(String(headers['set-cookie'])).toMatch(/^kgwalk=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  test('has text run as a script in the page', async () => {
    const { port } = await served();
    const { headers } = await ask(port, '/');
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect([headers['x-content-type-options'], headers['x-frame-options']]).toEqual(['nosniff', 'DENY']);
  });
});

describe('no name', () => {
  test.each([
    '/../../../../etc/passwd',
    '/..%2f..%2fetc/passwd',
    '/%2e%2e/package.json',
    '//etc/passwd',
    '/style.css/../../package.json',
    '/api/run?run=../demo-s1',
    '/api/run?run=/etc',
    '/api/run?run=demo-s1/evaluations/0',
    '/api/run?run=__proto__',
    '/api/run?run=demo-s1%00',
    '/api/run',
    '/api/live?run=..%2f..',
    '/api/examples?evaluation=demo-s1',
    '/api/examples?evaluation=demo-s1/evaluations/0/../0',
    '/api/nothing',
  ])('leads out of the folders: %s', async (path) => {
    const { port } = await served();
    const { status, body } = await ask(port, path);
    expect([400, 404]).toContain(status);
    expect(JSON.parse(body)).toEqual({ error: { code: 'usage', message: expect.any(String), ...hinted(body) } });
  });

  test('follows a link to another run, or to a file of one', async () => {
    const elsewhere = sampleRuns();
    const runs = sampleRuns();
    symlinkSync(join(elsewhere, 'wide'), join(runs, 'linked'));
    writeMadeUpRun(join(runs, 'half'), { config: config(5) });
    symlinkSync(join(elsewhere, 'demo-s1/metrics.jsonl'), join(runs, 'half/metrics.jsonl'));
    writeMadeUpRun(join(runs, 'stateless'), { config: config(5) });
    rmSync(join(runs, 'stateless/state.json'));
    symlinkSync(join(elsewhere, 'wide/state.json'), join(runs, 'stateless/state.json'));
    const { url, port } = await served(runs);
    expect((await ask(port, '/api/run?run=linked')).status).toBe(400);
    expect(await json(port, '/api/run?run=stateless')).toMatchObject({
      error: { message: expect.stringContaining('expected a file, got a link') },
    });
    const events = await openEvents(`${url}api/live?run=half`);
    const seen = await events.until(({ event }) => event === 'caught-up');
    expect(seen.map(({ event }) => event)).toEqual(['list', 'caught-up']);
    await events.close();
  });

  test('or method changes anything', async () => {
    const { port, runs } = await served();
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      expect((await ask(port, '/api/run?run=wide', {}, method)).status).toBe(404);
    }
    expect(existsSync(join(runs, 'wide/config.yaml'))).toBe(true);
  });
});

const hinted = (body: string) => (body.includes('"hint"') ? { hint: expect.any(String) } : {});

describe('an address that cannot be listened on', () => {
  test('is one clear error that names the port and what to do', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    await expect(serve({ roots: [], port })).rejects.toMatchObject({
      code: 'usage',
      message: `expected a free port, got ${port}, which another program listens on`,
      hint: expect.stringContaining(`--port ${port + 1}`),
    });
    await new Promise((resolve) => other.close(resolve));
  });

  test('be it of another machine', async () => {
    await expect(serve({ roots: [], port: 0, host: '192.0.2.7' })).rejects.toMatchObject({
      code: 'usage',
      message: 'expected an address of this machine, got 192.0.2.7',
    });
  });
});
