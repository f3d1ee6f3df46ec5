import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterEach, describe, expect, test } from '@jest/globals';
import { modelsFolder } from '../../src/run/locations.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { hashOf } from '../fixtures/downloads.js';
import { says, sends, useFileServer, whole } from '../fixtures/file-server.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { tinyGguf } from '../fixtures/tiny-gguf.js';

const model = tinyGguf({
  entries: [
    ['general.architecture', 8, 'llama'],
    ['general.name', 8, 'Tiny'],
    ['general.license', 8, 'mit'],
    ['llama.context_length', 4, 512],
    ['llama.embedding_length', 4, 4],
    ['llama.block_count', 4, 2],
    ['llama.attention.head_count', 4, 4],
    ['llama.attention.head_count_kv', 4, 2],
    ['tokenizer.ggml.model', 8, 'gpt2'],
    ['tokenizer.ggml.tokens', 9, ['a', 'b']],
    ['tokenizer.chat_template', 8, '<|im_start|>{{ messages }}<|im_end|>'],
  ],
});
const sha256 = hashOf(model);

useOwnHome();
const server = useFileServer(() => whole(model));
afterEach(() => {
  delete env.KGWALK_DOWNLOADS_BASE;
});

const files = () => readdirSync(modelsFolder()).sort();
const address = () => `${server.origin}/files/Tiny-Q8.gguf`;

interface Listed {
  name: string;
  state: string;
}
const state = async (name: string) =>
  (await kgwalkJson<Listed[]>('models', 'list')).find((one) => one.name === name)?.state;

describe('kgwalk models get', () => {
  test('an address with its hash becomes a model with a name', async () => {
    const { exitCode, out, err } = await kgwalk('models', 'get', address(), '--sha256', sha256.toUpperCase());
    expect([exitCode, err]).toEqual([0, `Tiny-Q8 from ${address()}\nlicence: see ${server.origin}\n`]);
    expect(out).toContain('downloaded; its sha256 is right');
    expect(out).toContain('--model Tiny-Q8');
    expect(files()).toEqual(['Tiny-Q8.gguf', 'Tiny-Q8.json']);
    expect(await state('Tiny-Q8')).toBe('here');
    expect(JSON.parse(readFileSync(join(modelsFolder(), 'Tiny-Q8.json'), 'utf8'))).toEqual({
      schemaVersion: 1,
      name: 'Tiny-Q8',
      url: address(),
      sha256,
      bytes: model.length,
      hashFrom: 'caller',
    });
  });

  test('without a hash from anybody it needs --accept-unverified, and says so ever after', async () => {
    const refused = await kgwalk('models', 'get', address());
    expect([refused.exitCode, refused.err]).toEqual([2, expect.stringContaining('--accept-unverified')]);
    expect(files()).toEqual([]);
    expect((await kgwalk('models', 'get', address(), '--accept-unverified')).out).toContain('UNVERIFIED');
    expect(await kgwalkJson('models', 'get', address())).toMatchObject({ hashFrom: 'nobody', kept: model.length });
  });

  test('a registered name is looked up where the registry says, and its pinned hash holds', async () => {
    env.KGWALK_DOWNLOADS_BASE = server.origin;
    const { exitCode, err } = await kgwalk('models', 'get', 'all-minilm-l6-v2');
    expect(server.asked[0]!.url).toMatch(
      /^\/huggingface\.co\/second-state\/All-MiniLM-L6-v2-Embedding-GGUF\/resolve\/\w{40}\//,
    );
    expect(exitCode).toBe(3);
    expect(err).toContain('licence: Apache-2.0');
    expect(err).toMatch(new RegExp(`expected sha256 [0-9a-f]{64}, got ${sha256}`));
    expect([files(), await state('all-minilm-l6-v2')]).toEqual([[], 'to get']);
  });

  test('a licence that asks for it is accepted first, by a flag', async () => {
    env.KGWALK_DOWNLOADS_BASE = server.origin;
    const { exitCode, err } = await kgwalk('models', 'get', 'llama-3.2-1b-instruct');
    expect([exitCode, server.asked.length]).toEqual([2, 0]);
    expect(err).toMatch(/licence: Llama 3\.2 Community License.*expected --accept-licence/s);
    await kgwalk('models', 'get', 'llama-3.2-1b-instruct', '--accept-licence');
    expect(server.asked.length).toBe(1);
  });

  test('an interrupted download is listed, and resumes', async () => {
    server.answers = [sends(model, 100, 'cut'), says(404)];
    expect((await kgwalk('models', 'get', address(), '--sha256', sha256)).exitCode).toBe(1);
    expect(files()).toEqual(['Tiny-Q8.gguf.download']);
    server.answers = [whole(model)];
    expect(await kgwalkJson('models', 'get', address(), '--sha256', sha256)).toMatchObject({ kept: 100 });
    expect(files()).toEqual(['Tiny-Q8.gguf', 'Tiny-Q8.json']);
  });

  test('a page instead of a model is not kept, even with the right hash', async () => {
    const page = Buffer.from('<html>');
    server.answers = [whole(page)];
    const { exitCode, err } = await kgwalk('models', 'get', address(), '--sha256', hashOf(page));
    expect([exitCode, err]).toEqual([3, expect.stringContaining('does not start with "GGUF"')]);
    expect(files()).toEqual([]);
  });

  test('a name whose file was deleted is free for another address', async () => {
    await kgwalk('models', 'get', address(), '--sha256', sha256, '--name', 'mine');
    rmSync(join(modelsFolder(), 'mine.gguf'));
    const other = Buffer.concat([model, Buffer.alloc(32)]);
    server.answers = [whole(other)];
    const words = ['models', 'get', `${server.origin}/other.gguf`, '--name', 'mine', '--accept-unverified'];
    expect(await kgwalkJson(...words)).toMatchObject({ sha256: hashOf(other), hashFrom: 'nobody' });
  });

  test('a name that another file has is not taken from it', async () => {
    mkdirSync(modelsFolder());
    writeFileSync(join(modelsFolder(), 'mine.gguf'), model);
    const { exitCode, err } = await kgwalk('models', 'get', address(), '--sha256', sha256, '--name', 'mine');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('which is a file of yours')]);
  });

  test.each([
    [['qwen2.5-05b-instruct'], 'Did you mean "qwen2.5-0.5b-instruct"?'],
    [['https://example.org/model.bin'], 'expected the address of a .gguf file'],
    [['http://example.org/model.gguf', '--accept-unverified'], 'expected an address https://'],
    [['https://example.org/m-00001-of-00003.gguf'], 'got one part of several'],
    [['https://example.org/m.gguf', '--sha256', 'abc'], 'expected a sha256 of 64 hexadecimal digits'],
    [['https://example.org/m.gguf', '--name', '../m'], 'expected a name of a model'],
    [['https://example.org/demo.gguf'], 'expected another name than demo'],
  ])('%j is refused before anything is asked', async (words, message) => {
    const { exitCode, err } = await kgwalk('models', 'get', ...words);
    expect([exitCode, err]).toEqual([2, expect.stringContaining(message)]);
    expect([server.asked.length, existsSync(modelsFolder())]).toEqual([0, false]);
  });
});

