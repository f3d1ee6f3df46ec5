import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { hashOf, useDownloads } from '../../fixtures/downloads.js';
import { says, sends, whole, type Answer } from '../../fixtures/file-server.js';

const { bytes, sha256, server, file, download, failing, ranges } = useDownloads();

describe('a connection that', () => {
  test('is cut resumes from the byte where it broke', async () => {
    server.answers = [sends(bytes, 120_000, 'cut'), sends(bytes, 50_000, 'cut'), whole(bytes)];
    await download();
    expect(ranges()).toEqual([undefined, 'bytes=120000-', 'bytes=170000-']);
    expect(server.asked[2]!.headers['if-range']).toBe('"one"');
    expect(readFileSync(file()).equals(bytes)).toBe(true);
  });

  test('stalls is given up and resumed', async () => {
    server.answers = [sends(bytes, 120_000, 'stall'), whole(bytes)];
    await download({ patience: { stall: 100, tries: 3, pause: 1 } });
    expect(ranges()).toEqual([undefined, 'bytes=120000-']);
  });

  test('never answers is given up after some tries', async () => {
    server.answers = [() => {}];
    const { code, text, left } = await failing({ patience: { stall: 50, tries: 2, pause: 1 } });
    expect([code, server.asked.length, left]).toEqual(['failure', 2, []]);
    expect(text).toContain('no bytes for 0.05 s');
  });

  test('brings nothing new ends with what is here kept for the next run, which takes only the rest', async () => {
    server.answers = [sends(bytes, 120_000, 'cut'), sends(bytes, 0, 'cut')];
    const { code, text, left } = await failing();
    expect([code, left]).toEqual(['failure', ['model.gguf.download']]);
    expect(text).toMatch(/0\.1 of 0\.3 MB are here.*The same command resumes it/s);
    server.asked = [];
    server.answers = [whole(bytes)];
    expect(await download()).toMatchObject({ sha256, kept: 120_000 });
    expect(ranges()).toEqual(['bytes=120000-']);
    expect(readdirSync(dirname(file()))).toEqual(['model.gguf']);
  });

  test('is refused because nothing listens there is tried again too', async () => {
    const { code, text } = await failing({ url: 'http://127.0.0.1:65535/model.gguf' });
    expect([code, text]).toEqual(['failure', expect.stringContaining('ECONNREFUSED')]);
  });
});

