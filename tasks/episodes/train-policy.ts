/** `trainPolicy` and `evaluatePolicy`: PPO in an environment of the user's own, from a program. */
import { type PlayedEpisode, playEpisodes, policyChooser } from '../../agents/policy/play.js';
import {
  type MakePolicy,
  type PolicyNetworks,
  restoredPolicy,
  type TrainedPolicy,
} from '../../agents/policy/policy.js';
import { policySettings, type VectorObservationEnv } from '../../agents/policy/spaces.js';
import { readRunCheckpoint } from '../../checkpoints/chain.js';
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';
import { loadConfig } from '../../src/run/config.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Estimate } from '../../src/run/figures.js';
import { resolvePreset } from '../../src/run/locations.js';
import { nearestName } from '../../src/run/printable.js';
import { openRun } from '../../src/run/run-folder.js';
import { ppoSettings } from '../../trainers/ppo-settings.js';
import { settingsOfRun, trainSettings, type TrainSettings } from '../../trainers/train-settings.js';
import type { TrainOptions } from '../../trainers/train.js';
import { trainTask } from '../train.js';
import { episodesTask } from './index.js';
import { episodeSeeds, policyOf } from './learn.js';
import { type EnvSource, ownSource, registeredSource, shapeOf } from './source.js';

/** Makes separate copies of an environment; or the id of a registered one. */
type EnvGiven = (() => VectorObservationEnv) | string;

/** Environment, settings and folder of a training. */
export interface TrainPolicyOptions extends Omit<TrainOptions, 'settings' | 'resume' | 'evaluateBest' | 'fork'> {
  /** Makes a new copy of the environment; or `env` names a registered one. */
  makeEnv?: () => VectorObservationEnv;
  env?: string;
  /** Options of the environment that `env` names. */
  envOptions?: Record<string, unknown>;
  /** By the names of the sections `policy` and `ppo`, without the section; `seed`, `name` and `tensorboard` too. */
  settings?: PolicyTrainingSettings;
  /** Custom networks, instead of dense layers by `settings.hidden`. */
  policy?: MakePolicy | PolicyNetworks;
  /** Resume the run in the folder from its last checkpoint, from `best` or a numbered one; without a run, train from scratch. */
  resume?: boolean | string;
}

type Input<Shape> = { [Key in keyof Shape]?: Shape[Key] extends { _zod: { input: infer Value } } ? Value : never };

/** Settings of `trainPolicy`; what is missing has the value of the preset `policy`. */
export type PolicyTrainingSettings = Input<typeof policySettings.shape> &
  Input<typeof ppoSettings.shape> & { seed?: number; name?: string; tensorboard?: boolean };

/** Result of a training: the run, and its best checkpoint on a hundred episodes of valid. */
export interface TrainedPolicyRun {
  folder: string;
  /** Mean return of an episode, undiscounted, with its 95 % interval. */
  return: Estimate;
  /** Mean steps of an episode. */
  length: Estimate;
}

/**
 * Trains a policy by PPO. What does not fit is refused before the folder is made.
 * @throws WorkbenchError `config` for settings or an environment that do not fit, `failure` for an environment that breaks its
 *   promises, after saving; `stopped` after saving on request
 */
export async function trainPolicy(options: TrainPolicyOptions): Promise<TrainedPolicyRun> {
  const { makeEnv, env, envOptions, settings: given = {}, policy, resume = false, ...others } = options;
  if ((makeEnv === undefined) === (env === undefined)) {
    throw new WorkbenchError('usage', `expected makeEnv or env, got ${makeEnv ? 'both' : 'neither'}, at trainPolicy`);
  }
  const source = makeEnv ? ownSource(makeEnv) : undefined;
  const settings = policyTrainingSettings({ id: source?.id ?? env!, options: envOptions }, given);
  const make = typeof policy === 'object' ? () => policy : policy;
  const task = episodesTask({ source, policy: make });
  const best = await trainTask(task, {
    ...others,
    settings,
    ...(resume !== false && { resume: resume === true ? 'last' : resume }),
  });
  const { return: found, length } = best!.record.metrics;
  return { folder: options.folder, return: found!, length: length! };
}

