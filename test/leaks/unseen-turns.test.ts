/** `kgwalk datasets check NAME --agreement --run A --run B`: a turn is never judged by a run that learned from its dialogue. */
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { recurringContexts } from '../../datasets/dialogues/recurring-contexts.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { dataSettings } from '../../datasets/settings.js';
import { splitNames, splitSamples, walkSamples } from '../../datasets/walk-sample.js';
import { readProvenance, sampleSet, writeProvenance } from '../../src/run/provenance.js';
import { openRun } from '../../src/run/run-folder.js';
import { dialogueAgreement, unseenBy } from '../../tasks/dialogues/labels/judge.js';
import type { Trained, Work } from '../../tasks/task.js';
import { train } from '../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { choose, csvOf, folderWith, releaseFiles, say, shortDialogue } from '../fixtures/tiny-release.js';
import { rewriteConfig, tinySettings } from '../fixtures/tiny-training.js';

const previousHome = env.KGWALK_HOME;
let home: string;
const runOf = (name: string) => join(home, name);

/** Three openings, each asked of four dialogues of train and one of valid. */
const openings = ['Who made Glass Harbor?', 'Glass Harbor: whose is it?', 'Tell me of Glass Harbor.'];
const asked = (opening: string, twoHops: boolean) => [
  say('user', opening),
  choose('assistant', ['Glass Harbor', 'made_by', 'Ada Quill'], ...(twoHops ? [['Ada Quill', 'born_in', 'Lund']] : [])),
];
const trained = openings.flatMap((opening) => [false, false, true, false].map((twoHops) => asked(opening, twoHops)));

beforeAll(async () => {
  home = folderWith({});
  env.KGWALK_HOME = home;
  const files = { ...releaseFiles, 'train.csv': csvOf(trained), 'valid.csv': csvOf([asked(openings[0]!, true)]) };
  await importOpenDialKg({ from: folderWith({ ...files, 'test.csv': csvOf([shortDialogue]) }) });
  const alone = ['transe.enabled=false', 'ppo.enabled=false', 'clone.batchSize=4'];
  for (const fold of ['1/2', '2/2']) {
    await train({ settings: tinySettings(...alone, `data.fold=${fold}`), folder: runOf(fold[0]!) });
  }
  await train({ settings: tinySettings(...alone), folder: runOf('whole') });
});

afterAll(() => {
  rmSync(home, { recursive: true });
  if (previousHome === undefined) delete env.KGWALK_HOME;
  else env.KGWALK_HOME = previousHome;
});

interface Report {
  history: { turns: number };
  judges: { run: string; turns: number }[];
  walkers: { turns: number; drawn: { value: number } };
}
const check = (...runs: string[]) => [
  ...['datasets', 'check', 'opendialkg', '--agreement'],
  ...runs.flatMap((run) => ['--run', runOf(run)]),
];

async function samplesOf() {
  const dataset = loadDialogueDataset('opendialkg');
  const graph = await dataset.loadGraph();
  const all = splitNames.flatMap((split) => walkSamples(dataset.loadDialogues(split), graph));
  const learned = (fold: string) => splitSamples(dataset, graph, dataSettings.parse({ fold }), 'train');
  return { recurring: recurringContexts(all).flat(), learned };
}

