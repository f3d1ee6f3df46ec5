/** Several runs as one agent: evaluated, compared, asked, replayed, checked, and refused where they do not walk the same. */
import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { evaluationsIn } from '../../evaluation/keep.js';
import { loadEvaluation } from '../../reports/run-data.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { openRun } from '../../src/run/run-folder.js';
import { train } from '../../tasks/train.js';
import { trainingCostOf } from '../../tasks/training-cost.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { tinySettings } from '../fixtures/tiny-training.js';

const home = useReleaseHome();
const runOf = (name: string) => join(home(), name);
/** Argument of a command. */
const mean = (...names: string[]) => names.map(runOf).join('+');

beforeAll(async () => {
  const plain = ['transe.enabled=false', 'ppo.enabled=false', 'clone.learningRate=0.05'];
  const others = { first: ['seed=1'], second: ['seed=2', 'walker.edgeFeatures=false'], short: ['env.horizon=1'] };
  for (const [name, overrides] of Object.entries(others)) {
    await train({ settings: tinySettings(...plain, ...overrides), folder: runOf(name) });
  }
});

type Evaluated = EvaluationRecord & { saved: string };
const kept = () => ['--evaluations', join(home(), 'evaluations')];
const evaluated = (...words: string[]) => kgwalkJson<Evaluated>('evaluate', ...words, '--split', 'train', ...kept());

test('its record names all runs, and its figures are of all', async () => {
  const both = await evaluated(mean('first', 'second'));
  expect(both).toMatchObject({ run: mean('first', 'second'), checkpoint: 'best', n: 3 });
  expect(both.seed).toBeUndefined();
  const [first, second] = [await evaluated(runOf('first')), await evaluated(runOf('second'))];
  expect(new Set([both, first, second].map(({ metrics }) => metrics.nll!.value)).size).toBe(3);
  expect(new Set([both, first, second].map(({ hashes }) => hashes.checkpoint)).size).toBe(3);
});

test('equal runs give what one of them gives', async () => {
  cpSync(runOf('first'), runOf('copy'), { recursive: true });
  const [one, twice] = [await evaluated(runOf('first')), await evaluated(mean('first', 'copy'))];
  for (const [key, { value }] of Object.entries(one.metrics)) expect(twice.metrics[key]!.value).toBeCloseTo(value, 5);
});

test('is listed in a table under the names of its runs, with their checkpoints', async () => {
  const name = `${runOf('first')}@clone+${runOf('second')}`;
  const { exitCode, out } = await kgwalk('compare', 'random', runOf('first'), name, '--split', 'train', ...kept());
  expect(exitCode).toBe(0);
  expect(out).toContain('+');
  const { agents } = await kgwalkJson<{ agents: EvaluationRecord[] }>(
    'compare',
    'random',
    name,
    '--split',
    'train',
    ...kept(),
  );
  expect(agents.at(-1)).toMatchObject({ run: `${runOf('first')}+${runOf('second')}@best`, checkpoint: 'clone' });
});

test('belongs to no single run: kept in no run folder, without the training cost of one', async () => {
  const { agents } = await kgwalkJson<{ agents: (EvaluationRecord & { training?: object })[] }>(
    ...['compare', 'stop-prior', runOf('first'), mean('first', 'second')],
  );
  expect(agents.map(({ training }) => training !== undefined)).toEqual([false, true, false]);
  const own = join(runOf('first'), 'evaluations');
  expect(evaluationsIn(own).map(({ record }) => [record.checkpoint, record.run])).toEqual([
    [undefined, undefined],
    ['best', undefined],
  ]);
  // Where an earlier version put it there.
  const { saved } = await kgwalkJson<Evaluated>('evaluate', mean('first', 'second'));
  cpSync(dirname(saved), join(own, 'mean'), { recursive: true });
  const read = loadEvaluation(join(own, 'mean'), openRun(runOf('first')));
  expect(read.record.run).toBe(mean('first', 'second'));
  const [settings] = evaluationsIn(own).flatMap(({ folder, record }) =>
    record.checkpoint !== undefined && record.run === undefined
      ? loadEvaluation(folder, openRun(runOf('first'))).trained!.settings
      : [],
  );
  expect(settings).toEqual(expect.any(String));
  expect(read.trained!.settings).not.toBe(settings);
  expect(trainingCostOf(read)).toBeUndefined();
});

