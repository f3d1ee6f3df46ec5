/** Contradicting settings of runs over dialogues, and those that no other run reads. */
import type { TrainSettings } from '../train-settings.js';
import { headsByMargins } from './heads/registry.js';
import { walkerSettings } from './settings.js';

/** A problem, or false where its condition does not hold. */
type Rule = string | false;

/** Contradictions in a run over dialogues. */
export const dialogueProblems = (settings: TrainSettings): Rule[] => [
  ...walkerRules(settings),
  ...ablationRules(settings),
  ...walkRules(settings),
];

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

/** Contradictions within PPO over dialogues. */
function walkRules({ env, ppo, transe }: TrainSettings): Rule[] {
  if (!ppo.enabled) return [];
  const { trainHorizon } = ppo;
  const firstHop = env.reward.kind === 'first-hop';
  return [
    env.shaping === 'transe' && !transe.enabled && 'expected transe.enabled=true with env.shaping=transe, got false',
    trainHorizon !== null &&
      trainHorizon > env.horizon &&
      `expected ppo.trainHorizon of at most env.horizon, which is ${env.horizon}, got ${trainHorizon}`,
    trainHorizon !== null &&
      ppo.gradient === 'exact' &&
      `expected ppo.trainHorizon=null with ppo.gradient=exact, which follows whole paths, got ${trainHorizon}`,
    firstHop &&
      (trainHorizon ?? env.horizon) !== 1 &&
      `expected ppo.trainHorizon=1 with env.reward.kind=first-hop, which a second step would leave, got ${trainHorizon ?? `null and env.horizon=${env.horizon}`}`,
    firstHop &&
      env.shaping !== 'none' &&
      `expected env.shaping=none with env.reward.kind=first-hop, since shaping leads to the target, got ${env.shaping}`,
  ];
}

/** Contradictions of ablations. */
function ablationRules({ env, stateText, walker }: TrainSettings): Rule[] {
  const trained = walker.entityInit === 'random-trainable';
  const pairs = walker.pairFeatures !== 'none';
  return [
    pairs &&
      !walker.edgeFeatures &&
      `expected walker.edgeFeatures=true with walker.pairFeatures=${walker.pairFeatures}, which extend them, got false`,
    pairs &&
      stateText.encode === 'per-step' &&
      `expected stateText.encode=once with walker.pairFeatures=${walker.pairFeatures}, got per-step`,
    trained &&
      (walker.entityVectors.includes('transe') || walker.relationVectors === 'transe') &&
      'expected no transe in walker.entityVectors and walker.relationVectors with walker.entityInit=random-trainable, which draws both at random, got transe',
    trained &&
      walker.placeVectors &&
      'expected walker.placeVectors=false with walker.entityInit=random-trainable, whose state has no frozen vectors to read, got true',
    !walker.pathAware &&
      trained &&
      'expected walker.entityInit=frozen with walker.pathAware=false, which reads no vectors of edges, got random-trainable',
    !walker.pathAware &&
      env.edgePolicy === 'full' &&
      'expected env.edgePolicy=ark or topk-degree with walker.pathAware=false, whose network has env.maxOut places, got full',
  ];
}

/** Settings that apply to dialogues only and would be ignored elsewhere, one line each. */
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
