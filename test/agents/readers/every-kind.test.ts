/** Every kind of reader, from the registry: a new line there is trained, stopped, resumed, evaluated and asked here. */
import { join } from 'node:path';
import { env } from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadQuestionRun } from '../../../agents/question-agents.js';
import { readerKinds } from '../../../agents/readers/settings.js';
import { readCheckpoint } from '../../../checkpoints/checkpoint.js';
import { readIndex, resolveCheckpoint } from '../../../checkpoints/store.js';
import type { QuestionSample } from '../../../datasets/question.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { readEvaluation } from '../../../evaluation/keep.js';
import { runSettings } from '../../../presets/index.js';
import { loadConfig } from '../../../src/run/config.js';
import { resolvePreset } from '../../../src/run/locations.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import { type ProgressReporter, silentProgress } from '../../../src/run/progress.js';
import { openRun } from '../../../src/run/run-folder.js';
import { questionMeasure } from '../../../tasks/questions/score.js';
import { train } from '../../../tasks/train.js';
import { batchesOf } from '../../../agents/readers/train.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { inTurn, longTest, often } from '../../fixtures/long-tests.js';
import { useSharedHome } from '../../fixtures/own-home.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { evaluationOf, runHashes, type Stop, stopAt, stoppedRun } from '../../fixtures/tiny-training.js';
import { importFilms } from '../../fixtures/toy-question-training.js';

const home = useSharedHome(async () => {
  await kgwalk('datasets', 'demo', '--entities', '200', '--dialogues', '10', '--questions', '70');
  await importFilms();
});
/** Another home, whose films are without gold chains. */
const chainless = folderWith({});
beforeAll(async () => {
  env.KGWALK_HOME = chainless;
  await importFilms({ withChains: false });
  env.KGWALK_HOME = home();
});

/** A third of the steps of a run. */
const evalEvery = often(8, 16);

const newFolder = () => join(folderWith({}), 'run');
const settingsOf = (...overrides: string[]) =>
  loadConfig(runSettings, {
    file: resolvePreset('readers'),
    overrides: [
      ...['data.dataset=demo-questions', 'encoder.model=hashed:32', 'reader.width=16', 'reader.wordDim=16'],
      ...['reader.hidden=32', `reader.fit.steps=${3 * evalEvery}`, 'reader.fit.batchSize=8'],
      `reader.fit.evalEvery=${evalEvery}`,
      ...[
        ...['reader.fit.evalSamples=40', 'reader.pretrain.steps=6', 'evaluation.resamples=10'],
        // A loss against few drawn entities, or over a table that hardly knows the graph, says more of the draw than of learning.
        ...['reader.table.dim=16', 'reader.table.epochs=4', 'reader.questionWidth=64', 'reader.entities.dim=16'],
        ...overrides,
      ],
    ],
  });

test('questions are drawn in another order in each pass of train', () => {
  const train = Array.from({ length: 20 }, (_, id) => id as unknown as QuestionSample);
  const batches = batchesOf(train, 8, 0);
  const [first, second] = [0, 3].map((begin) => [0, 1, 2].flatMap((step) => batches(begin + step)));
  expect(first!.toSorted((a, b) => Number(a) - Number(b))).toEqual(train);
  expect(new Set(second)).toEqual(new Set(first));
  expect(second).not.toEqual(first);
});

const taught = (teacher: string) => [
  'reader.kind=nsm',
  `reader.entities.teacher=${teacher}`,
  'reader.entities.teacherSteps=1',
];

const stops: [what: string, place: Stop][] = [
  ['between two checkpoints', ['fit', evalEvery - 3]],
  ['at an evaluation', ['fit', evalEvery]],
  ['in an evaluation', ['evaluate on valid', 1, 2]],
];
const readers: [what: string, of: string[]][] = [
  ...readerKinds.map((kind): [string, string[]] => [kind, [`reader.kind=${kind}`]]),
  ['nsm, taught in parallel', taught('parallel')],
  ['nsm, taught by a hybrid', taught('hybrid')],
];

