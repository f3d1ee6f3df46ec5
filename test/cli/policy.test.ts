/** `kgwalk train policy` on an environment of the user's own, and what other commands make of its run. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chdir, cwd, env } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Grid, registerEnv, text } from '../../envs/index.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { runFiles } from '../../src/run/run-files.js';
import { openRun } from '../../src/run/run-folder.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { folderWith } from '../fixtures/tiny-release.js';

/** An environment of the user's own. */
class Room extends Grid {
  override readonly spec: { id: string; maxSteps: number };

  constructor(maxSteps = 40, id = 'mine/Room-v1') {
    super({ maxSteps });
    this.spec = { id, maxSteps };
  }
}

/** Shows words: neither a policy nor a walker over dialogues reads them. */
class Wordy extends Room {
  override readonly observationSpace = text() as never;
}

const previous = cwd();
let folder: string;

beforeAll(() => {
  const makeRoom =
    ({ maxSteps }: { maxSteps?: number }) =>
    () =>
      new Room(maxSteps);
  registerEnv('mine/Room-v1', makeRoom);
  registerEnv('mine/Wordy-v1', () => () => new Wordy(40, 'mine/Wordy-v1'));
  folder = folderWith({});
  chdir(folder);
  delete env.KGWALK_RUNS;
});
afterAll(() => {
  chdir(previous);
  rmSync(folder, { recursive: true });
});

const small = ['policy.numSteps=64', 'policy.totalSteps=6144', 'ppo.learningRate=3e-3', 'policy.evalEpisodes=3'];
const room = ['env.id=mine/Room-v1', 'env.options.maxSteps=30', ...small].flatMap((one) => ['--set', one]);

test('a room is learned by settings alone, evaluated, compared, replayed, trained for longer and forked', async () => {
  const tried = await kgwalk('train', 'policy', ...room, '--dry-run');
  expect(tried.out).toMatch(/\nppo +12 updates [^]*\nppo: evaluate +\d+ episodes/);
  expect(existsSync('runs')).toBe(false);

  expect(await kgwalk('train', 'policy', ...room, '--run-dir', 'runs/room')).toMatchObject({ exitCode: 0 });
  expect(openRun('runs/room').config).toMatchObject({
    env: { options: { maxSteps: 30 } },
    policy: { hidden: [64, 64] },
  });

  const { err: nothingToAsk } = await kgwalk('ask', 'runs/room', 'where?');
  expect(nothingToAsk).toContain('expected something to ask, got an environment of episodes');
  const record = await kgwalkJson<EvaluationRecord>('evaluate', 'runs/room', '--split', 'test', '--limit', '5');
  expect(record).toMatchObject({ task: 'episodes', dataset: 'mine/Room-v1', n: 5, agent: 'policy' });
  expect(record.metrics.return!.value).toBeCloseTo(0.86, 6);
  const { agents, comparisons } = await kgwalkJson<{ agents: EvaluationRecord[]; comparisons: object[] }>(
    ...['compare', 'runs/room', 'random', '--split', 'test', '--limit', '20'],
  );
  expect(agents.map(({ n }) => n)).toEqual([20, 20]);
  expect(agents[1]!.metrics.return!.value).toBeLessThan(0.3);
  expect(comparisons[0]).toMatchObject({ differences: { return: { pValue: expect.closeTo(1 / 1000, 3) } } });
  expect((await kgwalk('compare', 'runs/room', 'random', '--split', 'test', '--limit', '5')).out).toMatch(
    /runs\/room +█+ 0\.860/,
  );
  const keptBeside = ['compare', join((record as EvaluationRecord & { saved: string }).saved, '..'), 'runs/room'];
  expect(await kgwalk(...keptBeside, '--split', 'test', '--limit', '5')).toMatchObject({ exitCode: 0 });
  expect(await kgwalk('replay', keptBeside[1]!)).toMatchObject({ exitCode: 0 });
  expect((await kgwalk('runs', 'list')).out).toMatch(/room +finished +return 0\.\d+ +ppo +policy +0 +mine\/Room-v1/);

  expect((await kgwalk('train', '--resume', '--run-dir', 'runs/room')).err).toContain('is finished; nothing to do');
  const ofLast = ['evaluate', 'runs/room', '--checkpoint', 'last', '--limit', '3'];
  const { saved } = await kgwalkJson<{ saved: string }>(...ofLast);
  const longer = await kgwalk('train', '--resume', '--run-dir', 'runs/room', '--set', 'policy.totalSteps=7168');
  expect(longer.exitCode).toBe(0);
  expect(readMetrics(runFiles('runs/room').metrics).at(-1)!.step).toBe(14);
  // What `last` is has moved on, and the evaluation with it.
  expect(await kgwalkJson(...ofLast)).toMatchObject({ saved, step: 14 });
  expect(await kgwalk('replay', join(saved, '..'))).toMatchObject({ exitCode: 0 });
  const fork = ['train', '--resume', 'best', '--run-dir', 'runs/room', '--fork', 'runs/fork'];
  expect(await kgwalk(...fork, '--set', 'policy.totalSteps=512')).toMatchObject({ exitCode: 0 });
  const [first] = readMetrics(runFiles('runs/fork').metrics);
  expect(first!.metrics['rollout/reward']).toBeGreaterThan(0.7);
});

test('several seeds are several runs', async () => {
  const words = ['train', 'policy', ...room, '--set', 'policy.totalSteps=512', '--seeds', '1,2'];
  expect((await kgwalk(...words, '--run-dir', 'runs/of')).exitCode).toBe(0);
  expect(['runs/of-s1', 'runs/of-s2'].map((name) => openRun(name).config.seed)).toEqual([1, 2]);
});

test.each([
  [
    ['opendialkg'],
    /expected a section policy with env\.id=mine\/Room-v1.*kgwalk train policy --set env\.id=mine\/Room-v1/,
  ],
  [['policy', '--set', 'ppo.baseline=group-mean'], /expected ppo\.baseline=critic, moving-average or none/],
  [['policy', '--set', 'env.options=7'], /env\.options: expected/],
])('settings that do not fit a policy are refused before anything is read: %s', async ([preset, ...more], message) => {
  const { exitCode, err } = await kgwalk('train', preset!, '--set', 'env.id=mine/Room-v1', ...more, '--run-dir', 'no');
  expect([exitCode, err]).toEqual([2, expect.stringMatching(message)]);
  expect(existsSync('no')).toBe(false);
});

test.each([
  ['mine/Wordy-v1', /expected an observationSpace of vectors of one length .*, got text, at mine\/Wordy-v1/],
  ['mine/Nowhere-v1', /expected a known environment .*"mine\/Nowhere-v1", at env\.id/],
])('an environment that a policy cannot be trained in is refused before anything is read: %s', async (id, message) => {
  const { exitCode, err } = await kgwalk('train', 'policy', '--set', `env.id=${id}`, '--run-dir', 'no');
  expect([exitCode, err]).toEqual([2, expect.stringMatching(message)]);
  expect(existsSync('no')).toBe(false);
});
