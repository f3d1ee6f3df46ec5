import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { downloadFile } from '../../src/run/download.js';
import { useFileServer } from '../fixtures/file-server.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { nasty } from '../fixtures/spoilt.js';

const body = Buffer.from('the whole file');
const sha256 = createHash('sha256').update(body).digest('hex');
const server = useFileServer(() => (_request, response) => response.end(body));

/** Characters that a header may hold: no line breaks, no control characters. */
const words = nasty.filter((word) => /^[\x20-\x7e]{1,500}$/.test(word));
const header = (...valid: string[]) => fc.option(fc.constantFrom(...valid, ...words), { nil: undefined, freq: 1 });

interface Given {
  status: number;
  body: Buffer;
  /** True if the reply states the length of its body. */
  counted: boolean;
  headers: Record<string, string | undefined>;
}

const answers: fc.Arbitrary<Given> = fc.record({
  status: fc.constantFrom(200, 200, 200, 206, 206, 416, 302, 307, 404, 204),
  body: fc.constantFrom(body, Buffer.alloc(0), Buffer.from('other bytes!!!'), Buffer.concat([body, body])),
  counted: fc.boolean(),
  headers: fc.record({
    'content-range': header('bytes 0-13/14', 'bytes 5-13/14', 'bytes */14', 'bytes 0-13/99999999999999999999'),
    etag: header('"a"', 'W/"a"'),
    location: header('/', '/other', 'http://169.254.169.254/', 'file:///etc/passwd', '//x'),
    'x-linked-etag': header(`"${sha256}"`, '"0"'),
    'x-linked-size': header('14', '-1', '1e9'),
    'content-encoding': header('gzip', 'identity'),
  }),
});

test('for any answer of a host, the file has the expected hash, or there is none', async () => {
  const { path } = hostileFile('model.gguf');
  const download = async (given: Given[]) => {
    rmSync(path, { force: true });
    rmSync(`${path}.download`, { recursive: true, force: true });
    server.answers = given.map(({ status, body: bytes, counted, headers }) => (_request, response) => {
      const present = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
      response.writeHead(status, {
        ...(counted && { 'content-length': bytes.length }),
        ...(Object.fromEntries(present) as Record<string, string>),
      });
      response.end(bytes);
    });
    try {
      return await downloadFile({
        ...{ url: `${server.origin}/model.gguf`, file: path, sha256, label: 'model' },
        patience: { stall: 5000, tries: 1, pause: 0 },
      });
    } finally {
      if (existsSync(path)) expect(readFileSync(path).equals(body)).toBe(true);
    }
  };
  await withstands(fc.array(answers, { minLength: 1, maxLength: 3 }), download, { runs: [60, 10_000] });
});