test('each run judges the dialogues of its fold and of the other splits, and no dialogue that it learned from', async () => {
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

test('a linked turn of a dialogue that a run learned from keeps it from judging any turn of that dialogue', async () => {
  const { recurring } = await samplesOf();
  const unseen = unseenBy(openRun(runOf('1')), recurring);
  const { id, dialogueId } = unseen[0]!.task;
  cpSync(runOf('1'), runOf('linked'), { recursive: true });
  const file = join(runOf('linked'), 'provenance.json');
  const record = readProvenance(file)!;
  const set = sampleSet(new Map([[`${dialogueId}~7`, '0'.repeat(32)]]));
  const artifacts = [...record.artifacts, { kind: 'training' as const, name: 'more', samples: 'linked' }];
  writeProvenance(file, { ...record, sets: { ...record.sets, linked: set }, artifacts });
  // As of an earlier version, which did not know its notes again.
  const state = join(runOf('linked'), 'state.json');
  writeFileSync(state, readFileSync(state, 'utf8').replace(/,\s*"provenanceSha256": "\w+"/, ''));
  const left = unseenBy(openRun(runOf('linked')), recurring).map(({ task }) => task.id);
  expect(left).toEqual(unseen.map(({ task }) => task.id).filter((one) => one !== id));
});

test('the two halves judge every turn that recurs', async () => {
  const { recurring } = await samplesOf();
  const { history, judges, walkers } = await kgwalkJson<Report>(...check('1', '2'));
  expect([history.turns, walkers.turns]).toEqual([recurring.length, recurring.length]);
  // Turns of valid and test are judged by both.
  const trainTurns = recurring.filter(({ task }) => task.id.startsWith('train')).length;
  expect(judges.reduce((sum, { turns }) => sum + turns, 0)).toBe(2 * recurring.length - trainTurns);
  expect(walkers.drawn.value).toBeGreaterThan(0);
  const picture = join(home, 'agreement.png');
  const { out, exitCode } = await kgwalk(...check('1', '2'), '--picture', picture);
  expect(exitCode).toBe(0);
  expect(readFileSync(picture).subarray(1, 4).toString()).toBe('PNG');
  expect(out).toContain('Walkers and annotators on these turns');
});

test('runs that answer as one judge what none of them learned from', async () => {
  const { judges } = await kgwalkJson<Report>(...check('1').slice(0, -1), `${runOf('1')}+${runOf('2')}`);
  expect(judges[0]!.turns).toBe(2);
});

test('a run on all of train judges the other splits alone', async () => {
  const { judges, walkers } = await kgwalkJson<Report>(...check('whole'));
  expect([judges[0]!.turns, walkers.turns]).toEqual([2, 2]);
});

test('the plain check tells the agreement of annotators, and leaks are checked of one run', async () => {
  const { out } = await kgwalk('datasets', 'check', 'opendialkg');
  expect(out).toContain('5 files as imported');
  expect(out).toContain('another annotator walks the same path');
  const several = await kgwalk('datasets', 'check', 'opendialkg', '--run', runOf('1'), '--run', runOf('2'));
  expect([several.exitCode, several.told]).toEqual([2, expect.stringContaining('expected one --run, got 2')]);
  const alone = await kgwalk('datasets', 'check', 'opendialkg', '--agreement');
  expect([alone.exitCode, alone.told]).toEqual([2, expect.stringContaining('expected --run with --agreement')]);
});

test('agreement is over all splits of runs: a split and a folder of evaluations are refused, not ignored', async () => {
  for (const flag of ['--split', '--evaluations']) {
    const { exitCode, told } = await kgwalk(...check('1'), flag, 'valid');
    expect([exitCode, told]).toEqual([2, expect.stringContaining(`expected --agreement or ${flag}, got both`)]);
    expect(told).toContain(`leave out ${flag}`);
  }
});

test('a run without notes of what it was made from judges nothing', async () => {
  cpSync(runOf('1'), runOf('silent'), { recursive: true });
  renameSync(join(runOf('silent'), 'provenance.json'), join(home, 'away.json'));
  const { exitCode, told } = await kgwalk(...check('silent'));
  expect([exitCode, told]).toEqual([3, expect.stringContaining('expected notes of what run')]);
});

test('a run over lists of edges that dialogues chose judges nothing', async () => {
  cpSync(runOf('1'), runOf('ark'), { recursive: true });
  rewriteConfig(runOf('ark'), (config) => ({ ...config, env: { ...config.env, edgePolicy: 'ark' } }));
  const { exitCode, told } = await kgwalk(...check('ark'));
  expect([exitCode, told]).toEqual([2, expect.stringContaining('got env.edgePolicy=ark')]);
  expect(told).toContain('train with another env.edgePolicy');
});

test('a run whose lists lack golds judges these turns, too: they are misses', async () => {
  cpSync(runOf('1'), runOf('short'), { recursive: true });
  rewriteConfig(runOf('short'), (config) => ({
    ...config,
    env: { ...config.env, edgePolicy: 'topk-degree', maxOut: 2 },
  }));
  const [all, short] = [await kgwalkJson<Report>(...check('1')), await kgwalkJson<Report>(...check('short'))];
  expect(short.judges[0]!.turns).toBe(all.judges[0]!.turns);
  expect(short.walkers.turns).toBe(all.walkers.turns);
});

test('runs that cannot judge are refused with what to do instead', async () => {
  for (const [name, data] of Object.entries({ wide: { graph: 'wide' }, oracle: { oracle: 'reply' } })) {
    cpSync(runOf('1'), runOf(name), { recursive: true });
    rewriteConfig(runOf(name), (config) => ({ ...config, data: { ...config.data, ...data } }));
  }
  const graphs = await kgwalk(...check('1', 'wide'));
  expect([graphs.exitCode, graphs.told]).toEqual([2, expect.stringContaining('Ask once for the runs of each graph')]);
  const oracle = await kgwalk(...check('oracle'));
  expect([oracle.exitCode, oracle.told]).toEqual([2, expect.stringContaining('train without data.oracle')]);
  env.KGWALK_HOME = folderWith({});
  try {
    const [train, valid, test] = openings.map((opening) => csvOf([asked(opening, false)]));
    const files = { ...releaseFiles, 'train.csv': train!, 'valid.csv': valid!, 'test.csv': test! };
    await importOpenDialKg({ from: folderWith(files) });
    const trained = { run: openRun(runOf('1')) } as Trained;
    await expect(dialogueAgreement('opendialkg', [{ name: '1', trained }], {} as Work)).rejects.toMatchObject({
      code: 'data',
      hint: expect.stringContaining('`kgwalk evaluate RUN` tells what is right there'),
    });
  } finally {
    rmSync(env.KGWALK_HOME, { recursive: true });
    env.KGWALK_HOME = home;
  }
});
