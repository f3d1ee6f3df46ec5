/** Which samples, edges and steps a run trains on, and that its evaluations are of the same: on the tiny release. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { StateReader } from '../../agents/dialogue-walker/policy.js';
import { readEvaluation } from '../../evaluation/keep.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { readProvenance } from '../../src/run/provenance.js';
import { evaluationFiles, runFiles } from '../../src/run/run-files.js';
import { openRun } from '../../src/run/run-folder.js';
import { dialogueMeasure } from '../../tasks/dialogues/score.js';
import { train } from '../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { evaluationOf, tinySettings } from '../fixtures/tiny-training.js';

const home = useReleaseHome();
let runs = 0;

/** Trains, and reads what the run says of itself. */
async function trained(...overrides: string[]) {
  const folder = join(home(), `run-${++runs}`);
  const notes: string[] = [];
  await train({
    settings: tinySettings('transe.enabled=false', ...overrides),
    folder,
    onNote: (note) => notes.push(note),
  });
  const { record, rows } = readEvaluation(evaluationOf(folder, 'valid-best'), dialogueMeasure);
  return { folder, notes, record, rows };
}

const evaluated = (run: string, split: string) =>
  kgwalkJson<EvaluationRecord & { saved: string }>('evaluate', run, '--split', split);

describe('edges', () => {
  test('that are cut are reported, and their golds are a separate kind of miss, in training and in evaluate', async () => {
    // Ada Quill has three edges, of which lists of three actions hold two; the way to Paper Moons goes.
    const { folder, notes, record } = await trained('env.edgePolicy=topk-degree', 'env.maxOut=3');
    expect(notes).toEqual([
      '3 train and 2 valid samples on graph dialogue',
      'edges topk-degree: 5 of 6 may be walked, at most 3 actions a state, 1 entities cut; gold paths that are left: 66.7 % of train, 50.0 % of valid',
      'texts encoded by hashed:32',
    ]);
    expect(record.details.edges).toEqual({ policy: 'topk-degree', maxOut: 3, entitiesCut: 1, edges: 6, kept: 5 });
    expect(record.details.coverage).toMatchObject({ goldInGraph: 1, goldWalkable: 0.5, reachable: 0.5 });
    expect(record.misses).toMatchObject({ 'gold-edge-cut': 1, 'gold-not-in-graph': 0 });
    const again = await evaluated(folder, 'valid');
    for (const key of ['metrics', 'slices', 'details', 'misses', 'hashes'] as const) {
      expect(again[key]).toEqual(record[key]);
    }
    expect((await kgwalk('evaluate', folder, '--split', 'valid')).out).toContain(
      'edges topk-degree, at most 3 actions a state: gold left 50.0 %, 5 of 6 edges, 1 entities cut',
    );
  });

  test('of which none is cut leave no trace in the record', async () => {
    const { notes, record } = await trained();
    expect(notes).toEqual(['3 train and 2 valid samples on graph dialogue', 'texts encoded by hashed:32']);
    expect(record.details).not.toHaveProperty('edges');
    expect(record.details.coverage).not.toHaveProperty('goldWalkable');
    expect(record.misses).not.toHaveProperty('gold-edge-cut');
  });

  test('B-ARK-6: of LLM-ARK’s table are warned of, at training and at evaluation, and found by the check', async () => {
    const { folder, notes, record } = await trained('env.edgePolicy=ark', 'env.maxOut=3');
    const warning = 'warning: edgePolicy=ark leaks: 0 edges may be walked because dialogues of valid walk them';
    expect(notes.at(-1)).toContain(warning);
    expect(record.details.edges).toMatchObject({ policy: 'ark', brought: { train: 0, valid: 0, test: 0 } });
    expect((await kgwalk('evaluate', folder, '--split', 'test')).err).toContain(warning);
    for (const split of ['valid', 'test']) {
      const { exitCode, err } = await kgwalk('datasets', 'check', 'opendialkg', '--run', folder, '--split', split);
      expect(exitCode).toBe(3);
      expect(err).toMatch(
        new RegExp(`run: edge list "the edges that dialogues of all splits walk .*made from \\d samples of ${split}`),
      );
    }
  });

  test('that are cut are in no text of a state', async () => {
    const texts = jest.spyOn(StateReader.prototype, 'texts');
    try {
      const perStep = ['stateText.encode=per-step', 'stateText.outPaths=9', 'walker.head=pa-mlp'];
      const shown = async (...overrides: string[]) => {
        const { folder } = await trained(...perStep, ...overrides);
        await evaluated(folder, 'valid');
        const all = (await Promise.all(texts.mock.results.map(({ value }) => value as Promise<string[]>))).flat();
        texts.mockClear();
        return all.filter((text) => text.includes('Step 1 at Ada Quill'));
      };
      const edge = '~made_by -> Paper Moons';
      const [whole, cut] = [await shown(), await shown('env.edgePolicy=topk-degree', 'env.maxOut=3')];
      expect([whole.length > 0, cut.length > 0]).toEqual([true, true]);
      expect(whole.every((text) => text.includes(edge))).toBe(true);
      expect(cut.some((text) => text.includes(edge))).toBe(false);
    } finally {
      texts.mockRestore();
    }
  });

  test('that leave no gold of valid are refused before anything is written', async () => {
    // Of Ada Quill's edges the one to Glass Harbor is left, of which valid knows nothing.
    const settings = tinySettings('env.edgePolicy=topk-degree', 'env.maxOut=2');
    const folder = join(home(), 'none');
    await expect(train({ settings, folder })).rejects.toMatchObject({
      code: 'data',
      message: expect.stringContaining('in lists of 2 actions and within 2 hops, got none, at split valid'),
    });
    expect(existsSync(folder)).toBe(false);
  });
});