/** Kinds trained by `npm test`: one that reads relations, one that scores entities. */
const quick = ['nsm', 'embed-kgqa'];
const tried = readers.filter(([what]) => often(Number(quick.includes(what)), 1) > 0);

describe.each(tried.map(([what, of], turn) => [what, of, turn] as const))('the reader %s', (_kind, of, turn) => {
  const settings = (...overrides: string[]) => settingsOf(...of, ...overrides);
  let whole: string;

  beforeAll(async () => {
    whole = newFolder();
    await train({ settings: settings(), folder: whole });
  });

  test('learns on the demo’s questions, and its best checkpoint is evaluated as its curve says', () => {
    expect(openRun(whole).state).toMatchObject({ status: 'finished', done: { encode: true, fit: true } });
    const records = readMetrics(join(whole, 'metrics.jsonl'));
    const losses = records.flatMap(({ metrics }) => metrics['train/loss'] ?? []);
    expect((losses.at(-1)! + losses.at(-2)!) / 2).toBeLessThan(losses[0]!);
    const { best } = readIndex(whole);
    expect(best!.phase).toBe('fit');
    const { record } = readEvaluation(evaluationOf(whole, 'valid-best'), questionMeasure);
    expect(record.dataset).toBe('demo-questions');
    // All of valid is what the curve is made of: there are fewer questions than `evalSamples`.
    for (const key of ['hit@1', 'f1', 'exact']) {
      expect(record.metrics[key]!.value).toBeCloseTo(best!.metrics[`eval/${key}`]!, 12);
    }
  });

  test.each(inTurn(stops, turn))('stopped %s and resumed equals one that was not', async (_, place) => {
    const folder = await stoppedRun(settings(), ...place);
    const before: unknown[] = [];
    const noted: ProgressReporter = (label, total, unit, ...done) => {
      if (label === 'fit') before.push(done[0]);
      return silentProgress(label, total, unit);
    };
    await train({ settings: settings(), folder, resume: 'last', progress: noted });
    expect(runHashes(folder)).toEqual(runHashes(whole));
    // The rate that the line shows is of what is done now.
    expect(before).toEqual([expect.any(Number)]);
    expect(before[0]).toBeGreaterThan(0);
  });

  test('stopped twice within one pass of train, it ends with the notes of one that was not, and evaluated after its last step', async () => {
    const short = settings('reader.fit.steps=5', 'reader.fit.batchSize=4', 'reader.fit.evalEvery=2');
    const [unbroken, folder] = [newFolder(), newFolder()];
    await train({ settings: short, folder: unbroken });
    const stopped = (progress: ProgressReporter, signal: AbortSignal, resume?: 'last') =>
      expect(train({ settings: short, folder, progress, signal, ...(resume && { resume }) })).rejects.toThrow(
        'stopped',
      );
    // After the evaluation of step 2, before another step, and after step 3.
    const [evaluated, opened, third] = [new AbortController(), new AbortController(), stopAt('fit', 3)];
    await stopped(
      (label) => ({ update() {}, finish: () => label.startsWith('evaluate') && evaluated.abort() }),
      evaluated.signal,
    );
    const index = readIndex(folder);
    expect(index.last).toMatchObject({ step: 2, metrics: { 'eval/hit@1': expect.any(Number) } });
    await stopped(
      (label, ...more) => (label === 'fit' && opened.abort(), silentProgress(label, ...more)),
      opened.signal,
      'last',
    );
    expect(readIndex(folder)).toEqual(index);
    await stopped(third.progress, third.signal, 'last');
    expect(readIndex(folder).last).toMatchObject({ step: 3, interim: true });
    await train({ settings: short, folder, resume: 'last' });
    expect(runHashes(folder)).toEqual(runHashes(unbroken));
    const steps = readMetrics(join(folder, 'metrics.jsonl')).flatMap(({ step, metrics }) =>
      'eval/hit@1' in metrics ? [step] : [],
    );
    expect(steps).toEqual([2, 4, 5]);
  });

  test('answers the same when it is opened again, and is asked in words', async () => {
    const { agent, graph, close } = await loadQuestionRun(whole);
    const samples = loadQuestionDataset('demo-questions').questions(graph, { subsets: ['1-hop'], split: 'valid' });
    const client = { remaining: 0, byLikelihood: false, decide: () => Promise.reject(new Error('no client')) };
    const asked = samples.slice(0, 5).map(({ task }) => task);
    const answers = async () => {
      const all = [];
      for (const task of asked) all.push((await agent.answer(task, { client, trace() {} })).entities);
      return all;
    };
    const unprepared = await answers();
    await agent.prepare?.(asked);
    expect(await answers()).toEqual(unprepared);
    expect(unprepared.flat().length).toBeGreaterThan(0);
    await close();
    const words = asked[0]!.question.replace(asked[0]!.topics[0]!.name, (name) => `[${name}]`);
    const said = await kgwalkJson<{ answers: string[] }>('ask', whole, words, '--encoder', 'hashed:32');
    expect(said.answers.length).toBeGreaterThan(0);
  });

  (turn === 0 ? test : longTest)(
    'reads no gold chain: without them in the data its weights have the same bytes',
    async () => {
      const overrides = [
        'data.dataset=films',
        'reader.fit.steps=4',
        'reader.fit.batchSize=4',
        'reader.fit.evalEvery=4',
      ];
      const weights = async () => {
        const folder = newFolder();
        await train({ settings: settings(...overrides, 'reader.pretrain.steps=2'), folder });
        return readCheckpoint(resolveCheckpoint(folder, 'last').file).tensors;
      };
      const withChains = await weights();
      env.KGWALK_HOME = chainless;
      try {
        expect(await weights()).toEqual(withChains);
      } finally {
        env.KGWALK_HOME = home();
      }
    },
  );

  test('is known by what it was made from', async () => {
    const { exitCode, out } = await kgwalk('datasets', 'check', 'demo-questions', '--run', whole);
    expect([exitCode, out]).toEqual([0, expect.stringContaining('fitting')]);
    expect(out).not.toContain('not noted');
    const evaluation = evaluationOf(whole, 'valid-best');
    const checked = await kgwalk('datasets', 'check', 'demo-questions', '--run', evaluation, '--split', 'test');
    expect([checked.exitCode, checked.out]).toEqual([0, expect.stringContaining('fitting')]);
    expect(checked.out).not.toContain('not noted');
  });
});

