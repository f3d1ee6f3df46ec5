/** Contradictions among the settings of training on link queries. */
import { dataSettings } from '../../datasets/settings.js';
import { envSettings, stateTextSettings } from '../../envs/settings.js';
import { diffConfig } from '../../src/run/config.js';
import type { TrainSettings } from '../train-settings.js';

/** One line a contradiction. */
export function linkProblems(settings: TrainSettings): string[] {
  const { data, env, stateText, transe, bilinear, linkWalk, linkWalker, ppo } = settings;
  const { dataset, trainSamples, validSamples } = data;
  const problems: string[] = [];
  const wanted = (ok: boolean, expected: string, got: unknown) => {
    if (!ok) problems.push(`expected ${expected} with env.id=${env.id}, got ${String(got)}`);
  };
  const changed = (section: string, own: object, usual: object) =>
    diffConfig(own, usual).map((key) => `${section}.${key}`);
  const unread = [
    ...changed('env', env, envSettings.parse({ id: env.id })),
    ...changed('stateText', stateText, stateTextSettings.parse({})),
    ...changed('data', data, dataSettings.parse({ dataset, trainSamples, validSamples })),
  ];
  wanted(unread.length === 0, 'the rules of the walk in the section linkWalk', unread.join(', '));
  wanted(ppo.gradient === 'sampled', 'ppo.gradient=sampled', ppo.gradient);
  wanted(ppo.trainHorizon === null, 'ppo.trainHorizon=null', ppo.trainHorizon);
  const enabled = { transe: transe.enabled, bilinear: bilinear.enabled };
  for (const [key, section] of [
    ['linkWalker.vectors', linkWalker.vectors],
    ['linkWalk.shapingScorer', linkWalk.shaping === 'none' ? 'random' : linkWalk.shapingScorer],
  ] as const) {
    if (section !== 'random') wanted(enabled[section], `${section}.enabled=true, which ${key} reads,`, false);
  }
  wanted(
    linkWalker.trainVectors || linkWalker.vectors !== 'random',
    'linkWalker.vectors=transe or bilinear with linkWalker.trainVectors=false, which leaves vectors as they start,',
    linkWalker.vectors,
  );
  return problems;
}
