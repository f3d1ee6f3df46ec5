/** bench/annotators: no run is evaluated on a turn of a dialogue that it was trained on. */
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { beforeAll, expect, test } from '@jest/globals';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { recurringContexts } from '../../bench/annotators/recurring-contexts.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { dataSettings } from '../../datasets/settings.js';
import { splitNames, splitSamples, walkSamples } from '../../datasets/walk-sample.js';
import { readProvenance, sampleSet, writeProvenance } from '../../src/run/provenance.js';
import { openRun } from '../../src/run/run-folder.js';
import { dialogueAgreement, unseenBy } from '../../bench/annotators/study.js';
import type { Work } from '../../tasks/task.js';
import { train } from '../../tasks/train.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { choose, csvOf, folderWith, releaseFiles, say, shortDialogue } from '../fixtures/tiny-release.js';
import { rewriteConfig, tinySettings } from '../fixtures/tiny-training.js';

const runOf = (name: string) => join(home(), name);

/** Three openings, each asked of four dialogues of train and one of valid. */
const openings = ['Who made Glass Harbor?', 'Glass Harbor: whose is it?', 'Tell me of Glass Harbor.'];
const asked = (opening: string, twoHops: boolean) => [
  say('user', opening),
  choose('assistant', ['Glass Harbor', 'made_by', 'Ada Quill'], ...(twoHops ? [['Ada Quill', 'born_in', 'Lund']] : [])),
];
const trained = openings.flatMap((opening) => [false, false, true, false].map((twoHops) => asked(opening, twoHops)));

const home = useSharedHome(async () => {
  const files = { ...releaseFiles, 'train.csv': csvOf(trained), 'valid.csv': csvOf([asked(openings[0]!, true)]) };
  await importOpenDialKg({ from: folderWith({ ...files, 'test.csv': csvOf([shortDialogue]) }) });
});

beforeAll(async () => {
  const alone = ['transe.enabled=false', 'ppo.enabled=false', 'clone.batchSize=4'];
  for (const fold of ['1/2', '2/2']) {
    await train({ settings: tinySettings(...alone, `data.fold=${fold}`), folder: runOf(fold[0]!) });
  }
  await train({ settings: tinySettings(...alone), folder: runOf('whole') });
});

interface Report {
  history: { turns: number };
  judges: { run: string; turns: number }[];
  walkers: { turns: number; drawn: { value: number } };
}
const silent: Work = {
  progress: () => ({ update() {}, finish() {} }),
  note() {},
  onTruncatedLog() {},
  preset: () => Promise.reject(new Error('no preset is read')),
};
const study = async (...runs: string[]) =>
  (await dialogueAgreement('opendialkg', runs.map(runOf), silent))!.json as unknown as Report;

async function samplesOf() {
  const dataset = loadDialogueDataset('opendialkg');
  const graph = await dataset.loadGraph();
  const all = splitNames.flatMap((split) => walkSamples(dataset.loadDialogues(split), graph));
  const learned = (fold: string) => splitSamples(dataset, graph, dataSettings.parse({ fold }), 'train');
  return { recurring: recurringContexts(all).flat(), learned };
}

test('a run is evaluated on dialogues of its fold and of the other splits, and on none that it was trained on', async () => {
  const { recurring, learned } = await samplesOf();
  for (const k of ['1', '2']) {
    const unseen = new Set(unseenBy(openRun(runOf(k)), recurring).map(({ task }) => task.dialogueId));
    const own = learned(`${k}/2`).map(({ task }) => task.dialogueId);
    expect(own.length).toBeGreaterThan(0);
    for (const dialogue of own) expect(unseen).not.toContain(dialogue);
    const others = recurring.map(({ task }) => task.dialogueId).filter((dialogue) => !own.includes(dialogue));
    expect(unseen).toEqual(new Set(others));
  }
});

