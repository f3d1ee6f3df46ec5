/** Text vectors of servers: those of the model behind them, cached like all others, also while servers fail. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { openServerEncoder } from '../../../src/encoder/server-encoder.js';
import type { StateEncoder } from '../../../src/encoder/state-encoder.js';
import { embeddingServer, type EmbeddingServer } from '../../fixtures/embedding-server.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const open: { servers: EmbeddingServer[]; encoders: StateEncoder[] } = { servers: [], encoders: [] };
afterEach(async () => {
  for (const encoder of open.encoders.splice(0)) await encoder.dispose();
  for (const server of open.servers.splice(0)) await server.stop();
});

const newFolder = () => folderWith({});
async function started(dim = 32): Promise<EmbeddingServer> {
  const server = await embeddingServer(dim);
  open.servers.push(server);
  return server;
}

async function opened(servers: string, cacheFolder = newFolder(), more: { normalize?: boolean } = {}) {
  const patience = { delay: () => Promise.resolve(), retries: 2, env: {} };
  const encoder = await openServerEncoder({ ...{ servers, cacheFolder, patience, normalize: true }, ...more });
  open.encoders.push(encoder);
  return encoder;
}

const texts = Array.from({ length: 130 }, (_, i) => `the bird number ${i} sang ${i * i} songs`);
async function vectorsOf(encoder: StateEncoder, some: readonly string[] = texts): Promise<number[][]> {
  const { matrix, rows, dim } = await encoder.encode(some);
  return Array.from(rows, (row) => [...matrix.subarray(row * dim, (row + 1) * dim)]);
}
/** Vectors of all texts are those of the model. */
async function expectRight(encoder: StateEncoder): Promise<void> {
  const [got, wanted] = [(await vectorsOf(encoder)).flat(), (await vectorsOf(hashedEncoder(32))).flat()];
  expect(got).toHaveLength(wanted.length);
  expect(wanted.filter((value, i) => !(Math.abs(value - got[i]!) < 1e-6))).toEqual([]);
}
const asked = (server: EmbeddingServer) => server.asked.flat();

test.each([false, true])('vectors are those of the model behind the server; as numbers: %s', async (plain) => {
  const server = await started();
  server.plain = plain;
  const encoder = await opened(server.spec);
  await expectRight(encoder);
  expect(encoder).toMatchObject({ name: 'words', dim: 32 });
  expect(encoder.counters).toMatchObject({ encodes: texts.length, cacheHits: 0 });
  expect(Math.max(...server.asked.map(({ length }) => length))).toBe(64);
  // A server without keys is sent none.
  expect(new Set(server.authorizations)).toEqual(new Set([undefined]));
});

test('each text is asked once, blank ones never; a second encoder asks for the probe alone', async () => {
  const server = await started();
  const cacheFolder = newFolder();
  const first = await opened(server.spec, cacheFolder);
  const vectors = await vectorsOf(first, [...texts, '  ', texts[0]!]);
  expect(asked(server)).toHaveLength(8 + texts.length);
  const second = await opened(server.spec, cacheFolder);
  expect(second.id).toBe(first.id);
  expect(await vectorsOf(second, [...texts, '  ', texts[0]!])).toEqual(vectors);
  expect(asked(server)).toHaveLength(8 + texts.length + 8);
  // A server elsewhere with the same model has the same vectors.
  const elsewhere = await started();
  expect((await opened(elsewhere.spec, cacheFolder)).id).toBe(first.id);
});

test('a budget keeps the newest words', async () => {
  const server = await started();
  const encoder = await opened(server.spec);
  await encoder.encode(['one, two three four', 'four'], { maxTokens: 2 });
  expect(asked(server).slice(8)).toEqual(['three four', 'four']);
  expect([...(await encoder.countTokens(['one, two', '']))]).toEqual([3, 0]);
});

test('without the server what the cache holds is there, and nothing else', async () => {
  const server = await started();
  const cacheFolder = newFolder();
  const vectors = await vectorsOf(await opened(server.spec, cacheFolder), texts.slice(0, 5));
  await server.stop();
  const offline = await opened(server.spec, cacheFolder);
  expect(await vectorsOf(offline, texts.slice(0, 5))).toEqual(vectors);
  await expect(vectorsOf(offline)).rejects.toMatchObject({ name: 'WorkbenchError' });
  await expect(opened(server.spec)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining('expected a server of text vectors') as unknown,
  });
  open.servers.length = 0;
});

