/** Plans done by workers that share a folder, on the built program: `npm test` builds it first. Queues and kills: test/faults/killed-workers.long.test.ts. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, pid } from 'node:process';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readPlan } from '../../jobs/job.js';
import { tryLockFile } from '../../src/run/run-lock.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { runHashes } from '../fixtures/tiny-training.js';
import { filmOverrides, importFilms } from '../fixtures/toy-question-training.js';

useSharedHome(importFilms);

/** Folder of a run named `films`. */
const trained = join(folderWith({}), 'films');
const setWords = filmOverrides.flatMap((one) => ['--set', one]);
beforeAll(async () => {
  const words = [...setWords, '--set', 'ppo.updates=4', '--run-dir', trained];
  expect(await kgwalk('train', 'metaqa', ...words)).toMatchObject({ exitCode: 0 });
});

let folder: string;
const previous = env.KGWALK_RUNS;
beforeEach(() => {
  folder = folderWith({});
  env.KGWALK_RUNS = join(folder, 'runs');
});
afterEach(() => {
  if (previous === undefined) delete env.KGWALK_RUNS;
  else env.KGWALK_RUNS = previous;
});

const preset = () => {
  const file = join(folder, 'films.yaml');
  writeFileSync(file, 'extends: metaqa\nname: films\nppo: { updates: 4, evalEvery: 2 }\n');
  return file;
};
const sweep = () => [
  ...[
    'sweep',
    preset(),
    ...filmOverrides.filter((one) => !one.startsWith('ppo.updates')).flatMap((one) => ['--set', one]),
  ],
  ...['--set', 'ppo.updates=4', '--grid', 'ppo.clipRange=0.1,0.2'],
];
const place = () => ['--store', join(folder, 'store')];
const planFile = () => join(folder, 'plan.jsonl');

test('a sweep over two workers has the runs of one machine, from a preset that only the planner has', async () => {
  expect((await kgwalk(...sweep(), '--write', planFile())).out).toContain('2 jobs in ');
  rmSync(join(folder, 'films.yaml'));
  const work = ['work', '--plan', planFile(), ...place()];
  // Another worker, which lives as long as this process, holds the second job.
  const { jobs } = readPlan(planFile());
  const release = tryLockFile(join(folder, 'store', 'locks', jobs[1]!.key)) as () => void;
  const first = await kgwalk(...work);
  expect([first.exitCode, first.out]).toEqual([0, '1 results made here, 0 were there, 0 tries failed\n']);
  expect(first.err).toContain(`1 jobs are held by other workers, such as process ${pid} on`);
  expect(await kgwalkJson('plan', 'status', planFile(), ...place())).toMatchObject({ jobs: 2, done: 1, waiting: 1 });
  release();
  expect(await kgwalkJson(...work)).toEqual({ published: 1, known: 1, failed: 0, stopped: 0, held: 0 });
  const [collected, whole] = [join(folder, 'collected'), join(folder, 'whole')];
  await kgwalk('plan', 'collect', planFile(), ...place(), '--to', collected);
  expect((await kgwalk(...sweep(), '--run-dir', whole)).exitCode).toBe(0);
  const runs = readdirSync(whole).filter((name) => /^trial-\d+-s/.test(name));
  expect(runs).toHaveLength(2);
  for (const run of runs) expect(runHashes(join(collected, run))).toEqual(runHashes(join(whole, run)));
  for (const file of ['sweep.json', 'trials.jsonl']) {
    expect(readFileSync(join(collected, file), 'utf8')).toBe(readFileSync(join(whole, file), 'utf8'));
  }
  const listed = await kgwalkJson<{ run: string; status: string }[]>('runs', 'list', folder);
  expect(listed.filter(({ run }) => run === 'collected')).toEqual([expect.objectContaining({ status: 'finished' })]);
});

const ofAgent = ['--agent', 'fiske:prefilter=walker:films', '--dataset', 'films/2-hop', '--model', 'oracle:0'];

