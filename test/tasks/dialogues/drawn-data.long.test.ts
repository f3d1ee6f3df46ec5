/** Untrained agents compared with runs whose data are drawn or shown differently: kept separately, and replayed as given. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../../datasets/opendialkg/import.js';
import type { EvaluationRecord } from '../../../src/run/evaluation.js';
import { train } from '../../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { useReleaseHome } from '../../fixtures/release-home.js';
import { choose, csvOf, folderWith, longDialogue, releaseFiles, say } from '../../fixtures/tiny-release.js';
import { tinySettings } from '../../fixtures/tiny-training.js';

const home = useReleaseHome();
const runOf = (name: string) => join(home(), name);
/** All of train and valid. */
const whole = ['transe.enabled=false', 'ppo.enabled=false', 'data.maxDialogues=null'];
const runs = {
  fold: ['data.fold=1/2'],
  oracle: ['data.oracle=reply'],
  dialogues: ['data.maxDialogues=3'],
  samples: ['data.trainSamples=4', 'data.validSamples=2'],
};

/** Asked for Ada Quill, each by another edge. */
const made = (i: number) => [
  say('user', `Who made number ${i}?`),
  choose('assistant', i % 3 ? ['Glass Harbor', 'made_by', 'Ada Quill'] : ['Ada Quill', 'born_in', 'Lund']),
  say('assistant', `It was made ${i} times.`),
];

beforeAll(async () => {
  const dialogues = Array.from({ length: 12 }, (_, i) => made(i));
  const files = { 'train.csv': csvOf(dialogues), 'valid.csv': csvOf([longDialogue, ...dialogues.slice(0, 5)]) };
  await importOpenDialKg({ from: folderWith({ ...releaseFiles, ...files }) });
  for (const [name, overrides] of Object.entries(runs)) {
    await train({ settings: tinySettings(...whole, ...overrides), folder: runOf(name) });
  }
});

const root = () => join(home(), 'evaluations');
const kept = () => ['--evaluations', root(), '--encoder', 'hashed:32'];
type Saved = EvaluationRecord & { saved: string };
const bytesOf = (folder: string) =>
  ['asked.json', 'answers.jsonl', 'evaluation.json'].map((name) => readFileSync(join(folder, name), 'utf8'));

describe.each(Object.keys(runs))('compared with a run of another %s', (name) => {
  test('an agent says so in its record, leaves its usual evaluation alone, and both replay to the byte', async () => {
    const { saved, ...usual } = await kgwalkJson<Saved>('evaluate', '--agent', 'frequency', ...kept());
    const folder = dirname(saved);
    const before = bytesOf(folder);
    const known = readdirSync(root());
    const { agents } = await kgwalkJson<{ agents: EvaluationRecord[] }>(
      ...['compare', 'frequency', runOf(name), ...kept()],
    );
    const said = Object.fromEntries(runs[name as keyof typeof runs].map((word) => word.slice(5).split('=')));
    for (const [key, value] of Object.entries(said)) {
      expect(agents.map((record) => String((record as Record<string, unknown>)[key]))).toEqual([value, value]);
      expect(usual).not.toHaveProperty(key);
    }
    expect(bytesOf(folder)).toEqual(before);
    const added = readdirSync(root()).filter((one) => !known.includes(one) && one.startsWith('frequency'));
    expect(added).toHaveLength(1);
    for (const one of [folder, join(root(), added[0]!)]) {
      const { err, out } = await kgwalk('replay', one);
      expect([err, out]).toEqual(['', expect.stringContaining('every byte as it was saved')]);
    }
  });
});

test('a split whose only sample cannot be answered is evaluated and replayed, of a run too', async () => {
  const words = ['--split', 'test', ...kept()];
  for (const agent of [['--agent', 'frequency'], [runOf('fold')]]) {
    const { saved, n, misses } = await kgwalkJson<Saved>('evaluate', ...agent, ...words);
    expect([n, misses['start-without-edges']]).toEqual([1, 1]);
    const { err, out } = await kgwalk('replay', dirname(saved));
    expect([err, out]).toEqual(['', expect.stringContaining('1 sample replayed: every byte as it was saved')]);
  }
});
