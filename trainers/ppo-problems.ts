/** Contradictions among the settings of PPO and REINFORCE alone, whatever is walked. */
import type { TrainSettings } from './train-settings.js';

/** One line a contradiction. */
export function ppoProblems({ ppo }: Pick<TrainSettings, 'ppo'>): string[] {
  if (!ppo.enabled) return [];
  const problems: string[] = [];
  const refuse = (wrong: boolean, problem: string) => wrong && problems.push(problem);
  const { algorithm, gradient, baseline, explorations, actionDropout } = ppo;
  if (gradient === 'exact') {
    refuse(
      algorithm === 'reinforce' || baseline === 'moving-average' || actionDropout > 0,
      'expected ppo.algorithm=ppo, no moving average and ppo.actionDropout=0 with ppo.gradient=exact, which walks nothing',
    );
    return problems;
  }
  refuse(
    baseline === 'group-mean' && explorations < 2,
    'expected ppo.explorations of at least 2 with ppo.baseline=group-mean, got 1: every advantage would be 0',
  );
  if (algorithm === 'ppo') return problems;
  // A second step would learn from walks of the policy before the first one, and nothing would correct for it.
  const { updateEpochs, minibatchSamples, samplesPerUpdate, targetKl, dualClip } = ppo;
  const oneStep = 'with ppo.algorithm=reinforce, which takes one step a round';
  refuse(updateEpochs !== 1, `expected ppo.updateEpochs=1 ${oneStep}, got ${updateEpochs}`);
  refuse(
    minibatchSamples < samplesPerUpdate,
    `expected ppo.minibatchSamples of at least ppo.samplesPerUpdate, which is ${samplesPerUpdate}, ${oneStep}, got ${minibatchSamples}`,
  );
  refuse(dualClip !== null, `expected ppo.dualClip=null ${oneStep}, got ${dualClip}`);
  refuse(targetKl !== null, `expected ppo.targetKl=null ${oneStep}, got ${targetKl}`);
  return problems;
}
