import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadQuestionRun } from '../../../agents/question-agents.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { evaluateQuestions } from '../../../evaluation/questions/evaluate-questions.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import type { QuestionAbout, QuestionEvaluationRecord } from '../../../src/run/records.js';
import { train } from '../../../trainers/train.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { runHashes, stopAt } from '../../fixtures/tiny-training.js';
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
    const file = join(folder, 'evaluations/valid-best/evaluation.json');
    const { metrics, n, ...about } = JSON.parse(readFileSync(file, 'utf8')) as QuestionEvaluationRecord;
    expect(n).toBeGreaterThan(5);
    expect(metrics.crashed!.value).toBe(0);
    expect(metrics.f1!.value).toBeGreaterThan(0.2);

    const { agent, graph, close } = await loadQuestionRun(folder, { checkpoint: 'best' });
    const samples = loadQuestionDataset('films').questions(graph, { split: 'valid' });
    const options = { graph, about: about as QuestionAbout, hashes: { dataset: '' } };
    const again = await evaluateQuestions(agent, samples, options);
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
