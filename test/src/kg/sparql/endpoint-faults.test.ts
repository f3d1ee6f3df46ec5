/** Endpoints that misbehave, want a login or serve another graph. */
import { env } from 'node:process';
import { inspect } from 'node:util';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { endpointOf, graphWith, line, newCache, opened } from '../../../fixtures/endpoint-graphs.js';
import { openTestEndpoint, type TestEndpoint } from '../../../fixtures/sparql-endpoint.js';

describe('an endpoint that', () => {
  const html = { 'content-type': 'text/html' };
  /** All timers but that of a request's limit, which ends when the query has arrived, not by a clock: a busy machine would outrun it. */
  const realTimers = ['Date', 'performance', 'setImmediate', 'setInterval', 'nextTick', 'queueMicrotask'] as const;
  const silence = () => {
    jest.advanceTimersByTime(50);
    return true;
  };
  afterEach(() => void jest.useRealTimers());

  test.each<[string, NonNullable<TestEndpoint['trick']> | undefined, string, string, number]>([
    ['answers a page', (_, response) => Boolean(response.writeHead(200, html).end('<html>')), 'config', 'text/html', 1],
    [
      'says JSON',
      (_, response) => Boolean(response.writeHead(400).end('{"exception":"odd"}')),
      'config',
      'status 400: odd',
      1,
    ],
    [
      'wants another agent',
      (_, response) => Boolean(response.writeHead(200, { 'content-type': 'text/plain' }).end('robot')),
      'config',
      'text/plain: robot',
      1,
    ],
    ['refuses a query', (_, response) => Boolean(response.writeHead(400).end('no!')), 'config', 'status 400: no!', 1],
    ['says nothing in time', silence, 'failure', 'no complete answer within 50 ms (2 tries)', 2],
    ['closes connections', (_, response) => Boolean(response.destroy()), 'failure', 'other side closed (2 tries)', 2],
    ['holds no triples', undefined, 'data', 'expected a graph with triples, got none', 1],
  ])('%s is refused before work', async (_, trick, code, message, asked) => {
    const endpoint = await endpointOf('');
    endpoint.trick = trick;
    jest.useFakeTimers({ doNotFake: [...realTimers] });
    await expect(opened(endpoint, { options: '&timeout=0.05' })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    expect(endpoint.queries).toHaveLength(asked);
  });

  test('is not there fails at once', async () => {
    const endpoint = await openTestEndpoint();
    await endpoint.stop();
    const message = expect.stringContaining('ECONNREFUSED');
    await expect(opened(endpoint)).rejects.toMatchObject({ code: 'failure', message });
  });

  describe('wants a login', () => {
    const [user, password, key] = ['ada', 'planted-password-1', 'planted-key-0123456789'];
    const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const before = { ...env };
    afterEach(() => {
      for (const name of Object.keys(env)) if (!(name in before)) delete env[name];
    });
    test.each<[string, Record<string, string>, string | undefined, RegExp]>([
      ['nothing', {}, undefined, /^Set KGWALK_SPARQL_USER and KGWALK_SPARQL_PASSWORD, or KGWALK_SPARQL_KEY/],
      ['a password', { KGWALK_SPARQL_USER: user, KGWALK_SPARQL_PASSWORD: password }, basic, /^Check the password/],
      ['a key', { KGWALK_SPARQL_KEY: `${key}\n`, KGWALK_SPARQL_PASSWORD: password }, `Bearer ${key}`, /^Check the/],
      [
        'a header',
        { KGWALK_SPARQL_HEADERS: `{"Authorization":"Token ${key}","User-Agent":"me"}` },
        `Token ${key}`,
        /^Check/,
      ],
    ])('is sent %s, and repeats it to no one', async (_, variables, sent, hint) => {
      Object.assign(env, variables);
      const endpoint = await endpointOf(line('a', 'knows', 'b'));
      const graph = await opened(endpoint, { known: graphWith('a') });
      expect(endpoint.headers[0]).toMatchObject({ accept: 'application/sparql-results+json' });
      expect(endpoint.headers[0]!.authorization).toBe(sent);
      expect(endpoint.headers[0]!['user-agent']).toMatch(
        variables.KGWALK_SPARQL_HEADERS ? /^me$/ : /^kgwalk\/\d+\.\d+/,
      );
      endpoint.trick = (query, response, count) =>
        Boolean(response.writeHead(count % 2 ? 401 : 403).end(`no: ${sent}`));
      for (let i = 0; i < 2; i++) {
        const error: unknown = await graph.ensure([0]).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: 'config', fatal: true, hint: expect.stringMatching(hint) });
        for (const secret of [password, key, basic.slice(12)]) expect(inspect(error)).not.toContain(secret);
      }
      expect(graph.name).not.toContain('planted');
    });

    test.each(['{', '[1]', '"x"', '{"a b":"x"}'])('is not asked with headers that are none: %s', async (headers) => {
      env.KGWALK_SPARQL_HEADERS = headers;
      const endpoint = await endpointOf(line('a', 'knows', 'b'));
      await expect(opened(endpoint)).rejects.toMatchObject({ code: 'config' });
      expect(endpoint.queries).toEqual([]);
    });
  });

  test('answers 500 once is retried; persistent failures end with a fatal error', async () => {
    const endpoint = await endpointOf(line('a', 'knows', 'b'));
    endpoint.trick = (_, response, count) => count === 1 && Boolean(response.writeHead(500).end('busy'));
    const graph = await opened(endpoint, { known: graphWith('a') });
    endpoint.trick = (_, response) => Boolean(response.writeHead(500).end('busy'));
    const gaveUp = { code: 'failure', fatal: true, message: expect.stringContaining('status 500: busy (9 tries)') };
    await expect(graph.ensure([0])).rejects.toMatchObject(gaveUp);
  });

  test('serves another graph than the cache is detected, at the start and after a reconnection', async () => {
    const endpoint = await endpointOf(line('a', 'knows', 'b') + '\n' + line('b', 'knows', 'c'));
    const cache = newCache();
    const graph = await opened(endpoint, { known: graphWith('a', 'b'), cache });
    await graph.ensure([0]);
    endpoint.clear();
    // The same number of triples in another graph.
    endpoint.load(line('x', 'knows', 'b') + '\n' + line('b', 'knows', 'y'));
    let failed = false;
    endpoint.trick = (_, response) => {
      if (failed) return false;
      failed = true;
      return Boolean(response.writeHead(503).end());
    };
    const other = { code: 'data', fatal: true, message: expect.stringContaining('expected the graph asked before') };
    await expect(graph.ensure([1])).rejects.toMatchObject(other);
    await expect(opened(endpoint, { cache })).rejects.toMatchObject(other);
    endpoint.load(line('x', 'knows', 'z'));
    await expect(opened(endpoint, { cache })).rejects.toMatchObject({
      message: expect.stringContaining('expected 2 triples'),
    });
  });
});

