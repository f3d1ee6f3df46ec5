import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadRelationWalkers } from '../../../agents/relation-walker/agent.js';
import { loadQuestionRun } from '../../../agents/question-agents.js';
import { readIndex } from '../../../checkpoints/store.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { readEvaluation } from '../../../evaluation/keep.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import { openRun } from '../../../src/run/run-folder.js';
import { questionMeasure } from '../../../tasks/questions/score.js';
import { train } from '../../../tasks/train.js';
import { finishedRun } from '../../fixtures/finished-run.js';
import { longTest } from '../../fixtures/long-tests.js';
import { useSharedHome } from '../../fixtures/own-home.js';
import { evaluationOf, runHashes } from '../../fixtures/tiny-training.js';
import { filmSettings } from '../../fixtures/toy-question-training.js';

let unbroken: string;
const home = useSharedHome(async () => {
  unbroken = await finishedRun('questions');
});
let runs = 0;
const noModel = {
  client: { remaining: 0, byLikelihood: false, decide: () => Promise.reject(new Error('no model')) },
  trace() {},
};
const newFolder = () => join(home(), `run-${++runs}`);

describe('a training run on questions', () => {
  test('learns from questions and answers alone, for topics it never saw', () => {
    const records = readMetrics(join(unbroken, 'metrics.jsonl'));
    const curve = records.flatMap(({ metrics }) => ('eval/f1' in metrics ? [metrics] : []));
    expect(curve).toHaveLength(4);
    expect(Object.keys(curve[0]!).sort()).toEqual(['eval/chain', 'eval/exact', 'eval/f1', 'eval/hit@1', 'eval/n']);
    expect(curve.at(-1)!['eval/f1']).toBeGreaterThan(0.9);
    const first = records[0]!.metrics;
    expect(first['train/feasibility_loss']).toBeGreaterThan(0.5);
    expect(records.at(-2)!.metrics['train/feasibility_loss']).toBeLessThan(first['train/feasibility_loss']! / 3);
    const deviations = records.flatMap(({ metrics }) => metrics['train/first_ratio_deviation'] ?? []);
    expect(Math.max(...deviations)).toBeLessThanOrEqual(1e-6);
  });

  test('leaves a folder with everything, and no embeddings but the scale of its vectors', () => {
    const files = Object.keys(runHashes(unbroken));
    expect(files.filter((file) => !file.startsWith('checkpoints/'))).toEqual([
      'config.yaml',
      'embeddings/question-scale.safetensors',
      ...[
        'answers.jsonl',
        'asked.json',
        'evaluation.json',
        'provenance.json',
        'rows.arrow',
        'seal.json',
        'traces.jsonl',
      ].map((name) => join(relative(unbroken, evaluationOf(unbroken, 'valid-best')), name)),
      'metrics.arrow',
      'metrics.jsonl',
      'provenance.json',
      'state.json',
    ]);
    expect(openRun(unbroken).state).toMatchObject({ status: 'finished', done: { encode: true, ppo: true } });
  });

  test('points at the checkpoint with the highest F1, the earlier of equal ones', () => {
    const { best, checkpoints } = readIndex(unbroken);
    const scored = checkpoints.filter(({ metrics }) => 'eval/f1' in metrics);
    const highest = Math.max(...scored.map(({ metrics }) => metrics['eval/f1']!));
    expect(best).toEqual(scored.find(({ metrics }) => metrics['eval/f1'] === highest));
  });

  test('is evaluated by the harness, which agrees with its curve', () => {
    const { record } = readEvaluation(evaluationOf(unbroken, 'valid-best'), questionMeasure);
    const { best } = readIndex(unbroken);
    expect(record).toMatchObject({
      dataset: 'films',
      split: 'valid',
      subsets: ['1-hop', '2-hop', '3-hop'],
      budget: null,
    });
    for (const key of ['f1', 'hit@1', 'exact']) {
      expect(record.metrics[key]!.value).toBeCloseTo(best!.metrics[`eval/${key}`]!, 12);
    }
  });

  test('is loaded and answers as it was evaluated', async () => {
    const { agent, graph, close } = await loadQuestionRun(unbroken);
    const [sample] = loadQuestionDataset('films').questions(graph, { subsets: ['3-hop'], split: 'valid' });
    const { entities, chain } = await agent.answer(sample!.task, noModel);
    expect([...entities].sort()).toEqual(sample!.gold.answers.map(({ entity }) => entity).sort());
    expect(sample!.gold.chains).toContainEqual(chain);
    await close();
  });

  test('is asked in words, its best checkpoint where none is named', async () => {
    const walker = await loadQuestionRun(unbroken, {});
    const { topics, answers } = await walker.ask('who directed Tenet?');
    expect(topics).toEqual(['tenet']);
    expect(answers.length).toBeGreaterThan(0);
    await expect(walker.ask('who directed it?')).rejects.toThrow('expected a name of the graph in the question');
    await walker.close();
  });

  longTest('that reads words learns, and answers as its curve says', async () => {
    const settings = filmSettings(
      'relationWalker.reads=words',
      'relationWalker.wordDim=16',
      'relationWalker.wordWidth=16',
      ...['ppo.samplesPerUpdate=16', 'ppo.entropyCoef=0.5', 'ppo.learningRate=0.01'],
    );
    const whole = newFolder();
    await train({ settings, folder: whole });
    const { best } = readIndex(whole);
    expect(best!.metrics['eval/f1']).toBeGreaterThan(0.9);
    const { record } = readEvaluation(evaluationOf(whole, 'valid-best'), questionMeasure);
    expect(record.metrics['hit@1']!.value).toBeCloseTo(best!.metrics['eval/hit@1']!, 12);

    // Twice the same one is that one; with one that reads sentences it is both.
    const answersOf = async (folders: string[]) => {
      const walker = await loadRelationWalkers(
        folders.map((folder) => ({ folder, checkpoint: 'best' })),
        {},
      );
      const samples = loadQuestionDataset('films').questions(walker.graph, { subsets: ['3-hop'], split: 'valid' });
      await walker.agent.prepare!(samples.map(({ task }) => task));
      const answers = await Promise.all(samples.map(({ task }) => walker.agent.answer(task, noModel)));
      await walker.close();
      return answers.map(({ entities, confidence }) => ({ entities: [...entities], confidence: confidence! }));
    };
    const [words, sentence, both] = [
      await answersOf([whole]),
      await answersOf([unbroken]),
      await answersOf([whole, unbroken]),
    ];
    expect(await answersOf([whole, whole])).toEqual(words);
    both.forEach(({ entities, confidence }, i) => {
      expect(entities).toEqual(words[i]!.entities);
      expect(confidence).not.toBe(words[i]!.confidence);
      expect(confidence).not.toBe(sentence[i]!.confidence);
    });
  });

  test.each([
    [['data.subsets=[4-hop]'], 'usage', 'expected a subset of films'],
    [['data.dataset=films/2-hop'], 'config', 'set data.dataset=films and data.subsets=[2-hop]'],
    [['data.holdOut=type'], 'usage', 'expected a split of films'],
    [['data.dataset=nothing'], 'data', 'nothing'],
    [['clone.enabled=true'], 'config', 'expected teacher.evaluation'],
    [['ppo.baseline=critic'], 'config', 'ppo.baseline'],
    [['ppo.gradient=exact'], 'config', 'ppo.feasibilityCoef=0 with ppo.gradient=exact'],
    [['env.horizon=4'], 'config', 'relationWalk'],
  ])('is refused with %j before anything is written', async (overrides, code, message) => {
    const folder = newFolder();
    await expect(train({ settings: filmSettings(...overrides), folder })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    expect(() => openRun(folder)).toThrow();
  });
});
