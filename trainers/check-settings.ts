/** Checks for settings that are valid alone and contradict each other, before anything is read or written. */
import { headsByMargins } from '../agents/walker/heads/registry.js';
import { walkerSettings } from '../agents/walker/settings.js';
import { parseDatasetName } from '../datasets/questions/question-dataset.js';
import { envIds } from '../envs/registry.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { TaskTrainer } from './task-trainer.js';
import type { TrainSettings } from './train-settings.js';

/** A problem, or false where its condition does not hold. */
type Rule = string | false;

/** Contradictions within the settings of PPO and REINFORCE. */
function ppoRules({ ppo }: Pick<TrainSettings, 'ppo'>): Rule[] {
  if (!ppo.enabled) return [];
  const { algorithm, gradient, baseline, explorations, actionDropout } = ppo;
  if (gradient === 'exact') {
    return [
      (algorithm === 'reinforce' || baseline === 'moving-average' || actionDropout > 0) &&
        'expected ppo.algorithm=ppo, no moving average and ppo.actionDropout=0 with ppo.gradient=exact, which walks nothing',
    ];
  }
  const { updateEpochs, minibatchSamples, samplesPerUpdate, targetKl, dualClip } = ppo;
  // A second step would use off-policy walks without any correction.
  const oneStep = 'with ppo.algorithm=reinforce, which takes one step a round';
  const reinforce = algorithm === 'reinforce';
  return [
    baseline === 'group-mean' &&
      explorations < 2 &&
      'expected ppo.explorations of at least 2 with ppo.baseline=group-mean, got 1: every advantage would be 0',
    reinforce && updateEpochs !== 1 && `expected ppo.updateEpochs=1 ${oneStep}, got ${updateEpochs}`,
    reinforce &&
      minibatchSamples < samplesPerUpdate &&
      `expected ppo.minibatchSamples of at least ppo.samplesPerUpdate, which is ${samplesPerUpdate}, ${oneStep}, got ${minibatchSamples}`,
    reinforce && dualClip !== null && `expected ppo.dualClip=null ${oneStep}, got ${dualClip}`,
    reinforce && targetKl !== null && `expected ppo.targetKl=null ${oneStep}, got ${targetKl}`,
  ];
}

/** Settings of LLM-ARK's network, from which the recommended head differs. */
const ofPlainHead = [
  ...(['placeVectors', 'stepEncoding', 'stateNorm', 'critic', 'precision'] as const),
  ...(['entityInit', 'pathAware'] as const),
];

const usualWalker = walkerSettings.parse({});

/** Contradictions within the settings of walkers of dialogues and their cloning. */
function walkerRules({ stateText, transe, walker, clone, ppo }: TrainSettings): Rule[] {
  const { head, text, width, edgeFeatures } = walker;
  const byMargins = clone.enabled && clone.loss === 'hinge';
  const free = walker.decoder === 'free';
  const perStep = stateText.encode === 'per-step';
  return [
    !transe.enabled &&
      (walker.entityVectors.includes('transe') || walker.relationVectors === 'transe') &&
      'expected transe.enabled=true with transe in walker.entityVectors or walker.relationVectors, got false',
    ...ofPlainHead.map(
      (key) =>
        head !== 'pa-mlp' &&
        walker[key] !== usualWalker[key] &&
        `expected walker.head=pa-mlp with walker.${key}=${walker[key]}, got ${head}`,
    ),
    head === 'pa-mlp' &&
      text !== 'frozen' &&
      `expected walker.text=frozen with walker.head=pa-mlp, which reads text vectors alone, got ${text}`,
    text !== 'frozen' &&
      width % 2 === 1 &&
      `expected an even walker.width with walker.text=${text}, whose LSTMs read both ways, got ${width}`,
    byMargins &&
      !headsByMargins.includes(head) &&
      `expected walker.head=${headsByMargins.join(' or ')} with clone.loss=hinge, which wants a head that aims at vectors, got ${head}`,
    byMargins &&
      edgeFeatures &&
      'expected walker.edgeFeatures=false with clone.loss=hinge, in which features of edges have no part, got true',
    free &&
      head !== 'seq2path' &&
      `expected walker.head=seq2path with walker.decoder=free, which writes walks instead of choosing among edges, got ${head}`,
    free &&
      head === 'seq2path' &&
      (ppo.enabled || edgeFeatures || (clone.enabled && clone.loss !== 'edges')) &&
      `expected ppo.enabled=false, walker.edgeFeatures=false and clone.loss=edges with walker.decoder=free, whose walks may leave the graph, got ${ppo.enabled}, ${edgeFeatures} and ${clone.loss}`,
    perStep &&
      head !== 'pa-mlp' &&
      `expected walker.head=pa-mlp with stateText.encode=per-step, where there are no vectors of single messages, got ${head}`,
    perStep &&
      stateText.walkTokens >= stateText.maxTokens &&
      `expected stateText.walkTokens below stateText.maxTokens, of which they are a part, got ${stateText.walkTokens} of ${stateText.maxTokens}`,
  ];
}