test.each(['out', 'in'] as const)('another graph of equal size is detected by any cached entity, %s', async (which) => {
  const names = Array.from({ length: 10 }, (_, i) => `e${i}`);
  const edge = (name: string, end: string): [string, string, string] =>
    which === 'out' ? [name, 'knows', end] : [end, 'knows', name];
  const graphOf = (another: string) =>
    [...names.map((name) => line(...edge(name, 'b'))), line(...edge(another, 'c'))].join('\n');
  const endpoint = await endpointOf(graphOf('e3'));
  const cache = newCache();
  const graph = await opened(endpoint, { known: graphWith(...names), cache });
  await graph.ensure(names.map((_, i) => i));
  endpoint.clear();
  endpoint.load(graphOf('e7'));
  await expect(opened(endpoint, { cache })).rejects.toMatchObject({
    code: 'data',
    message: expect.stringContaining('expected the graph asked before'),
  });
  endpoint.clear();
  endpoint.load(graphOf('e3'));
  await opened(endpoint, { cache });
});

test('an IRI that would end its brackets is never asked for', async () => {
  const endpoint = await endpointOf(line('a', 'knows', 'b'));
  const evil = 'http://example.org/a> ?p ?o } #';
  const graph = await opened(endpoint, { known: graphWith('a> <b', evil) });
  await graph.ensure([0]);
  expect(endpoint.queries.some((query) => query.includes('<http://example.org/a%3E%20%3Cb>'))).toBe(true);
  await expect(graph.ensure([1])).rejects.toMatchObject({
    code: 'data',
    message: expect.stringContaining('expected an IRI'),
  });
});

test('offline, missing cache entries are reported', async () => {
  const endpoint = await endpointOf(line('a', 'knows', 'b'));
  const cache = newCache();
  await expect(opened(endpoint, { cache, options: '&offline=true' })).rejects.toMatchObject({ code: 'data' });
  await opened(endpoint, { cache });
  const graph = await opened(endpoint, { cache, known: graphWith('a'), options: '&offline=true' });
  await expect(graph.ensure([0])).rejects.toMatchObject({
    message: expect.stringContaining('expected <http://example.org/a> in the cache'),
  });
});
