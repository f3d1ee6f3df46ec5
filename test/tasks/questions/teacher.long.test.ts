/** A relation walker that is cloned from what another agent walked on train. */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { env } from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../../checkpoints/checkpoint.js';
import { readIndex } from '../../../checkpoints/store.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { questionsHash } from '../../../datasets/questions/question-manifest.js';
import { evaluationFiles } from '../../../evaluation/keep.js';
import { runSettings } from '../../../presets/index.js';
import { loadConfig } from '../../../src/run/config.js';
import { resolvePreset } from '../../../src/run/locations.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import { sealEvaluation } from '../../../src/run/evaluation.js';
import { readProvenance } from '../../../src/run/provenance.js';
import { writeSealed } from '../../fixtures/made-up-runs.js';
import { runFiles } from '../../../src/run/run-files.js';
import { openRun } from '../../../src/run/run-folder.js';
import type { TaughtRecord } from '../../../tasks/questions/teacher.js';
import { forkSettings, train } from '../../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { expectExactResume, stoppedRun, tinySettings } from '../../fixtures/tiny-training.js';
import { filmOverrides, importFilms } from '../../fixtures/toy-question-training.js';

/** Folders of evaluations: noiseless on train, the same without a check, and on valid. */
let taught: string;
let unchecked: string;
let onValid: string;
/** A run that was cloned from the first. */
let student: string;

const newFolder = () => join(folderWith({}), 'run');
const evaluated = async (...words: string[]) => {
  const asked = ['--agent', 'self-veqa', '--dataset', 'films', '--set', 'memory=off', '--encoder', 'hashed:32'];
  const kept = ['--evaluations', folderWith({})];
  return dirname((await kgwalkJson<{ saved: string }>('evaluate', ...asked, ...words, ...kept)).saved);
};
const settingsFrom = (evaluation: string, ...overrides: string[]) =>
  loadConfig(runSettings, {
    file: resolvePreset('student'),
    overrides: [
      ...[...filmOverrides, 'clone.batchSize=4', 'clone.warmupSteps=2', 'clone.learningRate=0.02'],
      ...[`teacher.evaluation=${evaluation}`, 'teacher.simulated=true', ...overrides],
    ],
  });
const taughtRecord = (folder: string) => JSON.parse(readFileSync(runFiles(folder).teacher, 'utf8')) as TaughtRecord;
/** Weights of the clone, without the state of its optimizer. */
const cloneOf = (folder: string) => {
  const { tensors } = readCheckpoint(readIndex(folder).clone!.file);
  return Object.fromEntries(Object.entries(tensors).filter(([name]) => !name.startsWith('optimizer/')));
};

/** A copy of an evaluation with other rows, sealed again. */
function withRows(folder: string, change: (row: Record<string, unknown>, i: number) => object): string {
  const copy = join(folderWith({}), 'evaluation');
  cpSync(folder, copy, { recursive: true });
  const { answers, evaluation } = evaluationFiles(copy);
  const rows = readFileSync(answers, 'utf8').trim().split('\n');
  const changed = rows.map((line, i) => JSON.stringify(change(JSON.parse(line) as Record<string, unknown>, i)));
  writeFileSync(answers, `${changed.join('\n')}\n`);
  sealEvaluation(copy, readFileSync(evaluation));
  return copy;
}

