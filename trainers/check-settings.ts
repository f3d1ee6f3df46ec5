/** Checks for settings that are valid alone and contradict each other, before anything is read or written. */
import { headsByMargins } from '../agents/walker/heads/registry.js';
import { walkerSettings } from '../agents/walker/settings.js';
import { parseDatasetName } from '../datasets/questions/question-dataset.js';
import { envIds } from '../envs/registry.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Learning } from './session.js';
import type { TrainSettings } from './train-settings.js';

/** Contradictions within the settings of PPO and REINFORCE, one line each. */
function ppoProblems({ ppo }: Pick<TrainSettings, 'ppo'>): string[] {
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
  // A second step would use off-policy walks without any correction.
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

/** Settings of LLM-ARK's network, from which the recommended head differs. */
const ofPlainHead = [
  ...(['placeVectors', 'stepEncoding', 'stateNorm', 'critic', 'precision'] as const),
  ...(['entityInit', 'pathAware'] as const),
];

const usualWalker = walkerSettings.parse({});

/**
 * @param hasClone true if the run's folder already holds a cloned checkpoint
 * @throws WorkbenchError `config` that lists every contradiction
 */
export function checkTrainSettings(
  learning: Pick<
    Learning,
    'ownEnvId' | 'problems' | 'networkSize' | 'takesTeacher' | 'takesReader' | 'takesExactWalker'
  >,
  settings: TrainSettings,
  hasClone: boolean,
): void {
  const { data, env, stateText, transe, walker, clone, ppo, evaluation } = settings;
  const problems: string[] = [];
  const refuse = (wrong: boolean, problem: string) => wrong && problems.push(problem);
  const exact = ppo.enabled && ppo.gradient === 'exact';
  refuse(
    !clone.enabled && !ppo.enabled && settings.reader === undefined && settings.exactWalker === undefined,
    'expected something to train, got clone.enabled=false and ppo.enabled=false',
  );
  refuse(
    ppo.enabled && ppo.init === 'clone' && !clone.enabled && !hasClone,
    'expected a clone to start from, got ppo.init=clone with clone.enabled=false; set ppo.init=scratch and ppo.klCoef=0, or clone.enabled=true',
  );
  refuse(
    ppo.enabled && ppo.init === 'scratch' && ppo.klCoef > 0,
    `expected ppo.klCoef=0 with ppo.init=scratch, where there is no clone to stay near, got ${ppo.klCoef}`,
  );
  problems.push(...ppoProblems(settings));
  refuse(
    exact && (ppo.baseline === 'critic' || env.shaping !== 'none' || env.reward.kind !== 'path'),
    'expected the path reward, no critic and no shaping with ppo.gradient=exact, which has a closed form for that alone',
  );
  refuse(
    ppo.enabled && env.shaping === 'transe' && !transe.enabled,
    'expected transe.enabled=true with env.shaping=transe, got false',
  );
  refuse(
    !transe.enabled && (walker.entityVectors.includes('transe') || walker.relationVectors === 'transe'),
    'expected transe.enabled=true with transe in walker.entityVectors or walker.relationVectors, got false',
  );
  for (const key of ofPlainHead) {
    refuse(
      walker.head !== 'pa-mlp' && walker[key] !== usualWalker[key],
      `expected walker.head=pa-mlp with walker.${key}=${walker[key]}, got ${walker.head}`,
    );
  }
  refuse(
    walker.head === 'pa-mlp' && walker.text !== 'frozen',
    `expected walker.text=frozen with walker.head=pa-mlp, which reads text vectors alone, got ${walker.text}`,
  );
  refuse(
    walker.text !== 'frozen' && walker.width % 2 === 1,
    `expected an even walker.width with walker.text=${walker.text}, whose LSTMs read both ways, got ${walker.width}`,
  );
  const byMargins = clone.enabled && clone.loss === 'hinge';
  refuse(
    byMargins && !headsByMargins.includes(walker.head),
    `expected walker.head=${headsByMargins.join(' or ')} with clone.loss=hinge, which wants a head that aims at vectors, got ${walker.head}`,
  );
  refuse(
    byMargins && walker.edgeFeatures,
    'expected walker.edgeFeatures=false with clone.loss=hinge, in which features of edges have no part, got true',
  );
  const free = walker.decoder === 'free';
  refuse(
    free && walker.head !== 'seq2path',
    `expected walker.head=seq2path with walker.decoder=free, which writes walks instead of choosing among edges, got ${walker.head}`,
  );
  refuse(
    free &&
      walker.head === 'seq2path' &&
      (ppo.enabled || walker.edgeFeatures || (clone.enabled && clone.loss !== 'edges')),
    `expected ppo.enabled=false, walker.edgeFeatures=false and clone.loss=edges with walker.decoder=free, whose walks may leave the graph, got ${ppo.enabled}, ${walker.edgeFeatures} and ${clone.loss}`,
  );
  const perStep = stateText.encode === 'per-step';
  refuse(
    perStep && walker.head !== 'pa-mlp',
    `expected walker.head=pa-mlp with stateText.encode=per-step, where there are no vectors of single messages, got ${walker.head}`,
  );
  refuse(
    perStep && stateText.walkTokens >= stateText.maxTokens,
    `expected stateText.walkTokens below stateText.maxTokens, of which they are a part, got ${stateText.walkTokens} of ${stateText.maxTokens}`,
  );
  refuse(
    !evaluation.ks.includes(1),
    `expected 1 in evaluation.ks, by which the best checkpoint is chosen, got ${evaluation.ks.join(', ')}`,
  );
  refuse(
    !envIds().includes(env.id) && env.id !== learning.ownEnvId,
    `expected a known environment (${envIds().join(', ')}), got ${JSON.stringify(env.id)}, at env.id`,
  );
  const { name, subsets } = parseDatasetName(data.dataset);
  refuse(
    subsets !== undefined,
    `expected a data set alone at data.dataset, got ${data.dataset}; its parts are named by data.subsets: set data.dataset=${name} and data.subsets=[${subsets?.join(', ')}]`,
  );
  refuse(
    settings.teacher !== undefined && learning.takesTeacher !== true,
    `expected no section teacher with env.id=${env.id}, which clones what its own data show`,
  );
  refuse(
    settings.reader !== undefined && learning.takesReader !== true,
    `expected no section reader with env.id=${env.id}: readers answer questions, with env.id=kgwalk/RelationWalk-v1`,
  );
  refuse(
    settings.exactWalker !== undefined && learning.takesExactWalker !== true,
    `expected no section exactWalker with env.id=${env.id}: exact walkers answer link queries, with env.id=kgwalk/LinkQuery-v1`,
  );
  problems.push(...learning.problems(settings));
  refuse(
    settings.backend === 'host' && !learning.networkSize(settings, 1).onHost,
    'expected backend=host with policies over vectors, or walks of dialogues with walker.head=candidate and walker.text=frozen, alone; set backend=auto',
  );
  if (problems.length === 0) return;
  const list =
    problems.length === 1
      ? problems[0]!
      : `${problems.length} problems:\n${problems.map((one) => `  ${one}`).join('\n')}`;
  throw new WorkbenchError('config', list, { hint: 'Every key is described by `kgwalk config explain KEY`.' });
}

/** One line per setting that applies to dialogues only and would be ignored elsewhere. */
export function dialogueSettingProblems({ env, data, clone, walker }: TrainSettings): string[] {
  const ofDialogues: [key: string, value: unknown, usual: unknown][] = [
    ['data.oracle', data.oracle, null],
    ['data.fold', data.fold, null],
    ['clone.loss', clone.loss, 'edges'],
    ['clone.linkedTurns', clone.linkedTurns && 'some', null],
    ['walker.pairFeatures', walker.pairFeatures, 'none'],
    ['walker.decoder', walker.decoder, 'masked'],
  ];
  return ofDialogues
    .filter(([, value, usual]) => value !== usual)
    .map(
      ([key, value, usual]) => `expected ${key}=${usual}, which is of dialogues, with env.id=${env.id}, got ${value}`,
    );
}
