/** `kgwalk train --dry-run`: a trial of a second of each phase; `kgwalk encode`: one that encodes the texts of a run in advance. */
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { tryRun } from '../../tasks/train.js';
import type { TrialReport } from '../../trainers/trial.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { embeddingServer } from '../fixtures/embedding-server.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { importTinyLinks, tinyLinkSettings } from '../fixtures/tiny-link-training.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { tinyOverrides, tinySettings } from '../fixtures/tiny-training.js';
import { filmSettings, importFilms } from '../fixtures/toy-question-training.js';

const home = useSharedHome(async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  await importFilms();
  await importTinyLinks();
});
const set = (overrides: readonly string[]) => overrides.flatMap((one) => ['--set', one]);
const tiny = ['train', 'opendialkg-tiny', ...set(tinyOverrides), '--dry-run'];
const stepsOf = ({ phases }: TrialReport) =>
  Object.fromEntries(phases.map(({ phase, steps, unit }) => [phase, `${steps} ${unit}`.trim()]));
const perStep = ['stateText.encode=per-step', 'walker.head=pa-mlp', 'walker.placeVectors=false'];
const left = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('kgwalk-trial-') && name.includes(`-${pid}-`));

test('prints every phase with its steps, and time, memory and disk of the whole; leaves nothing', async () => {
  const folder = join(folderWith({}), 'dry');
  const report = await kgwalkJson<TrialReport>(...tiny, '--run-dir', folder);
  expect(new Set(report.phases.map(({ phase }) => phase)).size).toBe(report.phases.length);
  expect(stepsOf(report)).toEqual({
    start: '1',
    transe: '12 triples',
    'encode entities': expect.stringMatching(/^\d texts$/),
    'encode relations': expect.stringMatching(/^\d texts$/),
    'encode messages': expect.stringMatching(/^\d texts$/),
    'encode dialogues': expect.stringMatching(/^\d texts$/),
    clone: '6 updates',
    'clone: evaluate on valid': '4 samples',
    ppo: '4 updates',
    'ppo: evaluate on valid': '6 samples',
  });
  expect(report).toMatchObject({
    notes: ['3 train and 2 valid samples on graph dialogue', 'texts encoded by hashed:32'],
    networks: 'simd: asked for',
    seconds: report.phases.reduce((sum, { seconds }) => sum + seconds, 0),
    texts: { encoder: 'hashed:32', missing: expect.any(Number) },
  });
  for (const { phase, secondsPerStep, seconds } of report.phases.filter(({ phase }) => !phase.startsWith('encode'))) {
    expect([phase, seconds > 0 && seconds >= secondsPerStep]).toEqual([phase, true]);
  }
  expect(report.memoryBytes).toBeGreaterThan(50e6);
  expect(report.diskBytes).toBeGreaterThan(1e4);
  expect([existsSync(folder), existsSync(join(home(), 'embeddings')), left()]).toEqual([false, false, []]);

  const { out } = await kgwalk(...tiny);
  expect(out).toMatch(
    /^3 train and 2 valid [^]*\nnetworks computed on simd: asked for\n\nphase +steps +a step +time\n/,
  );
  expect(out).toMatch(/\nppo +4 updates +[\d.]+ m?s +00:0\d\n/);
  expect(out).toMatch(/\ntotal: about 00:\d\d, \d\.\d\d GB of memory, 0\.00 GB of disk\n$/);
});

test.each([
  ['questions', () => filmSettings(), 'ppo', '20 updates'],
  ['states read one by one', () => tinySettings(...perStep), 'encode first states', '3 texts'],
  ['links', () => tinyLinkSettings(), 'ppo', '2 updates'],
])('%s', async (_, settings, phase, steps) => {
  expect(stepsOf(await tryRun({ settings: settings(), folder: folderWith({}) }))).toMatchObject({ [phase]: steps });
  expect(left()).toEqual([]);
});

test('a setting error is reported before any step, and a stop leaves nothing', async () => {
  const refused = await kgwalk(...tiny, '--set', 'ppo.init=scratch');
  expect([refused.exitCode, refused.out]).toEqual([2, '']);
  expect(refused.err).toContain('expected ppo.klCoef=0');
  const signal = AbortSignal.abort();
  const stopped = tryRun({ settings: tinySettings(), folder: folderWith({}), signal });
  await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
  expect(left()).toEqual([]);
});

test('kgwalk encode encodes each text once, says what it did, and refuses what training would refuse', async () => {
  const server = await embeddingServer(32);
  const encode = ['encode', 'opendialkg-tiny', ...set(tinyOverrides.slice(1)), '--model', server.spec];
  const whole = await kgwalkJson<{ texts: number; encoded: number }>(...encode);
  expect(whole.encoded).toBeGreaterThan(10);
  expect(new Set(server.asked.flat()).size).toBe(server.asked.flat().length);
  expect((await kgwalk(...encode)).out).toBe(`${whole.texts} texts: 0 encoded by words, the others were cached\n`);
  await server.stop();
  expect((await kgwalk('encode', 'opendialkg', '--set', 'ppo.nothing=1')).exitCode).not.toBe(0);
});
