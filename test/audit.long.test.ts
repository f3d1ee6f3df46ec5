/** `npm run audit` against a registry of the test's own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { env } from 'node:process';
import { expect, test } from '@jest/globals';
import { type Answer, useFileServer } from './fixtures/file-server.js';

const registry = useFileServer(() => sends(405));

function sends(status: number, body: unknown = {}): Answer {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

async function audit() {
  const own = {
    npm_config_registry: registry.origin,
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
  };
  const child = spawn('npm', ['run', '--silent', 'audit'], {
    env: { ...env, ...own },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (text) => (out += String(text)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out };
}

test('a registry without audits is reported, without its address, and is no failure', async () => {
  const { code, out } = await audit();
  expect(registry.asked.map(({ method }) => method)).toContain('POST');
  expect([code, out]).toEqual([0, expect.stringMatching(/^not audited: .*\(405 .*\); nothing is known .*\n$/)]);
  expect(out).not.toContain(registry.origin);
});

test('packages nothing is known against pass', async () => {
  registry.answers = [sends(200)];
  expect(await audit()).toEqual({ code: 0, out: expect.stringMatching(/^0 weaknesses known in \d{3} packages\n$/) });
});

test('a weakness is named and fails', async () => {
  const advisory = {
    id: 1,
    url: 'https://advisory.example/1',
    title: 'Reads too far',
    severity: 'high',
    vulnerable_versions: '*',
  };
  const versions = { '1.0.0': { name: 'csv-parse', version: '1.0.0' } };
  registry.answers = [
    sends(200, { 'csv-parse': [advisory] }),
    sends(200, { name: 'csv-parse', versions, 'dist-tags': { latest: '1.0.0' } }),
  ];
  const { code, out } = await audit();
  expect([code, out]).toEqual([
    1,
    expect.stringContaining('high: csv-parse *: Reads too far, https://advisory.example/1\n'),
  ]);
});
