/** The job on link queries on an invented graph, command by command, as a user would do it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { useBlankPictures } from '../fixtures/blank-pictures.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';

useBlankPictures();
/** Settings of a user, with smaller budgets. */
const preset = {
  name: 'tiny-walk',
  backend: 'simd',
  data: { dataset: 'tiny' },
  env: { id: 'kgwalk/LinkQuery-v1' },
  linkWalk: { horizon: 2 },
  linkWalker: { vectorDim: 8, pathDim: 8, width: 16 },
  transe: { dim: 16, epochs: 20 },
  bilinear: { enabled: true, dim: 16, epochs: 20 },
  clone: { enabled: false },
  ppo: {
    ...{ init: 'scratch', klCoef: 0, algorithm: 'reinforce', baseline: 'moving-average', updateEpochs: 1 },
    ...{ updates: 20, samplesPerUpdate: 40, minibatchSamples: 40, explorations: 4, evalEvery: 10 },
    ...{ learningRate: 0.02, entropyCoef: 0.02 },
  },
  checkpoint: { everyUpdates: 10 },
  evaluation: { beamWidth: 32 },
};

const home = useSharedHome(() =>
  kgwalk('datasets', 'import', 'triples', '--name', 'tiny', '--from', folderWith(tinyLinkFiles)),
);
let settings: string;
let runs: string[];
let kept: string[];
const among = (name: string) => join(home(), name);
const others = () => ['--evaluations', among('evaluations')];

beforeAll(async () => {
  settings = among('tiny-walk.yaml');
  writeFileSync(settings, stringify(preset));
  const trained = await kgwalkJson<{ runs: string[] }>('train', settings, '--seeds', '1,2', '--run-dir', among('walk'));
  runs = trained.runs;
  kept = [];
});