/**
 * @param hasClone true if the run's folder already holds a cloned checkpoint
 * @throws WorkbenchError `config` that lists every contradiction
 */
export function checkTrainSettings(learning: TaskTrainer, settings: TrainSettings, hasClone: boolean): void {
  const { data, env, transe, clone, ppo, evaluation } = settings;
  const { name, subsets } = parseDatasetName(data.dataset);
  const rules: Rule[] = [
    !clone.enabled &&
      !ppo.enabled &&
      settings.reader === undefined &&
      settings.exactWalker === undefined &&
      'expected something to train, got clone.enabled=false and ppo.enabled=false',
    ppo.enabled &&
      ppo.init === 'clone' &&
      !clone.enabled &&
      !hasClone &&
      'expected a clone to start from, got ppo.init=clone with clone.enabled=false; set ppo.init=scratch and ppo.klCoef=0, or clone.enabled=true',
    ppo.enabled &&
      ppo.init === 'scratch' &&
      ppo.klCoef > 0 &&
      `expected ppo.klCoef=0 with ppo.init=scratch, where there is no clone to stay near, got ${ppo.klCoef}`,
    ...ppoRules(settings),
    ppo.enabled &&
      ppo.gradient === 'exact' &&
      (ppo.baseline === 'critic' || env.shaping !== 'none' || env.reward.kind !== 'path') &&
      'expected the path reward, no critic and no shaping with ppo.gradient=exact, which has a closed form for that alone',
    ppo.enabled &&
      env.shaping === 'transe' &&
      !transe.enabled &&
      'expected transe.enabled=true with env.shaping=transe, got false',
    ...walkerRules(settings),
    !evaluation.ks.includes(1) &&
      `expected 1 in evaluation.ks, by which the best checkpoint is chosen, got ${evaluation.ks.join(', ')}`,
    !envIds().includes(env.id) &&
      env.id !== learning.ownEnvId &&
      `expected a known environment (${envIds().join(', ')}), got ${JSON.stringify(env.id)}, at env.id`,
    subsets !== undefined &&
      `expected a data set alone at data.dataset, got ${data.dataset}; its parts are named by data.subsets: set data.dataset=${name} and data.subsets=[${subsets.join(', ')}]`,
    settings.teacher !== undefined &&
      !learning.takes?.includes('teacher') &&
      `expected no section teacher with env.id=${env.id}, which clones what its own data show`,
    settings.reader !== undefined &&
      !learning.takes?.includes('reader') &&
      `expected no section reader with env.id=${env.id}: readers answer questions, with env.id=kgwalk/RelationWalk-v1`,
    settings.exactWalker !== undefined &&
      !learning.takes?.includes('exactWalker') &&
      `expected no section exactWalker with env.id=${env.id}: exact walkers answer link queries, with env.id=kgwalk/LinkQuery-v1`,
    ...learning.problems(settings),
  ];
  const problems = rules.filter((problem) => problem !== false);
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
