/** Text vectors: those by hashing; in full, the cache of those of the embedded model. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { open } from 'lmdb';
import { hashedEncoder } from '../../src/encoder/index.js';
import { goldens, inFull, ran, sha256, useDemoHome } from './golden.js';

const { same, numbers } = goldens('encoder');

const texts = ['Who made The Winter Sea?', 'Ödön Horváth, 小説', "I don't know; won't you?", 'a a a b', ''];

same('hashed', 'vectors of five texts by hashing, 32 numbers each', async () => {
  const { matrix, rows, dim } = await hashedEncoder(32).encode(texts);
  const short = await hashedEncoder(32, false).encode(texts, { maxTokens: 2 });
  const bytes = ({ buffer, byteOffset, byteLength }: Float32Array) => new Uint8Array(buffer, byteOffset, byteLength);
  return {
    rows: [...rows].join(' '),
    dim: String(dim),
    'length 1': sha256(bytes(matrix)),
    'last two words, any length': sha256(bytes(short.matrix)),
  };
});

/** Instructions of the processor: llama.cpp picks its kernels by them, so vectors differ in their last digits. */
function instructions(): string {
  const file = '/proc/cpuinfo';
  const flags = existsSync(file) ? (/^flags\s*:(.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '') : '';
  return (
    flags
      .match(/\b(avx\w*|f16c|fma|bmi2|amx\w*|sse4\w*)\b/g)
      ?.sort()
      .join(' ') ?? 'unknown'
  );
}

/** The tables of the cache after the embedded model has encoded what one evaluation needs. */
async function cached() {
  await ran('evaluate', '--agent', 'text-similarity', '--dataset', 'demo', '--limit', '3', '--encoder', 'demo');
  const root = open({ path: join(env.KGWALK_HOME!, 'cache', 'vectors'), maxDbs: 5, noSubdir: false, readOnly: true });
  const table = (name: string) => [
    ...root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' }).getRange(),
  ];
  const tables = { vectors: table('vectors'), tokens: table('tokens') };
  await root.close();
  return tables;
}

if (inFull) {
  useDemoHome();
  same('cache', 'keys and counts of tokens that the embedded model leaves in the cache of vectors', async () => {
    const { vectors, tokens } = await cached();
    return {
      count: String(vectors.length),
      keys: sha256(Buffer.concat(vectors.map(({ key }) => key))),
      'bytes of a vector, with its checksum': String(vectors[0]!.value.length),
      tokens: sha256(Buffer.concat(tokens.flatMap(({ key, value }) => [key, value]))),
    };
  });

  numbers(
    'vectors',
    'vectors of the embedded model as the cache keeps them',
    async () => ({ vectors: sha256(Buffer.concat((await cached()).vectors.map(({ value }) => value))) }),
    instructions(),
  );
}