test('a linked turn in training excludes every turn of its dialogue', async () => {
  const { recurring } = await samplesOf();
  const unseen = unseenBy(openRun(runOf('1')), recurring);
  const { id, dialogueId } = unseen[0]!.task;
  cpSync(runOf('1'), runOf('linked'), { recursive: true });
  const file = join(runOf('linked'), 'provenance.json');
  const record = readProvenance(file)!;
  const set = sampleSet(new Map([[`${dialogueId}~7`, '0'.repeat(32)]]));
  const artifacts = [...record.artifacts, { kind: 'training' as const, name: 'more', samples: 'linked' }];
  writeProvenance(file, { ...record, sets: { ...record.sets, linked: set }, artifacts });
  // As of a run that was stopped, whose notes still grow.
  const state = join(runOf('linked'), 'state.json');
  writeFileSync(state, readFileSync(state, 'utf8').replace('"finished"', '"stopped"'));
  const left = unseenBy(openRun(runOf('linked')), recurring).map(({ task }) => task.id);
  expect(left).toEqual(unseen.map(({ task }) => task.id).filter((one) => one !== id));
});

test('two halves cover every recurring turn', async () => {
  const { recurring } = await samplesOf();
  const { history, judges, walkers } = await study('1', '2');
  expect([history.turns, walkers.turns]).toEqual([recurring.length, recurring.length]);
  // Both runs are evaluated on turns of valid and test.
  const trainTurns = recurring.filter(({ task }) => task.id.startsWith('train')).length;
  expect(judges.reduce((sum, { turns }) => sum + turns, 0)).toBe(2 * recurring.length - trainTurns);
  expect(walkers.drawn.value).toBeGreaterThan(0);
});

test('an ensemble is evaluated on turns that none of its members was trained on', async () => {
  const { judges } = (await dialogueAgreement('opendialkg', [`${runOf('1')}+${runOf('2')}`], silent))!
    .json as unknown as Report;
  expect(judges[0]!.turns).toBe(2);
});

test('a run on all of train is evaluated on the other splits only', async () => {
  const { judges, walkers } = await study('whole');
  expect([judges[0]!.turns, walkers.turns]).toEqual([2, 2]);
});

test('a run without provenance is refused', async () => {
  cpSync(runOf('1'), runOf('silent'), { recursive: true });
  renameSync(join(runOf('silent'), 'provenance.json'), join(home(), 'away.json'));
  await expect(study('silent')).rejects.toThrow('expected the sources of every artifact of run');
});

test('a run on edge lists made from dialogues is refused', async () => {
  cpSync(runOf('1'), runOf('ark'), { recursive: true });
  rewriteConfig(runOf('ark'), (config) => ({ ...config, env: { ...config.env, edgePolicy: 'ark' } }));
  await expect(study('ark')).rejects.toMatchObject({
    code: 'usage',
    hint: expect.stringContaining('train with another env.edgePolicy'),
  });
});

test('gold paths missing from the edge lists are counted as misses', async () => {
  cpSync(runOf('1'), runOf('short'), { recursive: true });
  rewriteConfig(runOf('short'), (config) => ({
    ...config,
    env: { ...config.env, edgePolicy: 'topk-degree', maxOut: 2 },
  }));
  const [all, short] = [await study('1'), await study('short')];
  expect(short.judges[0]!.turns).toBe(all.judges[0]!.turns);
  expect(short.walkers.turns).toBe(all.walkers.turns);
});

test('runs that do not fit are refused with a remedy', async () => {
  for (const [name, data] of Object.entries({ wide: { graph: 'wide' }, oracle: { oracle: 'reply' } })) {
    cpSync(runOf('1'), runOf(name), { recursive: true });
    rewriteConfig(runOf(name), (config) => ({ ...config, data: { ...config.data, ...data } }));
  }
  await expect(study('1', 'wide')).rejects.toMatchObject({
    code: 'usage',
    hint: expect.stringContaining('Ask once for the runs of each graph'),
  });
  await expect(study('oracle')).rejects.toMatchObject({
    code: 'usage',
    hint: expect.stringContaining('train without data.oracle'),
  });
  env.KGWALK_HOME = folderWith({});
  try {
    const [train, valid, test] = openings.map((opening) => csvOf([asked(opening, false)]));
    const files = { ...releaseFiles, 'train.csv': train!, 'valid.csv': valid!, 'test.csv': test! };
    await importOpenDialKg({ from: folderWith(files) });
    await expect(study('1')).rejects.toMatchObject({
      code: 'data',
      message: expect.stringContaining('that recur, got none'),
    });
  } finally {
    rmSync(env.KGWALK_HOME, { recursive: true });
    env.KGWALK_HOME = home();
  }
});