test('is found where a folder has a plus in its own name', async () => {
  const plus = join(home(), 'a+b', 'first');
  cpSync(runOf('first'), plus, { recursive: true });
  const both = await evaluated(`${plus}+${runOf('second')}`);
  expect(both.run).toBe(`${plus}+${runOf('second')}`);
});

test('is asked as one run is', async () => {
  const words = ['Who made Glass Harbor?', '--start', 'Glass Harbor'];
  const ask = (name: string) => kgwalkJson<{ paths: { path: unknown; probability: number }[] }>('ask', name, ...words);
  const [both, one] = [await ask(mean('first', 'second')), await ask(runOf('first'))];
  expect(both.paths.map(({ path }) => path)).toEqual(expect.arrayContaining(one.paths.map(({ path }) => path)));
  expect(both.paths[0]!.probability).not.toBe(one.paths[0]!.probability);
});

test('is replayed and checked for leaks by what its runs noted', async () => {
  const { saved } = await evaluated(mean('first', 'second'));
  const folder = join(saved, '..');
  const replayed = await kgwalk('replay', folder);
  expect([replayed.err, replayed.exitCode, replayed.out]).toEqual([
    '',
    0,
    expect.stringContaining('every byte as it was saved'),
  ]);
  const { artifacts } = await kgwalkJson<{ artifacts: { of: string; name: string }[] }>(
    ...['datasets', 'check', 'opendialkg', '--run', folder, '--split', 'test'],
  );
  const cloned = artifacts.filter(({ name }) => name === 'cloning').map(({ of }) => of);
  expect(cloned).toEqual(['run first', 'run second']);
});

describe('is refused', () => {
  const errorOf = async (...words: string[]) => (await kgwalk('evaluate', ...words)).err;

  test('where the runs walk differently, in one error', async () => {
    expect(await errorOf(mean('first', 'short'))).toContain(
      'expected runs of one horizon to answer as one, got first (2) and short (1)',
    );
  });

  test('where one of them has read replies', async () => {
    const plain = ['transe.enabled=false', 'ppo.enabled=false'];
    await train({ settings: tinySettings(...plain, 'data.oracle=reply'), folder: runOf('oracle') });
    expect(await errorOf(mean('first', 'oracle'))).toContain('expected runs of one oracle to answer as one');
  });

  test('where they compute on different backends, with a way out', async () => {
    const plain = ['transe.enabled=false', 'ppo.enabled=false', 'walker.head=seq2seq', 'backend=wasm'];
    await train({ settings: tinySettings(...plain), folder: runOf('other') });
    const words = mean('first', 'other');
    expect(await errorOf(words)).toMatch(
      /expected runs that compute on one backend, got \w+ and wasm[^]*--backend simd/,
    );
    expect((await evaluated(words, '--backend', 'simd')).n).toBe(3);
  });

  test('where one of them writes walks that may leave the graph', async () => {
    const plain = ['transe.enabled=false', 'ppo.enabled=false', 'walker.edgeFeatures=false', 'walker.recurrentUnits=8'];
    await train({
      settings: tinySettings(...plain, 'walker.head=seq2path', 'walker.decoder=free'),
      folder: runOf('free'),
    });
    expect(await errorOf(mean('first', 'free'))).toContain(
      'expected runs that choose among edges, got walker.decoder=free',
    );
  });

  test('where one of them is not there', async () => {
    expect(await errorOf(mean('first', 'gone'))).toContain('gone');
  });

  test('with several threads', async () => {
    expect(await errorOf(mean('first', 'second'), '--threads', '2')).toContain(
      'expected one thread for several runs as one',
    );
  });
});
