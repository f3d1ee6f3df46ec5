import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { env } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { WorkbenchError } from '../../../src/run/errors.js';
import { useDownloads } from '../../fixtures/downloads.js';
import { sends, whole } from '../../fixtures/file-server.js';

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