describe('steps of training', () => {
  test('B-ARK-4: are fewer than those of evaluation when asked for, and the end of the first hop is rewarded; both are reported', async () => {
    const { notes, record, folder } = await trained('env.reward.kind=first-hop', 'ppo.trainHorizon=1');
    expect(notes.slice(1)).toEqual([
      'warning: env.reward.kind=first-hop rewards the end of the first hop, not the target, as LLM-ARK’s code does',
      'warning: ppo.trainHorizon=1 trains on walks of 1 and evaluates walks of 2, as LLM-ARK’s scripts do',
      'texts encoded by hashed:32',
    ]);
    expect(record.details.coverage).toMatchObject({ reachable: 1 });
    expect(openRun(folder).config).toMatchObject({
      env: { horizon: 2, reward: { kind: 'first-hop' } },
      ppo: { trainHorizon: 1 },
    });
    const lengths = readMetrics(runFiles(folder).metrics).flatMap(({ metrics }) => metrics['rollout/length'] ?? []);
    expect(lengths).toEqual([1, 1, 1, 1]);
  });

  test.each([
    [['ppo.trainHorizon=3'], 'expected ppo.trainHorizon of at most env.horizon, which is 2, got 3'],
    [['ppo.trainHorizon=1', 'ppo.gradient=exact'], 'expected ppo.trainHorizon=null with ppo.gradient=exact'],
    [['env.reward.kind=first-hop'], 'expected ppo.trainHorizon=1 with env.reward.kind=first-hop'],
    [['env.reward.kind=first-hop', 'ppo.trainHorizon=2'], 'which a second step would leave, got 2'],
    [['env.reward.kind=first-hop', 'ppo.trainHorizon=1', 'env.shaping=transe'], 'expected env.shaping=none with'],
    [['env.id=kgwalk/RelationWalk-v1', 'ppo.trainHorizon=1'], 'expected ppo.trainHorizon=null with env.id='],
    [['env.id=kgwalk/RelationWalk-v1', 'data.validSamples=9'], 'which draws from dialogues, with env.id='],
  ])('are refused with %j', async (overrides, message) => {
    const settings = tinySettings(...overrides, 'data.dataset=not-even-looked-at');
    await expect(train({ settings, folder: join(home(), 'refused') })).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(message),
    });
  });
});

describe('samples', () => {
  test('B-ARK-5: are drawn once: the same for every ablation, for training, its evaluations and evaluate', async () => {
    const draw = ['data.trainSamples=2', 'data.validSamples=1'];
    const idsOf = async (...overrides: string[]) => {
      const { folder, notes, record, rows } = await trained(...draw, ...overrides);
      expect(notes[0]).toBe('2 train and 1 valid samples on graph dialogue');
      expect(record.n).toBe(1);
      const again = await evaluated(folder, 'valid');
      expect(again.n).toBe(1);
      expect(again.metrics).toEqual(record.metrics);
      const made = readProvenance(evaluationFiles(evaluationOf(folder, 'valid-best')).provenance)!;
      const counted = made.artifacts.filter(({ name }) => name === 'walk counts');
      for (const { samples } of counted) expect(made.sets[samples!]!.count).toBe(2);
      expect(counted).toHaveLength(overrides.includes('walker.head=pa-mlp') ? 0 : 1);
      expect((await evaluated(folder, 'train')).n).toBe(2);
      expect((await evaluated(folder, 'test')).n).toBe(1);
      const { sets, artifacts } = readProvenance(runFiles(folder).provenance)!;
      const cloning = artifacts.find(({ name }) => name === 'cloning')!;
      return [sets[cloning.samples!]!.ids, rows.map(({ dialogue }) => dialogue)];
    };
    const ids = await idsOf();
    expect(await idsOf('walker.head=pa-mlp', 'seed=3')).toEqual(ids);
    expect(await idsOf('env.edgePolicy=ark', 'env.maxOut=4')).toEqual(ids);
  });
});
