/** Checks for settings that are valid alone and contradict each other, before anything is read or written. */
import { parseDatasetName } from '../datasets/questions/question-dataset.js';
import { envIds } from '../envs/registry.js';
import { WorkbenchError } from '../src/run/errors.js';
import { groupBaselines } from './ppo-settings.js';
import type { RunSettings } from './run-settings.js';
import type { TaskTrainer, TrainedMethod } from './task-trainer.js';

/** A problem, or false where its condition does not hold. */
type Rule = string | false;

/** Contradictions within the settings of PPO and REINFORCE. */
function ppoRules({ ppo }: Pick<RunSettings, 'ppo'>): Rule[] {
  if (!ppo.enabled) return [];
  const { algorithm, gradient, baseline, explorations, actionDropout } = ppo;
  if (gradient === 'exact') {
    return [
      (algorithm === 'reinforce' || baseline === 'moving-average' || actionDropout > 0) &&
        'expected ppo.algorithm=ppo, no moving average and ppo.actionDropout=0 with ppo.gradient=exact, which walks nothing',
    ];
  }
  const { updateEpochs, minibatchSamples, samplesPerUpdate, targetKl, dualClip, normalizeAdvantage } = ppo;
  const ofGroup = groupBaselines.includes(baseline);
  // A second step would use off-policy walks without any correction.
  const oneStep = 'with ppo.algorithm=reinforce, which takes one step a round';
  const reinforce = algorithm === 'reinforce';
  return [
    ofGroup &&
      explorations < 2 &&
      `expected ppo.explorations of at least 2 with ppo.baseline=${baseline}, got 1: every advantage would be 0`,
    normalizeAdvantage === 'group' &&
      !ofGroup &&
      `expected ppo.baseline=group-mean or leave-one-out with ppo.normalizeAdvantage=group, got ${baseline}`,
    reinforce && updateEpochs !== 1 && `expected ppo.updateEpochs=1 ${oneStep}, got ${updateEpochs}`,
    reinforce &&
      minibatchSamples < samplesPerUpdate &&
      `expected ppo.minibatchSamples of at least ppo.samplesPerUpdate, which is ${samplesPerUpdate}, ${oneStep}, got ${minibatchSamples}`,
    reinforce && dualClip !== null && `expected ppo.dualClip=null ${oneStep}, got ${dualClip}`,
    reinforce && targetKl !== null && `expected ppo.targetKl=null ${oneStep}, got ${targetKl}`,
  ];
}

/**
 * @param hasClone true if the run's folder already holds a cloned checkpoint
 * @returns the method that is trained
 * @throws WorkbenchError `config` that lists every contradiction
 */
export function checkTrainSettings(learning: TaskTrainer, settings: RunSettings, hasClone: boolean): TrainedMethod {
  const { data, env, clone, ppo, evaluation } = settings;
  const { name, subsets } = parseDatasetName(data.dataset);
  const method = learning.methodOf(settings);
  const rules: Rule[] = [
    !method.fitEvaluations &&
      !clone.enabled &&
      !ppo.enabled &&
      'expected something to train, got clone.enabled=false and ppo.enabled=false',
    ppo.enabled &&
      ppo.init === 'clone' &&
      !clone.enabled &&
      !hasClone &&
      'expected a clone to start from, got ppo.init=clone with clone.enabled=false; set ppo.init=scratch and ppo.klCoef=0, or clone.enabled=true',
    ppo.enabled &&
      ppo.init === 'scratch' &&
      ppo.klCoef > 0 &&
      !method.pretrained?.(settings) &&
      `expected ppo.klCoef=0 with ppo.init=scratch, where there is no clone to stay near, got ${ppo.klCoef}`,
    ...ppoRules(settings),
    ppo.enabled &&
      ppo.gradient === 'exact' &&
      (ppo.baseline === 'critic' || env.shaping !== 'none' || env.reward.kind !== 'path') &&
      'expected the path reward, no critic and no shaping with ppo.gradient=exact, which has a closed form for that alone',
    !evaluation.ks.includes(1) &&
      `expected 1 in evaluation.ks, by which the best checkpoint is chosen, got ${evaluation.ks.join(', ')}`,
    !envIds().includes(env.id) &&
      env.id !== learning.ownEnvId &&
      `expected a known environment (${envIds().join(', ')}), got ${JSON.stringify(env.id)}, at env.id`,
    subsets !== undefined &&
      `expected a data set alone at data.dataset, got ${data.dataset}; its parts are named by data.subsets: set data.dataset=${name} and data.subsets=[${subsets.join(', ')}]`,
    ...method.problems(settings),
  ];
  const problems = rules.filter((problem) => problem !== false);
  if (problems.length === 0) return method;
  const list =
    problems.length === 1
      ? problems[0]!
      : `${problems.length} problems:\n${problems.map((one) => `  ${one}`).join('\n')}`;
  throw new WorkbenchError('config', list, { hint: 'Every key is described by `kgwalk config explain KEY`.' });
}
