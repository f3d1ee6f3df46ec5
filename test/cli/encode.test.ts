/** `kgwalk encode`: the texts of a training, in parts on machines of their own, brought together by packs. */
import { join } from 'node:path';
import { env } from 'node:process';
import { afterEach, describe, expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { embeddingServer, type EmbeddingServer } from '../fixtures/embedding-server.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';

useOwnHome();
let server: EmbeddingServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** The texts of the probe that tells what a server computes with. */
const probe = 8;

async function machine(): Promise<void> {
  env.KGWALK_HOME = folderWith({});
  await importOpenDialKg({ from: folderWith(releaseFiles) });
}
const encode = (...words: string[]) =>
  kgwalkJson<{ texts: number; encoded: number }>('encode', 'opendialkg', '--model', server!.spec, ...words);

describe('kgwalk encode', () => {
  test.each([
    ['texts once', []],
    ['states one by one', ['--later', '--set', 'stateText.encode=per-step', '--set', 'walker.head=pa-mlp']],
  ])('%s: parts on machines of their own are all that a training encodes', async (_, words) => {
    server = await embeddingServer(32);
    await machine();
    const whole = await encode(...words);
    expect(whole.encoded).toBeGreaterThan(10);
    const all = server.asked.flat().slice(probe);
    expect((await encode(...words)).encoded).toBe(0);
    const packs = join(folderWith({}), 'packs');
    let asked = 0;
    for (const shard of ['1/3', '2/3', '3/3']) {
      await machine();
      const before = server.asked.flat().length;
      const part = await encode(...words, '--shard', shard);
      asked += part.texts;
      for (const text of server.asked.flat().slice(before + probe)) expect(all).toContain(text);
      await kgwalk('cache', 'pack', packs);
    }
    expect(asked).toBe(whole.texts);
    await machine();
    expect(await kgwalkJson('cache', 'fill', packs)).toMatchObject({ vectors: whole.encoded, known: 0 });
    expect(await encode(...words)).toMatchObject({ texts: whole.texts, encoded: 0 });
  });

  test('says what it did; refuses what training would refuse', async () => {
    server = await embeddingServer(32);
    await machine();
    const { out } = await kgwalk('encode', 'opendialkg', '--model', server.spec, '--shard', '2/2');
    expect(out).toMatch(/^\d+ texts of part 2\/2: \d+ encoded by words, the others were there\n$/);
    expect((await kgwalk('encode', 'opendialkg', '--shard', '3/2')).told).toContain('expected a part and how many');
    expect((await kgwalk('encode', 'opendialkg', '--set', 'ppo.nothing=1')).exitCode).not.toBe(0);
  });
});