test.each([
  [['ppo.enabled=true', 'ppo.init=scratch', 'ppo.klCoef=0'], 'expected ppo.enabled=false'],
  [['relationWalk.hops=given'], 'relationWalk.horizon'],
  [['reader.kind=independent', 'reader.hops=instructions'], 'attends to no words'],
  [['reader.kind=uni-kgqa', `reader.pretrain.steps=${3 * evalEvery + 1}`], 'reader.pretrain.steps of at most'],
  [['reader.kind=uni-kgqa', 'reader.hops=given'], 'may stay where they are'],
  [['reader.kind=embed-kgqa', 'reader.hops=given'], 'walks no chain'],
  [['reader.kind=embed-kgqa', 'reader.reads=words'], 'reads no words'],
  [['reader.kind=kv-mem', 'reader.hops=given'], 'always reads as often'],
  [['reader.kind=kv-mem', 'reader.entities.teacher=hybrid'], 'teacher=none'],
  [
    ['reader.kind=nsm', 'reader.entities.teacher=hybrid', `reader.entities.teacherSteps=${3 * evalEvery}`],
    'teacherSteps below',
  ],
  [['env.id=kgwalk/OpenDialKG-v1'], 'expected no section reader'],
])('settings %j are refused before anything is written', async (overrides, message) => {
  const folder = newFolder();
  await expect(train({ settings: settingsOf(...overrides), folder })).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining(message),
  });
  expect(() => openRun(folder)).toThrow();
});
