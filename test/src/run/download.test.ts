import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { env } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { WorkbenchError } from '../../../src/run/errors.js';
import { useDownloads, hashOf } from '../../fixtures/downloads.js';
import { sends, whole, says, type Answer } from '../../fixtures/file-server.js';

const { bytes, sha256, server, file, download, failing, ranges } = useDownloads();

describe('a download', () => {
  test('is the file of the server, checked by its hash, and the only file', async () => {
    expect(await download()).toEqual({ file: file(), bytes: bytes.length, sha256, hashFrom: 'caller', kept: 0 });
    expect(readFileSync(file()).equals(bytes)).toBe(true);
    expect(readdirSync(dirname(file()))).toEqual(['model.gguf']);
    expect(server.asked[0]!.headers['accept-encoding']).toBe('identity');
  });

  test('that is here already with that hash sends no request', async () => {
    writeFileSync(file(), bytes);
    expect(await download()).toMatchObject({ kept: bytes.length });
    expect(server.asked).toEqual([]);
  });

  test('replaces a file of another hash when all went well, and leaves it when not', async () => {
    writeFileSync(file(), 'older');
    server.answers = [whole(Buffer.from('wrong'))];
    await failing();
    expect(readFileSync(file(), 'utf8')).toBe('older');
    server.answers = [whole(bytes)];
    await download();
    expect(readFileSync(file()).equals(bytes)).toBe(true);
  });

  test('can be checked by the id that git gives the content', async () => {
    const gitBlob = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    expect(await download({ sha256: undefined, gitBlob })).toMatchObject({ hashFrom: 'caller' });
    server.answers = [whole(Buffer.from('other'))];
    const { text } = await failing({ file: file('other'), sha256: undefined, gitBlob });
    expect(text).toContain(`expected git blob ${gitBlob}`);
  });

  test('says how far it is, apart from what an earlier run brought', async () => {
    server.answers = [sends(bytes, 100_000, 'cut'), whole(bytes)];
    const lines: unknown[][] = [];
    await download({
      progress: (...opened) => {
        lines.push(opened);
        return { update: (done) => lines.push([done]), finish: () => lines.push(['end']) };
      },
    });
    expect(lines[0]![1]).toBe(0.3);
    expect(lines.at(-2)).toEqual([0.3]);
    expect(lines.at(-1)).toEqual(['end']);
  });
});

describe('without a hash', () => {
  test('from registry, user or host nothing is taken, unless that is accepted', async () => {
    const { code, text, left } = await failing({ sha256: undefined });
    expect([code, left]).toEqual(['usage', []]);
    expect(text).toMatch(/expected a sha256.*--accept-unverified/s);
    expect(await download({ sha256: undefined, acceptUnverified: true })).toMatchObject({ hashFrom: 'nobody', sha256 });
  });

  test('the caller can look at the file before it gets its name', async () => {
    const check = () => {
      throw new WorkbenchError('data', 'no model');
    };
    expect(await failing({ check })).toMatchObject({ code: 'data', left: [] });
  });
});

describe('an address', () => {
  test.each([
    'http://example.org/x',
    'ftp://127.0.0.1/x',
    'file:///etc/hosts',
    'https://me:secret@example.org/',
    'model',
  ])('%s is not asked', async (url) => {
    const { code, text } = await failing({ url });
    expect([code, server.asked.length]).toEqual(['usage', 0]);
    expect(text).not.toContain('secret');
  });

  test('is looked up at the mirror that KGWALK_DOWNLOADS_BASE names', async () => {
    env.KGWALK_DOWNLOADS_BASE = `${server.origin}/mirror/`;
    try {
      await download({ url: 'https://huggingface.co/org/name/resolve/main/m.gguf?download=true' });
    } finally {
      delete env.KGWALK_DOWNLOADS_BASE;
    }
    expect(server.asked.map(({ url }) => url)).toEqual([
      '/mirror/huggingface.co/org/name/resolve/main/m.gguf?download=true',
    ]);
  });
});

describe('a stop', () => {
  test('keeps what has come, and prints that the same command resumes', async () => {
    const stop = new AbortController();
    server.answers = [sends(bytes, 120_000, 'stall')];
    let seen = 0;
    const progress = () => ({
      update: () => {
        if (++seen === 1) stop.abort(new WorkbenchError('stopped', 'stopped by the user'));
      },
      finish() {},
    });
    const { code, text, left } = await failing({ signal: stop.signal, progress });
    expect([code, left]).toEqual(['stopped', ['model.gguf.download']]);
    expect(text).toContain('The same command resumes it.');
    server.answers = [whole(bytes)];
    expect((await download()).kept).toBeGreaterThan(0);
  });

  test('two at once: the second reports the holder', async () => {
    server.answers = [sends(bytes, 10, 'stall')];
    const stop = new AbortController();
    const first = failing({ signal: stop.signal });
    while (server.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await failing()).text).toContain('expected a download without another writer');
    stop.abort();
    expect((await first).code).toBe('stopped');
  });

  test('remains that do not fit are dropped', async () => {
    mkdirSync(`${file()}.download`);
    writeFileSync(join(`${file()}.download`, 'part'), 'remains');
    writeFileSync(join(`${file()}.download`, 'state.json'), '{"url":"https://elsewhere.example/","bytes":10}');
    expect(await download()).toMatchObject({ kept: 0 });
    expect(ranges()).toEqual([undefined]);
  });
});

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