describe('a server that', () => {
  test('ignores ranges is read from the start', async () => {
    const ignorant: Answer = (_, response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.end(bytes);
    };
    server.answers = [sends(bytes, 120_000, 'cut'), ignorant];
    await download();
    expect(readFileSync(file()).equals(bytes)).toBe(true);
  });

  test('has another file by now is read from the start: by If-Range, by its ETag, by its length', async () => {
    const other = Buffer.from(bytes).reverse();
    // It heeds If-Range.
    server.answers = [sends(bytes, 120_000, 'cut', '"one"'), whole(other, '"two"')];
    await download({ sha256: hashOf(other) });
    // It does not, and its answer shows it.
    server.answers = [
      sends(bytes, 120_000, 'cut', '"one"'),
      sends(other, 200_000, 'cut', '"two"'),
      whole(other, '"two"'),
    ];
    await download({ file: file('b'), sha256: hashOf(other) });
    expect(ranges().at(-1)).toBeUndefined();
    // Without ETags the length shows it.
    const longer = Buffer.concat([bytes, bytes]);
    server.answers = [sends(bytes, 120_000, 'cut', ''), sends(longer, 9, 'cut', ''), whole(longer)];
    await download({ file: file('c'), sha256: hashOf(longer) });
  });

  test('has the same length and no ETag cannot pass off a mixture: its hash shows', async () => {
    const other = Buffer.from(bytes).reverse();
    server.answers = [sends(bytes, 120_000, 'cut', ''), sends(other, 300_000, 'cut', '')];
    expect(await failing()).toMatchObject({ code: 'data', left: [] });
  });

  test('cannot resume at this byte (416) is read from the start', async () => {
    server.answers = [sends(bytes, 120_000, 'cut'), says(416, { 'content-range': 'bytes */5' }), whole(bytes)];
    await download();
    expect(ranges()).toEqual([undefined, 'bytes=120000-', undefined]);
  });

  test('sends other bytes is found out; they are removed, and the error names both hashes', async () => {
    server.answers = [whole(Buffer.from('other bytes'))];
    const { code, text, left } = await failing();
    expect([code, left]).toEqual(['data', []]);
    expect(text).toContain(`expected sha256 ${sha256}, got ${hashOf(Buffer.from('other bytes'))}`);
    expect(text).toContain('What came was removed.');
  });

  test('announces another length than the registry is refused before a byte is kept', async () => {
    const text = expect.stringContaining('expected 5 bytes, got 300000');
    expect(await failing({ bytes: 5 })).toEqual({ code: 'data', left: [], text });
  });

  test('announces more than it has, or nothing, gives no file', async () => {
    server.answers = [whole(bytes, '"one"', { 'content-length': '300001' })];
    expect((await failing({ patience: { stall: 50, tries: 2, pause: 1 } })).code).toBe('failure');
    server.answers = [(_, response) => response.write(bytes, () => response.end())];
    expect((await failing({ file: file('b') })).text).toContain('got none announced');
    expect(existsSync(file())).toBe(false);
  });

  test('announces more than the disk has room for is refused before a byte is kept', async () => {
    server.answers = [whole(bytes, '"one"', { 'content-length': '900000000000000' })];
    const text = expect.stringContaining('of free space');
    expect(await failing()).toEqual({ code: 'failure', left: [], text });
  });

  test('is busy is asked again, after the time it names', async () => {
    server.answers = [says(503, { 'retry-after': '0' }), says(429), says(500), whole(bytes)];
    await download({ patience: { stall: 5000, tries: 4, pause: 1 } });
    expect(server.asked).toHaveLength(4);
  });

  test.each([
    [404, 'It is not there'],
    [403, 'licence accepted'],
    [401, 'login'],
    [400, 'status 400'],
  ])('says %i is not asked again', async (status, hint) => {
    server.answers = [says(status)];
    const { code, text, left } = await failing();
    expect([code, server.asked.length, left]).toEqual(['failure', 1, []]);
    expect(text).toContain(hint);
  });
});

describe('a redirect', () => {
  const linked = { 'x-linked-etag': `"${sha256}"`, 'x-linked-size': String(bytes.length) };

  test('is followed, and the hash and size given by the first host are checked', async () => {
    server.answers = [says(302, { location: '/cdn/1', ...linked }), whole(bytes)];
    expect(await download({ sha256: undefined })).toMatchObject({ hashFrom: 'host', sha256 });
    expect(server.asked.map(({ url }) => url)).toEqual(['/model.gguf', '/cdn/1']);
    server.answers = [says(302, { location: '/cdn/1', ...linked }), whole(Buffer.from(bytes).reverse())];
    expect((await failing({ sha256: undefined, file: file('b') })).text).toContain(`expected sha256 ${sha256}`);
    server.answers = [says(302, { location: '/cdn/1', ...linked }), whole(Buffer.from('short'))];
    expect((await failing({ sha256: undefined, file: file('b') })).text).toContain('expected 300000 bytes, got 5');
  });

  test('is followed again at every try, and the bytes resume', async () => {
    const to = (path: string) => says(302, { location: path, ...linked });
    server.answers = [to('/cdn/1'), sends(bytes, 120_000, 'cut'), to('/cdn/2'), whole(bytes)];
    await download({ sha256: undefined });
    expect(server.asked.map(({ url }) => url)).toEqual(['/model.gguf', '/cdn/1', '/model.gguf', '/cdn/2']);
    expect(ranges()[3]).toBe('bytes=120000-');
  });

  test.each(['ftp://127.0.0.1/x', 'file:///etc/hosts', 'http://example.org/x', 'http://user:secret@127.0.0.1/x'])(
    'to %s is not followed',
    async (location) => {
      server.answers = [says(302, { location })];
      const { code, text } = await failing();
      expect([code, text]).toEqual(['failure', expect.stringContaining('expected a redirect to https')]);
      expect(text).not.toContain('secret');
    },
  );

  test('without end is given up', async () => {
    server.answers = [says(302, { location: '/model.gguf' })];
    expect((await failing()).text).toContain('got more than 10 redirects');
  });
});