describe('servers that fail', () => {
  test('a request that fails is asked again', async () => {
    const server = await started();
    const encoder = await opened(server.spec);
    server.trick = (response, request) => {
      if (request % 3 !== 0) return false;
      response.writeHead(503).end('{}');
      return true;
    };
    await expectRight(encoder);
  });

  test('of two servers one may go: the other takes its texts', async () => {
    const [one, two] = [await started(), await started()];
    const encoder = await opened(`${one.spec}, ${two.spec}`);
    two.trick = (response) => Boolean(response.destroy());
    await expectRight(encoder);
    expect(asked(one)).toHaveLength(8 + texts.length + 8 * (one.asked.filter(({ length }) => length === 8).length - 1));
  });

  test.each([
    [422, 20, 16],
    [413, 10, 8],
    [400, 5, 4],
  ])('one that refuses (%i) more than %i texts gets fewer from then on', async (status, most, got) => {
    const server = await started();
    let refused = 0;
    server.refuses = ({ input }) =>
      input.length > most ? [status, { error: `batch size ${++refused} > ${most}` }] : undefined;
    const encoder = await opened(server.spec);
    await expectRight(encoder);
    expect(Math.max(...server.asked.map(({ length }) => length))).toBe(got);
    refused = 0;
    await encoder.encode(texts.map((text) => `${text} again`));
    expect(refused).toBe(0);
  });

  test('one that knows no base64 is asked for numbers; one that refuses a text alone is an error with its words', async () => {
    const server = await started();
    server.plain = true;
    server.refuses = (body) =>
      'encoding_format' in body ? [422, { detail: 'encoding_format unsupported' }] : undefined;
    await expectRight(await opened(server.spec));
    server.refuses = () => [413, 'too many tokens in a text'];
    await expect(opened(server.spec)).rejects.toMatchObject({
      code: 'data',
      message: expect.stringContaining('too many tokens in a text') as unknown,
    });
  });

  test('another model under the same address is refused in mid-run, and what came from it is not kept', async () => {
    const server = await started();
    const cacheFolder = newFolder();
    const encoder = await opened(server.spec, cacheFolder);
    await vectorsOf(encoder, texts.slice(0, 10));
    server.trick = (response, request) => {
      // It is restarted with another model.
      if (request > 3) return false;
      response.writeHead(502).end('{}');
      server.dim = 33;
      return true;
    };
    await expect(vectorsOf(encoder)).rejects.toMatchObject({ code: 'data' });
    server.dim = 32;
    server.trick = undefined;
    const again = await opened(server.spec, cacheFolder);
    await expectRight(again);
    expect(again.counters.cacheHits).toBe(10);
  });

  test.each([
    ['a page', 200, '<html></html>', 'text/html', 'expected 8 vectors of one length, got something else'],
    ['too few', 200, '{"data":[]}', 'application/json', 'expected 8 vectors of one length, got something else'],
    ['a key that is missing', 401, '{}', 'application/json', 'expected a server that accepts requests without a key'],
    ['no such model', 404, '{}', 'application/json', 'expected a model that embeds under this name'],
  ])('%s is one clear error', async (_, status, body, type, problem) => {
    const server = await started();
    server.trick = (response) => Boolean(response.writeHead(status, { 'content-type': type }).end(body));
    await expect(opened(server.spec)).rejects.toMatchObject({ message: expect.stringContaining(problem) as unknown });
  });

  test('servers that differ, or addresses that are none', async () => {
    const [one, two] = [await started(32), await started(48)];
    await expect(opened(`${one.spec},${two.spec}`)).rejects.toMatchObject({ code: 'data' });
    await expect(opened(`${one.spec},demo`)).rejects.toMatchObject({ code: 'usage' });
    await expect(opened(one.spec.replace('#words', ''))).rejects.toMatchObject({ code: 'usage' });
    await expect(opened(`${one.spec},${two.spec}s`)).rejects.toMatchObject({
      message: 'expected servers of one model, got words and wordss',
    });
  });
});