beforeAll(async () => {
  env.KGWALK_HOME = folderWith({});
  await importFilms();
  taught = await evaluated('--split', 'train', '--model', 'oracle:0');
  unchecked = await evaluated('--split', 'train', '--model', 'oracle:0', '--set', 'verify=false');
  onValid = await evaluated('--split', 'valid', '--model', 'oracle:0');
  student = newFolder();
  await train({ settings: settingsFrom(taught), folder: student });
});
describe('a walker that is cloned from an agent', () => {
  test('answers questions about topics it never saw as its teacher would, without a call', async () => {
    const words = ['evaluate', student, '--split', 'valid', '--encoder', 'hashed:32', '--evaluations', folderWith({})];
    const record = await kgwalkJson<{ metrics: Record<string, { value: number }>; cost: object }>(...words);
    expect(record.metrics.f1!.value).toBeGreaterThan(0.9);
    expect(record.cost).toMatchObject({ calls: { total: 0 } });
    expect(openRun(student).state).toMatchObject({ status: 'finished', done: { encode: true, clone: true } });
    const epochs = readMetrics(runFiles(student).metrics).flatMap(({ metrics }) => metrics['eval/f1'] ?? []);
    expect(epochs).toHaveLength(20);
    expect(readIndex(student).best).toMatchObject({ phase: 'clone', metrics: { 'eval/f1': Math.max(...epochs) } });
  });

  test('says from which evaluation, by which rule and for how many calls', () => {
    const { cost, n } = JSON.parse(readFileSync(evaluationFiles(taught).evaluation, 'utf8')) as {
      n: number;
      cost: Record<string, { total: number }>;
    };
    const record = taughtRecord(student);
    expect(record).toMatchObject({
      ...{ agent: 'self-veqa', model: 'oracle:0', simulated: true, split: 'train', rule: 'verified', asked: n },
      spent: { calls: cost.calls!.total, promptTokens: cost.promptTokens!.total },
    });
    expect(record.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(record.accepted).toBeGreaterThan(5);
    expect(record.accepted + Object.values(record.left).reduce((sum, count) => sum + count, 0)).toBe(n);
  });

  test('notes the questions that were cloned, and what its teacher was made from', () => {
    const { artifacts, sets } = readProvenance(runFiles(student).provenance)!;
    const { samples } = artifacts.find(({ kind, name }) => kind === 'training' && name === 'cloning')!;
    expect(sets[samples!]!.count).toBe(taughtRecord(student).accepted);
    const ofTeacher = readProvenance(evaluationFiles(taught).provenance)!.artifacts;
    expect(ofTeacher.length).toBeGreaterThan(0);
    for (const { kind, name } of ofTeacher) expect(artifacts).toContainEqual(expect.objectContaining({ kind, name }));
  });

  test('passes the check for leaks', async () => {
    const { exitCode, err } = await kgwalk('datasets', 'check', 'films', '--run', student, '--split', 'valid');
    expect([exitCode, err]).toEqual([0, '']);
  });

  test('reads no gold chain and no score: without them, the same weights', async () => {
    const blind = withRows(taught, ({ id, form, chain, verified }) => ({ id, form, chain, verified }));
    const home = env.KGWALK_HOME!;
    env.KGWALK_HOME = folderWith({});
    try {
      await importFilms({ withChains: false });
      const { manifest } = loadQuestionDataset('films');
      const { evaluation } = evaluationFiles(blind);
      const record = JSON.parse(readFileSync(evaluation, 'utf8')) as { hashes: Record<string, string> };
      expect(record.hashes.dataset).not.toBe(questionsHash(manifest));
      const hashes = { ...record.hashes, dataset: questionsHash(manifest) };
      writeSealed(blind, JSON.stringify({ ...record, hashes }));
      const folder = newFolder();
      await train({ settings: settingsFrom(blind), folder });
      expect(cloneOf(folder)).toEqual(cloneOf(student));
    } finally {
      env.KGWALK_HOME = home;
    }
  });

  test.each([
    ['clone', 3, 1],
    ['clone', 17, 1],
    ['evaluate on valid', 1, 2],
  ] as const)(
    'that was stopped in "%s" at %i, line %i, and resumed equals one that was not',
    async (label, done, nth) => {
      await expectExactResume(settingsFrom(taught), student, label, done, nth);
    },
  );
});

describe('PPO on top of the clone', () => {
  const onTop = ['ppo.enabled=true', 'ppo.updates=4', 'ppo.evalEvery=2', 'ppo.klCoef=0.1', 'clone.epochs=2'];

  test('begins with it, is kept near it, and resumes where it was stopped', async () => {
    const whole = newFolder();
    const settings = settingsFrom(taught, ...onTop);
    await train({ settings, folder: whole });
    const [first] = readMetrics(runFiles(whole).metrics).filter(({ phase }) => phase === 'ppo');
    expect(first!.metrics['train/anchor_kl']).toBeGreaterThanOrEqual(0);
    expect(readIndex(whole)).toMatchObject({ clone: { phase: 'clone' }, last: { phase: 'ppo', step: 4 } });
    await expectExactResume(settings, whole, 'ppo', 3);
  });

  test('may come later, as a fork', async () => {
    const folder = newFolder();
    const settings = await forkSettings(openRun(student), ['ppo.enabled=true', 'ppo.updates=1', 'ppo.learningRate=0']);
    await train({ settings, folder, fork: { run: student, checkpoint: 'clone' } });
    const { tensors } = readCheckpoint(readIndex(folder).last!.file);
    expect(tensors).toMatchObject(cloneOf(student));
    expect(existsSync(runFiles(folder).teacher)).toBe(false);
  });
});

describe('what is cloned', () => {
  test('is what the agent’s own check let pass, what it was sure of, or all', async () => {
    const doubtful = withRows(taught, (row, i) => ({
      ...row,
      verified: i % 2 === 0,
      confidence: i % 4 === 0 ? 0.9 : 0.3,
    }));
    const counted = async (...overrides: string[]) => {
      const folder = newFolder();
      await train({ settings: settingsFrom(doubtful, 'clone.epochs=1', ...overrides), folder });
      return taughtRecord(folder);
    };
    const all = await counted('teacher.accept=all');
    expect(all).toMatchObject({ rule: 'all', accepted: all.asked, left: {} });
    const half = Math.ceil(all.asked / 2);
    expect(await counted()).toMatchObject({ accepted: half, left: { 'not verified': all.asked - half } });
    const sure = Math.ceil(all.asked / 4);
    expect(await counted('teacher.accept=confident', 'teacher.minConfidence=0.8')).toMatchObject({
      ...{ rule: 'confidence >= 0.8', accepted: sure, left: { 'not confident': all.asked - sure } },
    });
  });

  test('uses the confidence of an agent whose words are scored', async () => {
    const asked = [
      'evaluate',
      '--agent',
      'structgpt',
      '--dataset',
      'films',
      '--split',
      'train',
      '--model',
      'oracle:0.3',
    ];
    const kept = ['--choices', 'likelihood', '--encoder', 'hashed:32', '--evaluations', folderWith({})];
    const evaluation = dirname((await kgwalkJson<{ saved: string }>(...asked, ...kept)).saved);
    const { answers } = evaluationFiles(evaluation);
    const lines = readFileSync(answers, 'utf8').trim().split('\n');
    const sure = lines.map((line) => (JSON.parse(line) as { confidence: number }).confidence);
    expect(sure.every((confidence) => confidence > 0 && confidence <= 1)).toBe(true);
    const least = sure.toSorted((a, b) => a - b)[Math.floor(sure.length / 2)]!;
    const folder = newFolder();
    const confident = ['teacher.accept=confident', `teacher.minConfidence=${least}`, 'clone.epochs=1'];
    await train({ settings: settingsFrom(evaluation, ...confident), folder });
    const { accepted, left } = taughtRecord(folder);
    expect(accepted + (left['not walkable'] ?? 0)).toBe(sure.filter((confidence) => confidence >= least).length);
    expect(left['not confident']).toBe(sure.filter((confidence) => confidence < least).length);
    expect(accepted).toBeLessThan(sure.length);
  });

  test('is none of what leads nowhere, is longer than a walk, or holds names that the graph lacks', async () => {
    const chains = [['no_such'], ['directed_by', 'directed_by'], ['directed_by', '~directed_by', 'year', 'year'], []];
    const odd = withRows(taught, (row, i) => (i < chains.length ? { ...row, chain: chains[i] } : row));
    const folder = newFolder();
    await train({ settings: settingsFrom(odd, 'clone.epochs=1'), folder });
    expect(taughtRecord(folder).left).toEqual({ 'not walkable': 3, 'without a chain': 1 });
  });
});

describe('refused before anything is written', () => {
  test.each([
    [
      'an evaluation of valid',
      () => settingsFrom(onValid),
      'data',
      'expected an evaluation of split train, got one of valid',
    ],
    [
      'a simulated model',
      () => settingsFrom(taught, 'teacher.simulated=false'),
      'config',
      'expected walks of a real model, got those of oracle:0',
    ],
    [
      'what is no evaluation',
      () => settingsFrom('nothing'),
      'data',
      'expected teacher.evaluation, the kept evaluation',
    ],
    [
      'an agent without a check, whose walks are to be verified',
      () => settingsFrom(unchecked),
      'data',
      'expected walks to clone by teacher.accept=verified, got none of',
    ],
    [
      'questions that the run does not train on',
      () => settingsFrom(taught, 'data.subsets=[1-hop]'),
      'data',
      'expected train questions of the run alone, got',
    ],
    [
      'valid questions under the name of train',
      () => settingsFrom(withRows(taught, (row, i) => (i === 2 ? { ...row, id: 'v1-0-inception' } : row))),
      'data',
      'got 1 others, such as v1-0-inception',
    ],
    [
      'a teacher and no clone',
      () => settingsFrom(taught, 'clone.enabled=false', 'ppo.enabled=true', 'ppo.init=scratch'),
      'config',
      'clone.enabled=true',
    ],
    [
      'forgotten',
      () => loadConfig(runSettings, { file: resolvePreset('student'), overrides: filmOverrides }),
      'config',
      'expected teacher.evaluation, the kept evaluation whose walks are cloned, got none; `kgwalk evaluate',
    ],
    ['dialogues', () => tinySettings(`teacher.evaluation=${taught}`), 'config', 'expected no section teacher'],
  ])('is %s', async (_, settings, code, message) => {
    const folder = newFolder();
    await expect(train({ settings: settings(), folder })).rejects.toMatchObject({
      ...{ code, message: expect.stringContaining(message) },
    });
    expect(existsSync(folder)).toBe(false);
  });

  test('is an evaluation of another graph', async () => {
    const other = withRows(taught, (row) => row);
    const { evaluation } = evaluationFiles(other);
    const { hashes } = JSON.parse(readFileSync(evaluation, 'utf8')) as { hashes: Record<string, string> };
    writeSealed(other, readFileSync(evaluation, 'utf8').replaceAll(hashes.graph!, 'f'.repeat(64)));
    await expect(train({ settings: settingsFrom(other), folder: newFolder() })).rejects.toMatchObject({
      ...{ code: 'data', message: expect.stringMatching(/expected an evaluation of graph \w+, got one of ffff/) },
    });
  });

  test('is one that was not finished', async () => {
    const begun = withRows(taught, (row) => row);
    const { evaluation } = evaluationFiles(begun);
    rmSync(evaluation);
    await expect(train({ settings: settingsFrom(begun), folder: newFolder() })).rejects.toThrow(
      'expected a finished evaluation, got one that was stopped',
    );
  });
});

test('a run is not resumed after its walks changed', async () => {
  const copy = withRows(taught, (row) => row);
  const settings = settingsFrom(copy);
  const folder = await stoppedRun(settings, 'clone', 3);
  const { answers, evaluation } = evaluationFiles(copy);
  writeFileSync(answers, readFileSync(answers, 'utf8').replace('"verified":true', '"verified":false'));
  sealEvaluation(copy, readFileSync(evaluation));
  await expect(train({ settings, folder, resume: 'last' })).rejects.toMatchObject({
    ...{ code: 'data', message: expect.stringContaining('expected the walks that the run was begun with') },
  });
});

test('a dry run counts the walks and what they cost', async () => {
  const words = [
    'train',
    'student',
    '--dry-run',
    '--set',
    `teacher.evaluation=${taught}`,
    '--set',
    'teacher.simulated=true',
  ];
  const set = filmOverrides.flatMap((one) => ['--set', one]);
  const { exitCode, out, err } = await kgwalk(...words, ...set);
  expect([exitCode, err]).toEqual([0, expect.any(String)]);
  const { accepted, asked, spent } = taughtRecord(student);
  expect(out).toContain(`${accepted} of ${asked} walks of self-veqa (oracle:0) are cloned (verified)`);
  expect(out).toContain(`${spent.calls} calls`);
  expect(out).toMatch(/\nclone +\d+ updates/);
});
