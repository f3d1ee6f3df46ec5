/** What is logged in training, by names and units that people read. */
import { figureNames } from './figure-names.js';

/** Phases as titles name them. */
export const phaseTitles: Readonly<Record<string, string>> = { transe: 'TransE', clone: 'cloning', ppo: 'PPO' };

/** What a step of a phase counts. */
export const stepNames: Readonly<Record<string, string>> = {
  transe: 'epochs over the graph',
  clone: 'updates',
  ppo: 'updates',
};

/** What the page shows large, in the order of training; all else is diagnostics. */
export const learningMeasures: readonly (readonly [phase: string, key: string])[] = [
  ['transe', 'eval/mrr'],
  ['clone', 'train/loss'],
  ['clone', 'eval/path@1'],
  ['clone', 'eval/hit@1'],
  ['ppo', 'rollout/reward'],
  ['ppo', 'eval/path@1'],
  ['ppo', 'eval/target@1'],
  ['ppo', 'eval/hit@1'],
  ['ppo', 'eval/f1'],
];

const titles: Readonly<Record<string, string>> = {
  'rollout/reward': 'mean reward of a walk',
  'train/loss': 'loss on train',
  'eval/mrr': 'mean reciprocal rank on valid, %',
};

/** `path@1 on valid, %`. */
export function titleOfMeasure(key: string): string {
  const [kind, ...rest] = key.split('/');
  const name = rest.join('/').replaceAll('_', ' ');
  const unit = isRate(key) ? ', %' : '';
  return titles[key] ?? `${figureNames[name] ?? name}${kind === 'eval' ? ' on valid' : ''}${unit}`;
}

/** Whether values are fractions that read as percent. */
export function isRate(key: string): boolean {
  return key.includes('@') || /(hit_rate|mrr|accuracy|\/f1|exact|chain|fraction)$/.test(key);
}