/** @throws WorkbenchError `config` for names that are none, with the nearest, and for values out of range */
function policyTrainingSettings(
  env: { id: string; options: Record<string, unknown> | undefined },
  given: PolicyTrainingSettings,
): TrainSettings {
  const places: Record<string, string> = {
    ...Object.fromEntries(Object.keys(ppoSettings.shape).map((key) => [key, `ppo.${key}`])),
    ...Object.fromEntries(Object.keys(policySettings.shape).map((key) => [key, `policy.${key}`])),
    ...{ seed: 'seed', name: 'name', tensorboard: 'log.tensorboard' },
  };
  const overrides = Object.entries(given).flatMap(([key, value]) => {
    if (value === undefined) return [];
    if (Object.hasOwn(places, key)) return [`${places[key]}=${JSON.stringify(value)}`];
    const near = nearestName(key, Object.keys(places));
    throw new WorkbenchError('config', `expected settings of a policy, got ${key}, at trainPolicy`, {
      hint: `${near === undefined ? '' : `Did you mean ${near}? `}Names and defaults: docs/training-your-own.md.`,
    });
  });
  const own = [`env.id=${env.id}`, ...(env.options ? [`env.options=${JSON.stringify(env.options)}`] : [])];
  return loadConfig(trainSettings, { file: resolvePreset('policy'), overrides: [...own, ...overrides] });
}

/** Which episodes are played, and how. */
export interface EvaluatePolicyOptions {
  /** Default 100. */
  episodes?: number;
  /** Seed of the episodes. Default 0; disjoint from those of training and selection. */
  seed?: number;
  /** Take the most likely action instead of sampling. Default true. */
  deterministic?: boolean;
  /** Checkpoint of a run: `best` (default), `last`, a name or a step. */
  checkpoint?: string;
  /** For a run with custom networks: their factory. */
  policy?: MakePolicy | undefined;
  signal?: AbortSignal;
}

/** Returns of the episodes. */
export interface PolicyEvaluation {
  /** Mean return of an episode, undiscounted, with its 95 % interval over episodes. */
  return: Estimate;
  /** Mean steps of an episode. */
  length: Estimate;
  /** In order of their seeds. */
  episodes: PlayedEpisode[];
}

/**
 * Plays episodes with a policy. Equal seeds give equal episodes.
 * @param trained folder of a run, or networks
 * @param env where; a run's may be left out where it is registered
 * @throws WorkbenchError `config` for an environment that does not fit, `data` for weights of other networks
 */
export async function evaluatePolicy(
  trained: string | TrainedPolicy,
  env?: EnvGiven,
  { episodes = 100, seed = 0, deterministic = true, checkpoint = 'best', policy, signal }: EvaluatePolicyOptions = {},
): Promise<PolicyEvaluation> {
  const run = typeof trained === 'string' ? openRun(trained) : undefined;
  const settings = run && settingsOfRun(run);
  const source = sourceOf(env, settings);
  const shape = shapeOf(source);
  const opened = run
    ? restoredPolicy(shape, policyOf(settings!), readRunCheckpoint(run.folder, checkpoint), policy)
    : (trained as TrainedPolicy);
  try {
    const choose = policyChooser<unknown>(opened.actor, { deterministic, normalizer: opened.normalizer });
    const seeds = episodeSeeds('test', episodes, seed);
    const played = await playEpisodes(() => source.make(), choose, { seeds, signal });
    const columns = [played.map((one) => one.return), played.map(({ length }) => length)];
    const [found, length] = bootstrapMeans(columns, [...played.keys()]);
    return { return: found!, length: length!, episodes: played };
  } finally {
    if (run) opened.actor.dispose();
  }
}

function sourceOf(env: EnvGiven | undefined, settings: TrainSettings | undefined): EnvSource {
  if (typeof env === 'function') return ownSource(env);
  if (env !== undefined)
    return registeredSource({ id: env, ...(env === settings?.env.id && { options: settings.env.options }) });
  if (settings) return registeredSource(settings.env);
  throw new WorkbenchError('usage', 'expected an environment with networks, got none, at evaluatePolicy');
}
