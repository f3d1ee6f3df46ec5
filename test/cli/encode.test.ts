/** `kgwalk encode`: the texts of a training run, in advance. */
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

async function machine(): Promise<void> {
  env.KGWALK_HOME = folderWith({});
  await importOpenDialKg({ from: folderWith(releaseFiles) });
}
const encode = (...words: string[]) =>
  kgwalkJson<{ texts: number; encoded: number }>('encode', 'opendialkg', '--model', server!.spec, ...words);

describe('kgwalk encode', () => {
  test('encodes each text once', async () => {
    server = await embeddingServer(32);
    await machine();
    const whole = await encode();
    expect(whole.encoded).toBeGreaterThan(10);
    expect(new Set(server.asked.flat()).size).toBe(server.asked.flat().length);
    expect(await encode()).toMatchObject({ texts: whole.texts, encoded: 0 });
  });

  test('says what it did; refuses what training would refuse', async () => {
    server = await embeddingServer(32);
    await machine();
    const { out } = await kgwalk('encode', 'opendialkg', '--model', server.spec);
    expect(out).toMatch(/^\d+ texts: \d+ encoded by words, the others were cached\n$/);
    expect((await kgwalk('encode', 'opendialkg', '--set', 'ppo.nothing=1')).exitCode).not.toBe(0);
  });
});
