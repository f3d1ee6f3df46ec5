import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { importCustom } from '../../../datasets/custom/import.js';
import { importDemo } from '../../../datasets/demo/import.js';
import { demoSettings } from '../../../datasets/demo/schema.js';
import { writeDemoRelease } from '../../../datasets/demo/write-release.js';
import { importOpenDialKg } from '../../../datasets/opendialkg/import.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { readGraphFile } from '../../../src/kg/graph-file.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { folderWith } from '../../fixtures/tiny-release.js';

useOwnHome();
const small = { entities: 300, triples: 2000, dialogues: 40, questions: 80 };

const bytesOf = (dataset: string) => (file: string) => readFileSync(join(env.KGWALK_HOME!, 'datasets', dataset, file));

describe('importing the demo', () => {
  test('the embedded model was trained on this world: the default’s dialogues, questions and graphs stay', async () => {
    await importDemo();
    const hash = createHash('sha256');
    for (const dataset of ['demo', 'demo-questions']) {
      const folder = join(env.KGWALK_HOME!, 'datasets', dataset);
      const files = readdirSync(folder).filter((file) => file !== 'dataset.json');
      for (const file of files.sort()) {
        const isGraph = file.endsWith('.bin');
        hash.update(isGraph ? (await readGraphFile(join(folder, file))).hash : bytesOf(dataset)(file));
      }
    }
    expect(hash.digest('hex')).toBe('f6179138196f377d07e4714a94012523c5de962e27c1c4bff735849d8f99a680');
  });

  test('what is written imports to the same bytes', async () => {
    await importDemo({ settings: small });
    const from = folderWith({});
    writeDemoRelease(from, demoSettings.parse(small));
    await importOpenDialKg({ from, name: 'again' });
    await importCustom({ from, name: 'again-questions' });
    for (const file of ['train', 'valid', 'test']
      .map((split) => `dialogues.${split}.jsonl`)
      .concat('graph-dialogue.bin')) {
      expect(bytesOf('again')(file).equals(bytesOf('demo')(file))).toBe(true);
    }
    expect(bytesOf('again-questions')('graph-graph.bin').equals(bytesOf('demo-questions')('graph-graph.bin'))).toBe(
      true,
    );
    for (const split of ['train', 'valid', 'test']) {
      const parts = ['1-hop', '2-hop', '3-hop', 'truth'].map((subset) =>
        bytesOf('demo-questions')(`questions.${subset}.${split}.jsonl`),
      );
      expect(bytesOf('again-questions')(`questions.all.${split}.jsonl`).equals(Buffer.concat(parts))).toBe(true);
    }
  });

  test('the manifests say what made them', async () => {
    const flags = Object.entries(small).flatMap(([key, value]) => [`--${key}`, String(value)]);
    const made = await kgwalkJson<Record<string, { name: string; generated: unknown }>>('datasets', 'demo', ...flags);
    const generated = { by: 'kgwalk datasets demo', settings: { seed: 1, ...small } };
    expect(made).toMatchObject({
      dialogues: { name: 'demo', generated },
      questions: { name: 'demo-questions', generated },
    });
    expect((await kgwalk('datasets', 'check', 'demo-questions')).exitCode).toBe(0);
  });

  test('one size given alone keeps the density; a world of triples alone is streamed', async () => {
    const folder = folderWith({});
    const flags = ['--triples', '7000', '--dialogues', '0', '--questions', '0', '--write', folder];
    const { triples } = await kgwalkJson<{ triples: number }>('datasets', 'demo', ...flags);
    const lines = readFileSync(join(folder, 'triples.txt'), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(triples);
    expect(Math.abs(triples - 7000)).toBeLessThan(500);
    expect(readdirSync(folder)).toEqual(['triples.txt']);
    const entities = new Set(lines.map((line) => line.split('\t')[0]));
    expect(Math.abs(entities.size - 1050)).toBeLessThan(150);
  });

  test('refuses sizes that cannot be', async () => {
    const { exitCode, err } = await kgwalk('datasets', 'demo', '--dialogues', '3');
    expect(exitCode).not.toBe(0);
    expect(err).toContain('expected 0 or at least 10');
  });
});