describe('kgwalk models info', () => {
  test('says what the file says, and its hash', async () => {
    await kgwalk('models', 'get', address(), '--sha256', sha256);
    expect(await kgwalkJson('models', 'info', 'Tiny-Q8')).toEqual({
      file: join(modelsFolder(), 'Tiny-Q8.gguf'),
      architecture: 'llama',
      bytes: model.length,
      parameters: 8,
      quantisation: 'F32',
      chatTemplate: 'ChatML',
      name: 'Tiny',
      licence: 'mit',
      contextLength: 512,
      layers: 2,
      embeddingLength: 4,
      poolings: ['last', 'mean'],
      heads: 4,
      keyValueHeads: 2,
      vocabulary: 2,
      tokenizer: 'gpt2',
      sha256,
      url: address(),
      hashFrom: 'caller',
    });
    const { out } = await kgwalk('models', 'info', 'Tiny-Q8');
    expect(out).toMatch(/^heads +4, 2 of keys and values$/m);
    expect(out).toMatch(/^text vectors +4 numbers, pooling last token$/m);
    expect(out).toMatch(/^poolings +last, mean \(encoder\.pooling\)$/m);
  });

  test('of the embedded model', async () => {
    const facts = await kgwalkJson<{ bytes: number }>('models', 'info', 'demo');
    expect(facts).toMatchObject({ architecture: 'llama', chatTemplate: 'ChatML', licence: 'MIT' });
    expect(facts.bytes).toBeLessThan(8e6);
    expect(await state('demo')).toBe('embedded');
  });

  test.each([
    ['no-such.gguf', 3, 'got nothing'],
    ['demp', 2, 'Did you mean "demo"?'],
  ])('of %s is an error that says why', async (name, code, message) => {
    const { exitCode, err } = await kgwalk('models', 'info', name);
    expect([exitCode, err]).toEqual([code, expect.stringContaining(message)]);
  });
});
