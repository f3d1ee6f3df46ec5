import { expect, test } from '@jest/globals';
import { beamSearch } from '../../../agents/walker/walker-agent.js';
import { walkerActor } from '../../../agents/walker/policy.js';
import { walkCollector } from '../../../agents/top-paths.js';
import { edgeWalkSample, makeVectorEnv } from '../../../envs/index.js';
import { adamWOf } from '../../../src/tensor/adamw.js';
import { questionWalkRules } from '../../../envs/dialogue-walk/question-edge-walk.js';
import { ppo } from '../../../trainers/ppo.js';
import { wholeWalks } from '../../../trainers/rollout.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { filmGraph, filmQuestions } from '../../fixtures/toy-questions.js';
import { toyWalker } from '../../fixtures/toy-policy.js';

const graph = filmGraph();
const questions = filmQuestions(graph);
const samples = questions.map((sample) => edgeWalkSample(sample));

test.each(['candidate', 'pa-mlp'] as const)(
  'the %s walker of dialogues learns to answer questions by PPO',
  async (head) => {
    const { policy: make } = await toyWalker({ graph, samples }, questionWalkRules, { head });
    const policy = make(3);
    const actor = walkerActor(policy);
    const explorations = 8;
    const rewards: number[] = [];
    await ppo({
      actor,
      optimizer: adamWOf(actor.parameters, { maxGradNorm: 0.5 }),
      collect: wholeWalks(
        makeVectorEnv('kgwalk/QuestionEdgeWalk-v1', { graph, samples: questions }, samples.length * explorations),
        Int32Array.from(samples.keys()),
      ),
      settings: ppoSettings.parse({
        init: 'scratch',
        updates: 25,
        samplesPerUpdate: samples.length,
        explorations,
        minibatchSamples: samples.length,
        learningRate: 0.01,
        warmupUpdates: 0,
        klCoef: 0,
      }),
      seed: 1,
      onUpdate: ({ metrics }) => {
        rewards.push(metrics['rollout/reward']!);
        expect(metrics['train/first_ratio_deviation']).toBeLessThan(1e-6);
      },
    });
    expect(rewards.at(-1)).toBeGreaterThan(rewards[0]! + 0.2);

    const tasks = samples.map(({ task }) => task);
    const rankings = await beamSearch(policy, tasks, 50, walkCollector(graph, { beamWidth: 50 }));
    rankings.forEach(({ answers, paths }, i) => {
      // The topic is never reached, and the walks of a wide beam are all there are.
      expect(answers.map(({ entity }) => entity)).not.toContain(tasks[i]!.start);
      expect(paths.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 4);
    });
    actor.dispose();
  },
);
