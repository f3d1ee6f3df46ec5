/** Contradictions among the settings of what is walked and what a walk earns. */
import type { TrainSettings } from './train-settings.js';

/** One line a contradiction, of walks over dialogues in PPO. */
export function walkProblems({ env, ppo }: Pick<TrainSettings, 'env' | 'ppo'>): string[] {
  if (!ppo.enabled) return [];
  const problems: string[] = [];
  const refuse = (wrong: boolean, problem: string) => wrong && problems.push(problem);
  const { trainHorizon } = ppo;
  refuse(
    trainHorizon !== null && trainHorizon > env.horizon,
    `expected ppo.trainHorizon of at most env.horizon, which is ${env.horizon}, got ${trainHorizon}`,
  );
  refuse(
    trainHorizon !== null && ppo.gradient === 'exact',
    `expected ppo.trainHorizon=null with ppo.gradient=exact, which follows whole paths, got ${trainHorizon}`,
  );
  const firstHop = env.reward.kind === 'first-hop';
  refuse(
    firstHop && (trainHorizon ?? env.horizon) !== 1,
    `expected ppo.trainHorizon=1 with env.reward.kind=first-hop, which a second step would leave, got ${trainHorizon ?? `null and env.horizon=${env.horizon}`}`,
  );
  refuse(
    firstHop && env.shaping !== 'none',
    `expected env.shaping=none with env.reward.kind=first-hop, since shaping leads to the target, got ${env.shaping}`,
  );
  return problems;
}