describe('kgwalk on link queries', () => {
  test('trains embeddings, judges them by direction, and keeps them for the next who asks', async () => {
    const { exitCode, out } = await kgwalk('pretrain', settings, '--test');
    expect([exitCode, out]).toEqual([0, expect.stringMatching(/^transe +test +head \(\?, r, t\) +0\.\d{3}/m)]);
    expect(out).toMatch(/^complex +valid +both/m);
    expect(await kgwalkJson('pretrain', settings)).toMatchObject([
      { name: 'transe', reused: true, valid: { tail: { n: 2 }, both: { n: 4 } } },
      { name: 'complex', reused: true },
    ]);
  });

  test('reports what a run was made from, and that it has seen nothing of test', async () => {
    const check = ['datasets', 'check', 'tiny', '--run', runs[0]!];
    const { exitCode, out } = await kgwalk(...check);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^training +policy gradient +train +none found$/m);
    expect(out).toContain('found none of the 2 samples of test in 3 of 3 artifacts\n');
    expect((await kgwalk(...check, '--split', 'valid')).out).toMatch(
      /^run +choice +best checkpoint +valid +allowed: /m,
    );
    expect((await kgwalk(...check, '--split', 'train')).err).toContain('(valid or test), got train, at --split');
  });

  test('trains a walker that found the rule, and says what it learned', async () => {
    for (const run of runs) {
      const record = await kgwalkJson<EvaluationRecord>('evaluate', run, '--split', 'test');
      expect(record).toMatchObject({ task: 'links', dataset: 'tiny', split: 'test', checkpoint: 'best', n: 4 });
      expect(record.slices['direction=tail']).toMatchObject({ mrr: { value: 1, n: 2 }, 'hits@1': { value: 1 } });
      expect(record.details.chains).toContainEqual({
        ...{ relation: 'citizen_of', chain: ['born_in', 'lies_in'] },
        ...{ uses: 2, right: 2, precision: 1 },
      });
      const logged = readFileSync(join(run, 'metrics.jsonl'), 'utf8');
      const keys = ['rollout/reward', 'rollout/hit_rate', 'eval/mrr', 'eval/tail_mrr', 'eval/hits@10'];
      expect(keys.filter((key) => !logged.includes(`"${key}"`))).toEqual([]);
    }
  });

  test.each(['transe', 'bilinear', 'rules', 'random'])('ranks by %s, and keeps what it measured', async (agent) => {
    const asked = await kgwalkJson<EvaluationRecord & { saved: string }>(
      ...['evaluate', '--agent', agent, '--dataset', 'tiny', '--split', 'test', ...others()],
      ...(['transe', 'bilinear'].includes(agent) ? ['--config', settings] : []),
    );
    expect(asked).toMatchObject({ task: 'links', split: 'test', n: 4 });
    expect(asked.metrics.mrr!.n).toBe(4);
    // The rule is in the data and found by counting chains.
    if (agent === 'rules') expect(asked.slices['direction=tail']!.mrr!.value).toBe(1);
    kept.push(asked.saved);
  });

  test('answers a query by name with the path that led there, and says which of two of a name it needs', async () => {
    type Asked = { head: string; answers: { entity: string; path: string[][]; known: boolean }[] };
    const { head, answers } = await kgwalkJson<Asked>('ask', '--agent', runs[0]!, 'Ivy Stone', 'citizen_of');
    expect(head).toBe('Ivy Stone');
    expect(answers[0]).toMatchObject({
      entity: 'Northland',
      known: true,
      path: [
        ['Ivy Stone', 'born_in', 'Glass Harbor'],
        ['Glass Harbor', 'lies_in', 'Northland'],
      ],
    });
    const heads = await kgwalkJson<Asked>('ask', '--agent', runs[0]!, 't0', '~born_in', '--top', '3');
    expect(heads.answers).toHaveLength(3);
    const two = await kgwalk('ask', '--agent', runs[0]!, 'Milton', 'lies_in');
    expect([two.exitCode, two.err]).toEqual([2, expect.stringMatching(/t1.*t2/s)]);
    const near = await kgwalk('ask', '--agent', runs[0]!, 'Ivy Stone', 'citizen_off');
    expect([near.exitCode, near.err]).toEqual([2, expect.stringContaining('citizen_of')]);
  });

  test('compares runs and others on the same queries', async () => {
    const { agents } = await kgwalkJson<{ agents: { name: string }[] }>(
      ...['compare', ...runs, 'random', '--dataset', 'tiny', '--split', 'test', ...others()],
    );
    // Walkers are counted by their best walks and by the sum of them.
    expect(agents.map(({ name }) => name)).toEqual([...runs.flatMap((run) => [run, `${run}, summed`]), 'random']);
  });

  test('reports on all of it in one page', async () => {
    const to = among('page');
    const { exitCode, err } = await kgwalk('report', ...runs, ...kept, '--to', to, ...others());
    expect([exitCode, err]).toEqual([0, '']);
    const html = readFileSync(join(to, 'index.html'), 'utf8');
    const wanted = [
      'REINFORCE (best)',
      'mean of 2 seeds',
      'TransE',
      'ComplEx',
      '<td>rules<',
      '<td>random walk<',
      'born_in → lies_in',
      'walks that end on the answer',
      'MRR on valid',
      'Worked examples',
      'Northland',
    ];
    expect(wanted.filter((text) => !html.includes(text))).toEqual([]);
  });

  test('trains by PPO from a clone, with shaping and dropped actions, and reports it next to REINFORCE', async () => {
    const other = [
      ...['clone.enabled=true', 'clone.epochs=1', 'ppo.init=clone', 'ppo.klCoef=0.1', 'ppo.algorithm=ppo'],
      ...[
        'ppo.baseline=group-mean',
        'ppo.updateEpochs=2',
        'ppo.minibatchSamples=20',
        'ppo.updates=2',
        'ppo.evalEvery=2',
      ],
      ...['linkWalk.shaping=terminal', 'ppo.actionDropout=0.3'],
    ].flatMap((setting) => ['--set', setting]);
    const folder = among('other');
    expect((await kgwalk('train', settings, ...other, '--run-dir', folder)).exitCode).toBe(0);
    const phases = new Set(
      [...readFileSync(join(folder, 'metrics.jsonl'), 'utf8').matchAll(/"phase":"(\w+)"/g)].map(([, phase]) => phase),
    );
    expect([...phases]).toEqual(expect.arrayContaining(['clone', 'ppo']));
    await kgwalk('report', ...runs, folder, '--to', among('both'));
    const html = readFileSync(join(among('both'), 'index.html'), 'utf8');
    const wanted = [
      'Settings compared on tiny',
      'PPO, cloned first, terminal shaping, dropout 0.3',
      'PPO and REINFORCE',
    ];
    expect(wanted.filter((text) => !html.includes(text))).toEqual([]);
  });

  test('trains on any other graph by the same preset and one setting', async () => {
    // One file, from which valid and test are drawn.
    const lines = Array.from({ length: 12 }, (_, i) => [
      `town ${i}\tnext to\ttown ${(i + 1) % 12}`,
      `town ${i}\ttwo from\ttown ${(i + 2) % 12}`,
    ]).flat();
    const from = folderWith({ 'triples.tsv': `${lines.join('\r\n')}\r\n` });
    await kgwalkJson('datasets', 'import', 'triples', '--name', 'ring', '--from', from);
    const few = ['--set', 'ppo.updates=2'];
    const words = ['train', settings, '--set', 'data.dataset=ring', ...few, '--run-dir', among('ring')];
    expect((await kgwalk(...words)).exitCode).toBe(0);
    const record = await kgwalkJson<EvaluationRecord>('evaluate', among('ring'), '--split', 'valid');
    expect(record).toMatchObject({ dataset: 'ring', split: 'valid' });
    const wrong = await kgwalk('evaluate', among('ring'), '--dataset', 'tiny');
    expect([wrong.exitCode, wrong.err]).toEqual([expect.any(Number), expect.stringMatching(/ring.*tiny|tiny.*ring/s)]);
    expect(wrong.exitCode).toBeGreaterThan(0);
  });
});