test.each([
  ['a run', ['films', '--split', 'train'], 'evaluate --split=train', ' -- films'],
  [
    'an agent that a run helps',
    [...ofAgent, '--split', 'train'],
    'evaluate --agent=fiske:prefilter=walker:films --dataset=films/2-hop --model=oracle:0 --split=train',
    '',
  ],
])(
  'an evaluation of %s over two parts is that of one machine, and workers need the run from the store alone',
  async (_, asked, begin, end) => {
    const run = join(folder, 'runs', 'films');
    cpSync(trained, run, { recursive: true });
    const evaluate = ['evaluate', ...asked];
    const plan = await kgwalk(...evaluate, '--parts', '2', '--write', planFile(), ...place());
    expect([plan.exitCode, plan.err]).toEqual([0, expect.any(String)]);
    rmSync(run, { recursive: true });
    expect(await kgwalkJson('work', '--plan', planFile(), ...place(), '--jobs', '2')).toMatchObject({ published: 2 });
    cpSync(trained, run, { recursive: true });
    const [collected, whole] = [join(folder, 'collected'), join(folder, 'whole')];
    const { next } = await kgwalkJson<{ next: string }>('plan', 'collect', planFile(), ...place(), '--to', collected);
    expect(next).toContain(`${begin} --evaluations ${collected}${end}`);
    const made = await kgwalk(...evaluate, '--evaluations', collected);
    expect(made.err).toContain('resuming from 1/2, 2/2');
    expect((await kgwalk(...evaluate, '--evaluations', whole)).exitCode).toBe(0);
    const [name] = readdirSync(whole) as [string];
    // Clocks, and what a model said in the order in which it was asked, aside.
    const ofTheWay = ['timing.jsonl', 'completions.jsonl'];
    for (const file of readdirSync(join(whole, name)).filter((one) => !ofTheWay.includes(one))) {
      expect([file, readFileSync(join(collected, name, file))]).toEqual([file, readFileSync(join(whole, name, file))]);
    }
  },
);

describe('is refused with one clear error:', () => {
  const evaluate = ['evaluate', '--agent', 'fiske', '--dataset', 'films', '--model', 'oracle:0.1', '--split', 'train'];

  test('work on other data than the plan was written with, by name of what differs', async () => {
    await kgwalk(...evaluate, '--parts', '2', '--write', planFile());
    await importFilms({ withChains: false });
    const { exitCode, err } = await kgwalk('work', '--plan', planFile(), ...place());
    await importFilms();
    expect(exitCode).toBe(1);
    expect(err).toMatch(
      /failed: expected what the plan was written with, got other inputs: dataset: \w+ planned, \w+ here/,
    );
    expect(err).toContain('expected all jobs to finish, got 2 failed');
    const { out } = await kgwalk('plan', 'status', planFile(), ...place());
    expect(out).toContain('1/2 failed: expected what the plan was written with');
  });

  test.each<[string, string[], string]>([
    [
      'a plan of halving',
      ['sweep', 'metaqa', '--halving', '2', '--grid', 'ppo.gamma=0.9,1', '--write', 'p'],
      'expected --write without --halving',
    ],
    ['a plan without parts', [...evaluate, '--write', 'p'], 'expected how many parts, got nothing, at --parts'],
    ['more parts than samples', [...evaluate, '--write', 'p', '--parts', '999'], 'expected at most'],
    [
      'what one machine does',
      ['sweep', 'metaqa', ...setWords, '--grid', 'ppo.gamma=0.9,1', '--retry-failed', '--write', 'p'],
      'expected --write without --retry-failed',
    ],
    [
      'what one machine writes',
      [...evaluate, '--evaluations', 'x', '--parts', '2', '--write', 'p'],
      'expected options that any machine can do, got --evaluations, with --write',
    ],
    ['neither plan nor queue', ['work', '--store', 's'], 'expected --plan or --queue, got neither'],
    ['waiting without a queue', ['work', '--plan', 'p', '--wait', '--store', 's'], 'expected --wait with --queue'],
    ['no store', ['work', '--plan', 'p'], "required option '--store <store>' not specified"],
    ['hashes that are none', [...evaluate, '--inputs', '{"a":1}'], 'expected hashes of a plan, got a: Invalid input'],
  ])('%s', async (_, words, message) => {
    const { exitCode, err } = await kgwalk(...words);
    expect([exitCode > 0, err]).toEqual([true, expect.stringContaining(message)]);
    expect(existsSync('p')).toBe(false);
  });

  test.each([
    ['http://x', 'expected redis://HOST:PORT or rediss://HOST:PORT, got http://…, at --queue'],
    ['redis://me:secret@x', 'expected an address without a password, got one with it, at --queue'],
    ['redis://127.0.0.1:9', 'expected a queue that answers, got connect ECONNREFUSED'],
  ])('the queue %s', async (queue, message) => {
    const { err } = await kgwalk('work', '--queue', queue, ...place());
    expect(err).toContain(message);
    expect(err).not.toContain('secret');
  });
});
