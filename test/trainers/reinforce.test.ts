/** REINFORCE with a moving average and dropped actions, as a run: what it logs, keeps and refuses. On the tiny release. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { dialogueTrainer } from '../../tasks/dialogues/learn.js';
import { checkTrainSettings } from '../../trainers/check-settings.js';
import { train } from '../../tasks/train.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { tinySettings } from '../fixtures/tiny-training.js';

const reinforce = [
  ...['ppo.algorithm=reinforce', 'ppo.updateEpochs=1', 'ppo.minibatchSamples=2', 'ppo.baseline=moving-average'],
  ...['ppo.actionDropout=0.5', 'ppo.baselineDecay=0.5', 'transe.enabled=false', 'env.reward.miss=-1'],
];
const settings = () => tinySettings(...reinforce);
const home = useReleaseHome();

test('takes one step a round and keeps its average', async () => {
  const whole = join(home(), 'whole');
  await train({ settings: settings(), folder: whole });
  const rounds = readMetrics(join(whole, 'metrics.jsonl')).filter(({ metrics }) => 'train/policy_loss' in metrics);
  expect(rounds).toHaveLength(4);
  for (const { metrics } of rounds) {
    expect(metrics['train/first_ratio_deviation']).toBeLessThanOrEqual(1e-6);
    expect(Object.keys(metrics)).not.toContain('train/clip_fraction');
    expect(Object.keys(metrics)).not.toContain('train/approx_kl');
  }
  const { trainer } = readCheckpoint(readIndex(whole).last!.file).header;
  // Undiscounted rewards at the end: the mean return of a round is its reward.
  const average = rounds.reduce((sum, { metrics }) => 0.5 * sum + 0.5 * metrics['rollout/reward']!, 0);
  expect(trainer).toMatchObject({ optimizerSteps: 4, averageReturn: expect.closeTo(average, 6) });
  expect(average).not.toBe(0);
});

test.each([
  [['ppo.updateEpochs=2'], 'expected ppo.updateEpochs=1 with ppo.algorithm=reinforce'],
  [['ppo.minibatchSamples=1'], 'expected ppo.minibatchSamples of at least ppo.samplesPerUpdate, which is 2, with'],
  [['ppo.dualClip=3'], 'expected ppo.dualClip=null with ppo.algorithm=reinforce'],
  [['ppo.targetKl=0.1'], 'expected ppo.targetKl=null with ppo.algorithm=reinforce'],
  [['ppo.gradient=exact'], 'no moving average and ppo.actionDropout=0 with ppo.gradient=exact'],
])('is refused with %j', (more, message) => {
  expect(() => checkTrainSettings(dialogueTrainer, settings(), false)).not.toThrow();
  expect(() => checkTrainSettings(dialogueTrainer, tinySettings(...reinforce, ...more), false)).toThrow(message);
});
