/** Properties of every head of the registry: training, evaluation and questions. `test/faults/resume.test.ts` stops and resumes each. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { walkerSettings } from '../../../agents/dialogue-walker/settings.js';
import { readCheckpoint } from '../../../checkpoints/checkpoint.js';
import { readIndex } from '../../../checkpoints/store.js';
import type { EvaluationRecord } from '../../../src/run/evaluation.js';
import { cpuFigure, readTimings } from '../../../src/run/metric-log.js';
import { runFiles } from '../../../src/run/run-files.js';
import { openRun } from '../../../src/run/run-folder.js';
import { train } from '../../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { longTest, often } from '../../fixtures/long-tests.js';
import { useReleaseHome } from '../../fixtures/release-home.js';
import { tinySettings } from '../../fixtures/tiny-training.js';

const home = useReleaseHome();
const heads = walkerSettings.shape.head.unwrap().options;
/** The rest is covered by `npm run test:long`. */
const quick = ['seq2path'];
const tried = heads.filter((head) => often(Number(quick.includes(head)), 1) > 0);
const settingsOf = (head: string, ...overrides: string[]) =>
  tinySettings(
    ...['transe.enabled=false', `walker.head=${head}`, 'ppo.updates=2'],
    ...['walker.recurrentUnits=8', 'walker.transformerLayers=1', ...overrides],
  );

describe.each(tried)('the head %s', (head) => {
  const whole = () => join(home(), `${head}-whole`);

  test('is cloned, and PPO continues from the clone', async () => {
    await train({ settings: settingsOf(head), folder: whole() });
    expect(openRun(whole()).state).toMatchObject({ status: 'finished', done: { clone: true, ppo: true } });
    const { clone, last } = readIndex(whole());
    const [cloned, trained] = [clone, last].map((entry) => readCheckpoint(entry!.file).tensors);
    const learned = Object.keys(cloned!).filter((name) => !name.startsWith('optimizer/'));
    const moved = learned.filter((name) => String(cloned![name]!.data) !== String(trained![name]!.data));
    expect(moved).not.toEqual([]);
  });

  test('is evaluated, compared with what its training took, and asked', async () => {
    // Other files compare random on the same data: use a separate folder, not the working directory.
    const words = ['--encoder', 'hashed:32', '--evaluations', join(home(), 'evaluations')];
    const record = await kgwalkJson<EvaluationRecord>('evaluate', whole(), ...words, '--checkpoint', 'clone');
    expect(record).toMatchObject({ n: 2, phase: 'clone' });
    // A walk may have no chance at all, as where places of lists are scored; no head makes it more than certain.
    expect(record.metrics['nll']!.value).toBeGreaterThan(0);
    const { tensors } = readCheckpoint(readIndex(whole()).clone!.file);
    const weights = Object.entries(tensors)
      .filter(([name]) => !name.startsWith('optimizer/'))
      .reduce((sum, [, { data }]) => sum + data.length, 0);
    const { agents } = await kgwalkJson<{ agents: { training?: { weights: number; cpuSeconds: number } }[] }>(
      ...['compare', 'random', `${whole()}@clone`, ...words],
    );
    const spent = readTimings(runFiles(whole()).timing).filter(({ phase }) => phase === 'clone');
    const cpuSeconds = spent.reduce((sum, one) => sum + Number(one[cpuFigure]), 0) / 1000;
    expect(agents.map(({ training }) => training)).toEqual([undefined, { weights, cpuSeconds }]);
    const { out } = await kgwalk('compare', 'random', `${whole()}@clone`, ...words);
    expect(out).toMatch(new RegExp(`^\\S+@clone +${weights} +${cpuSeconds.toFixed(1)}$`, 'm'));
    const asked = ['ask', whole(), 'Who made it?', '--start', 'Glass Harbor', ...words.slice(0, 2)];
    const { paths } = await kgwalkJson<{ paths: { probability: number }[] }>(...asked);
    expect(paths[0]!.probability).toBeGreaterThan(0);
  });

  test('leaves the cell empty where the run did not record its processor time', async () => {
    const { timing } = runFiles(whole());
    writeFileSync(timing, readFileSync(timing, 'utf8').replaceAll(/,"time\/cpu_ms":\d+/g, ''));
    const words = ['--encoder', 'hashed:32', '--evaluations', join(home(), 'evaluations')];
    const { out } = await kgwalk('compare', 'random', whole(), ...words);
    expect(out).toMatch(/^trained +weights +processor seconds of training\n\S+ +\d+$/m);
  });
});

longTest(
  'the decoder that writes freely is evaluated, compared, and asked for walks that may leave the graph',
  async () => {
    const whole = join(home(), 'free-whole');
    const free = ['walker.decoder=free', 'walker.edgeFeatures=false', 'ppo.enabled=false', 'clone.epochs=4'];
    await train({ settings: settingsOf('seq2path', ...free), folder: whole });
    const words = ['--encoder', 'hashed:32', '--evaluations', join(home(), 'evaluations')];
    const record = await kgwalkJson<EvaluationRecord>('evaluate', whole, ...words);
    expect(record.n).toBe(2);
    expect(record.metrics['nll']!.value).toBeGreaterThan(0);
    const { agents } = await kgwalkJson<{ agents: unknown[] }>('compare', 'random', whole, ...words);
    expect(agents).toHaveLength(2);
    const asked = ['ask', whole, 'Who made it?', '--start', 'Glass Harbor', ...words.slice(0, 2), '--top', '30'];
    const { paths } = await kgwalkJson<{ paths: { path: string[][]; probability: number }[] }>(...asked);
    // Seven entities and a handful of edges: most of what can be written is no edge.
    expect(paths.length).toBeGreaterThan(20);
    expect(new Set(paths.map(({ path }) => path.join())).size).toBe(paths.length);
    const { err } = await kgwalk('evaluate', whole, ...words, '--count', 'ark');
    expect(err).toContain('expected an agent that walks step by step');
  },
);
