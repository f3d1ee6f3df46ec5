import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadQuestionRun } from '../../../agents/question-agents.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { readEvaluation } from '../../../evaluation/keep.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import { questionMeasure } from '../../../tasks/questions/score.js';
import { train } from '../../../tasks/train.js';
import { evaluatedQuestions } from '../../fixtures/evaluated.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { evaluationOf, runHashes, stopAt } from '../../fixtures/tiny-training.js';
import { filmSettings, importFilms } from '../../fixtures/toy-question-training.js';

useOwnHome();

const edges = [
  'env.id=kgwalk/QuestionEdgeWalk-v1',
  'env.horizon=3',
  'env.reward.kind=target',
  'walker.head=pa-mlp',
  'walker.entityVectors=[signature]',
  'walker.componentDim=6',
  'walker.width=16',
  'walker.embeddingDim=8',
  'ppo.updates=12',
];

test.each(['group-mean', 'critic'])(
  'the same PPO trains a walk over edges on questions, baseline %s',
  async (baseline) => {
    await importFilms();
    const folder = join(folderWith({}), 'run');
    await train({ settings: filmSettings(...edges, `ppo.baseline=${baseline}`), folder });
    const records = readMetrics(join(folder, 'metrics.jsonl'));
    const rewards = records.flatMap(({ metrics }) => metrics['rollout/reward'] ?? []);
    const mean = (numbers: number[]) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
    expect(mean(rewards.slice(-3))).toBeGreaterThan(mean(rewards.slice(0, 3)) + 0.1);
    expect(Math.max(...records.flatMap(({ metrics }) => metrics['train/feasibility_loss'] ?? []))).toBe(0);
    const { record } = readEvaluation(evaluationOf(folder, 'valid-best'), questionMeasure);
    const { metrics, n } = record;
    expect(n).toBeGreaterThan(5);
    expect(metrics.crashed!.value).toBe(0);
    expect(metrics.f1!.value).toBeGreaterThan(0.2);

    const { agent, graph, close } = await loadQuestionRun(folder, { checkpoint: 'best' });
    const samples = loadQuestionDataset('films').questions(graph, { split: 'valid' });
    const { dataset, split } = record;
    const again = await evaluatedQuestions(agent, samples, { graph, about: { dataset, split, budget: null } });
    expect(again.record.metrics).toEqual(metrics);
    await close();
  },
);

test('a run over edges that was stopped and resumed equals one that was not', async () => {
  await importFilms();
  const [unbroken, folder] = ['unbroken', 'stopped'].map((name) => join(folderWith({}), name)) as [string, string];
  const settings = filmSettings(...edges, 'ppo.updates=6');
  await train({ settings, folder: unbroken });
  await expect(train({ settings, folder, ...stopAt('ppo', 3) })).rejects.toMatchObject({ code: 'stopped' });
  await train({ settings, folder, resume: 'last' });
  expect(runHashes(folder)).toEqual(runHashes(unbroken));
});
