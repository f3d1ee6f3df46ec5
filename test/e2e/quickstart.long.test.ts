/** The quickstart over the embedded model, on a small world with small budgets: stopped, resumed, and run again. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { overallProgress } from '../../cli/quickstart/overall-progress.js';
import { quickstart, quickstartPlan } from '../../cli/quickstart/quickstart.js';
import { importDemo } from '../../datasets/demo/import.js';
import { openRun } from '../../src/run/run-folder.js';
import { kgwalk } from '../fixtures/command-line.js';
import { folderWith } from '../fixtures/tiny-release.js';

const home = folderWith({});
const folder = join(home, 'first');

/** Overrides that cut every phase to a second. */
const small = [
  'backend=simd',
  'encoder.lastMessageTokens=12',
  'encoder.windowTokens=12',
  'encoder.nameTokens=4',
  'transe.dim=8',
  'transe.epochs=2',
  'walker.componentDim=8',
  'walker.width=16',
  'clone.epochs=1',
  'ppo.updates=2',
  'ppo.samplesPerUpdate=8',
  'ppo.minibatchSamples=8',
  'ppo.evalEvery=1',
  'reader.fit.steps=4',
  'reader.fit.evalEvery=4',
  'evaluation.resamples=50',
];

const command = ['quickstart', '--run-dir', folder, '--questions', '1', '--no-open'];
const again = [...command, ...small.flatMap((one) => ['--set', one])];

// Half a minute on two free cores; other jobs may run at the same time.

beforeAll(async () => {
  env.KGWALK_HOME = home;
  await importDemo({ settings: { entities: 200, triples: 800, dialogues: 20, questions: 40 } });
});

afterAll(() => rmSync(home, { recursive: true }));

test('a quickstart that is stopped saves, and says so', async () => {
  const controller = new AbortController();
  const progress = overallProgress(quickstartPlan(1), { isTTY: false, write: () => true } as never);
  const stopping: typeof progress = {
    ...progress,
    line: (label) => ({
      update: () => label === 'clone' && controller.abort(),
      finish() {},
    }),
  };
  const stopped = quickstart({
    folder,
    questions: 1,
    promptedAgents: [],
    model: 'demo',
    overrides: small,
    progress: stopping,
    signal: controller.signal,
  });
  await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
  expect(openRun(join(folder, 'dialogues')).state).toMatchObject({ status: 'stopped', phase: 'clone' });
});

test('called again it continues with the tables and the page', async () => {
  const { exitCode, out, err } = await kgwalk(...again);
  expect(err).toContain('[1/8] ');
  expect(err).toContain('reusing demo and demo-questions, made before');
  expect(err).toContain('[8/8] ');
  expect(exitCode).toBe(0);
  expect(openRun(join(folder, 'dialogues')).environment.resumed).toHaveLength(1);
  for (const agent of ['random walk', 'most frequent', 'TransE', 'clone', 'PPO'])
    expect(out).toMatch(new RegExp(`^${agent} .*\\[`, 'm'));
  for (const agent of [
    'random-chain',
    'template-lookup',
    'io',
    'cot',
    'tog',
    'self-veqa',
    'fiske',
    'PPO',
    'nsm-chains',
  ])
    expect(out).toMatch(new RegExp(`^${agent} .*\\[`, 'm'));
  const page = join(folder, 'report', 'index.html');
  expect(out).toContain(page);
  expect(readFileSync(page, 'utf8')).toContain('self-veqa');
  expect(readFileSync(page, 'utf8')).not.toContain('still at work');
  expect(out).toMatch(/^path@1: Share of questions/m);
  expect(out).toMatch(/^PPO minus its clone: .* p [01]\.\d{3}/m);
  expect(out).toMatch(/^\$ .*runs list /m);
  const [, run, question] = /ask (\S+) '(.+)'$/m.exec(out)!;
  const answered = await kgwalk('ask', run!, question!);
  expect(answered.exitCode).toBe(0);
});

test('a second run reuses everything, and says so', async () => {
  const { err, out, exitCode } = await kgwalk(...again, '--json');
  expect(exitCode).toBe(0);
  expect(err.match(/reus(ed|ing)/g)).toHaveLength(8);
  const { reused, walks, questions } = JSON.parse(out) as Record<'walks' | 'questions', unknown[]> & {
    reused: boolean;
  };
  expect(reused).toBe(true);
  expect(walks).toHaveLength(5);
  expect(questions).toHaveLength(9);
});

test('a folder that holds a quickstart of other settings is left as it is', async () => {
  const { exitCode, err } = await kgwalk(...command, '--seed', '5');
  expect(err).toContain('expected a run of these settings, got others');
  expect(err).toContain('Give another --run-dir');
  expect(exitCode).toBe(2);
  expect(existsSync(join(folder, 'report', 'index.html'))).toBe(true);
});
