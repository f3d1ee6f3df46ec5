/** What is logged in training, by names and units that people read. */
import { algorithmOf } from './agent-names.js';
import { figureNames } from './figure-names.js';
import type { RunGroup } from './run-data.js';

const phaseTitles: Readonly<Record<string, string>> = {
  transe: 'TransE',
  bilinear: 'bilinear embeddings',
  clone: 'cloning',
};

/** What titles call a phase of these runs: of `ppo` what it optimised by, `PPO`, `REINFORCE` or both. */
export function phaseTitle(phase: string, groups: readonly RunGroup[]): string {
  if (phase !== 'ppo') return phaseTitles[phase] ?? phase;
  return [...new Set(groups.map(({ runs }) => algorithmOf(runs[0]!.info.config)))].sort().join(' and ');
}

/** What a step of a phase counts. */
export const stepNames: Readonly<Record<string, string>> = {
  transe: 'epochs over the graph',
  bilinear: 'epochs over the graph',
  clone: 'updates',
  ppo: 'updates',
};

/** What the page shows large, in the order of training; all else is diagnostics. */
export const learningMeasures: readonly (readonly [phase: string, key: string])[] = [
  ['transe', 'eval/mrr'],
  ['clone', 'train/loss'],
  ['clone', 'eval/path@1'],
  ['clone', 'eval/hit@1'],
  ['clone', 'eval/mrr'],
  ['ppo', 'rollout/reward'],
  ['ppo', 'rollout/hit_rate'],
  ['ppo', 'eval/path@1'],
  ['ppo', 'eval/target@1'],
  ['ppo', 'eval/hit@1'],
  ['ppo', 'eval/f1'],
  ['ppo', 'eval/mrr'],
  ['ppo', 'eval/tail_mrr'],
];

/** What is shown against wall time, too: where walking is all of the method, time is what runs are compared by. */
export const againstTheClock: readonly string[] = ['rollout/hit_rate', 'eval/mrr'];

const titles: Readonly<Record<string, string>> = {
  'rollout/reward': 'mean reward of a walk',
  'train/loss': 'loss on train',
  'eval/mrr': 'mean reciprocal rank on valid, %',
  'eval/tail_mrr': 'mean reciprocal rank of tails on valid, %',
  'rollout/hit_rate': 'walks that end on the answer, %',
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
