/** `trainPolicy` and `evaluatePolicy`: PPO in an environment of the user's own, from a program. */
import { z } from 'zod';
import {
  type LoadedPolicy,
  loadedPolicy,
  loadPolicies,
  madeBy,
  policyGiven,
  policyMembers,
} from '../../agents/policy/agent.js';
import { type PlayedEpisode, playEpisodes, policyChooser } from '../../agents/policy/play.js';
import type { MakePolicy, PolicyNetworks, TrainedPolicy } from '../../agents/policy/policy.js';
import { policySettings, type PolicyShape, type VectorObservationEnv } from '../../agents/policy/spaces.js';
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';
import { loadConfig } from '../../src/run/config.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Estimate } from '../../src/run/figures.js';
import { resolvePreset } from '../../src/run/locations.js';
import { describeValue } from '../../src/run/printable.js';
import { anyFunction, checkGiven } from '../../src/run/read-json.js';
import { openRun } from '../../src/run/run-folder.js';
import { ppoSettings } from '../../trainers/ppo-settings.js';
import { settingsOfRun, trainSettings, type TrainSettings } from '../../agents/train-settings.js';
import type { TrainOptions } from '../../trainers/train.js';
import { ownerOf } from '../index.js';
import { train } from '../train.js';
import { episodesTask } from './index.js';
import { episodeSeeds } from '../../agents/policy/play.js';
import { type EnvSource, ownSource, registeredSource, shapeOf } from '../../agents/policy/source.js';

/** Makes separate copies of an environment; or the id of a registered one. */
type EnvGiven = (() => VectorObservationEnv) | string;

/** Environment, settings and folder of a training. */
export interface TrainPolicyOptions extends Omit<TrainOptions, 'settings' | 'resume' | 'evaluateBest' | 'fork'> {
  /** Makes a new copy of the environment; or `env` names a registered one. */
  makeEnv?: () => VectorObservationEnv;
  env?: string;
  /** Options of the environment that `env` names. */
  envOptions?: Record<string, unknown>;
  /** By the names of the sections `policy` and `ppo`, without the section; `seed`, `name`, `tensorboard` and `backend` too. */
  settings?: PolicyTrainingSettings;
  /** Custom networks, instead of dense layers by `settings.hidden`. */
  policy?: MakePolicy | PolicyNetworks;
  /** Resume the run in the folder from its last checkpoint, from `best` or a numbered one; without a run, train from scratch. */
  resume?: boolean | string;
}

type Input<Shape> = { [Key in keyof Shape]?: Shape[Key] extends { _zod: { input: infer Value } } ? Value : never };

/** Settings of `trainPolicy`; what is missing has the value of the preset `policy`. */
export type PolicyTrainingSettings = Input<typeof policySettings.shape> &
  Input<typeof ppoSettings.shape> & {
    seed?: number;
    name?: string;
    tensorboard?: boolean;
    backend?: TrainSettings['backend'];
  };

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
  checkGiven(options, trainingOptions, 'options of trainPolicy', 'trainPolicy');
  const { makeEnv, env, envOptions, settings: given = {}, policy, resume = false, ...others } = options;
  if ((makeEnv === undefined) === (env === undefined)) {
    throw new WorkbenchError('usage', `expected makeEnv or env, got ${makeEnv ? 'both' : 'neither'}, at trainPolicy`);
  }
  const source = makeEnv ? ownSource(makeEnv, 'makeEnv of trainPolicy') : undefined;
  if (env !== undefined) registeredSource({ id: env, options: envOptions });
  if (ownerOf(env ?? '') !== undefined) {
    throw new WorkbenchError('usage', `expected an environment of vectors, got ${env}, which walks ${ownerOf(env!)}`, {
      hint: 'Its walkers are trained by train of kgwalk/tasks.',
    });
  }
  const settings = policyTrainingSettings({ id: source?.id ?? env!, options: envOptions }, given);
  const task = episodesTask({ source, policy: madeBy(policy) });
  const resumed = resume === true ? 'last' : resume;
  const best = await train({ ...others, settings, ...(resumed !== false && { resume: resumed }) }, task);
  const { return: found, length } = best!.record.metrics;
  return { folder: options.folder, return: found!, length: length! };
}

const callback = anyFunction.optional();
const signalGiven = z
  .custom((value) => typeof (value as AbortSignal | null)?.aborted === 'boolean', 'expected an AbortSignal')
  .optional();

const trainingOptions = z.strictObject({
  makeEnv: callback,
  env: z.string().optional(),
  envOptions: z.record(z.string(), z.unknown()).optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  folder: z.string().min(1),
  policy: policyGiven,
  resume: z.union([z.boolean(), z.string()]).optional(),
  threads: z.int().min(1).optional(),
  signal: signalGiven,
  trial: z.unknown().optional(),
  ...{ progress: callback, onTruncatedLog: callback, onNote: callback, onBackend: callback },
  ...{ onUpdate: callback, onMetrics: callback },
});

/** Names of `PolicyTrainingSettings`, each with its place in settings files. */
const places: Record<string, string> = {
  ...Object.fromEntries(Object.keys(ppoSettings.shape).map((key) => [key, `ppo.${key}`])),
  ...Object.fromEntries(Object.keys(policySettings.shape).map((key) => [key, `policy.${key}`])),
  ...{ seed: 'seed', name: 'name', tensorboard: 'log.tensorboard', backend: 'backend' },
};
const namesAlone = z.strictObject(
  Object.fromEntries(Object.keys(places).map((name) => [name, z.unknown().optional()])),
);

/** @throws WorkbenchError `config` for names that are none, with the nearest, and for values out of range */
function policyTrainingSettings(
  env: { id: string; options: Record<string, unknown> | undefined },
  given: PolicyTrainingSettings,
): TrainSettings {
  checkGiven(given, namesAlone, 'settings of a policy', 'trainPolicy');
  const overrides = Object.entries(given).flatMap(([key, value]) =>
    value === undefined ? [] : [`${places[key]}=${JSON.stringify(value)}`],
  );
  const own = [`env.id=${env.id}`, ...(env.options ? [`env.options=${JSON.stringify(env.options)}`] : [])];
  const file = resolvePreset('policy');
  return loadConfig(trainSettings, { file, overrides: [...own, ...overrides], place: 'settings of trainPolicy:' });
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
  /** For a run with custom networks: these. */
  policy?: MakePolicy | PolicyNetworks | undefined;
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

const evaluationOptions = z.strictObject({
  episodes: z.int().min(1).optional(),
  seed: z.int().optional(),
  deterministic: z.boolean().optional(),
  checkpoint: z.string().optional(),
  policy: policyGiven,
  signal: signalGiven,
});

/**
 * Plays episodes with a policy. Equal seeds give equal episodes.
 * @param trained folder of a run, what `trainPolicy` or `loadPolicy` returned, or networks
 * @param env where; a run's may be left out where it is registered
 * @throws WorkbenchError `config` for an environment that does not fit, `data` for weights of other networks
 */
export async function evaluatePolicy(
  trained: string | TrainedPolicyRun | LoadedPolicy | TrainedPolicy,
  env?: EnvGiven,
  options: EvaluatePolicyOptions = {},
): Promise<PolicyEvaluation> {
  checkGiven(options, evaluationOptions, 'options of evaluatePolicy', 'evaluatePolicy');
  const { episodes = 100, seed = 0, deterministic, checkpoint = 'best', policy, signal } = options;
  const name = typeof trained === 'object' && 'folder' in trained ? trained.folder : trained;
  const run = typeof name === 'string' ? openRun(name) : undefined;
  if (!run && !('choose' in Object(trained))) {
    checkGiven(trained, policyMembers, 'a run, a loaded policy or networks', 'evaluatePolicy');
  }
  const source = sourceOf(env, run && settingsOfRun(run));
  const shape = shapeOf(source);
  const opened = run
    ? await loadPolicies([{ folder: run.folder, checkpoint }], { shape, hashes: {}, make: madeBy(policy) })
    : fitting(trained as LoadedPolicy | TrainedPolicy, shape);
  try {
    const seeds = episodeSeeds('test', episodes, seed);
    const played = await playEpisodes(() => source.make(), opened.choose, { seeds, deterministic, signal });
    const columns = [played.map((one) => one.return), played.map(({ length }) => length)];
    const [found, length] = bootstrapMeans(columns, [...played.keys()]);
    return { return: found!, length: length!, episodes: played };
  } finally {
    if (run) opened.close();
  }
}

/** @throws WorkbenchError `config` for a policy of another shape */
function fitting(trained: LoadedPolicy | TrainedPolicy, shape: PolicyShape): LoadedPolicy {
  if (!('choose' in trained))
    return loadedPolicy(shape, policyChooser<unknown>(trained.actor, trained.normalizer), () => undefined);
  const [own, asked] = [trained.shape, shape].map((one) => JSON.stringify(Object.entries(one).sort()));
  if (own === asked) return trained;
  const message = `expected an environment of ${own}, as the policy was trained in, got ${asked}, at evaluatePolicy`;
  throw new WorkbenchError('config', message);
}

function sourceOf(env: EnvGiven | undefined, settings: TrainSettings | undefined): EnvSource {
  if (typeof env === 'function') return ownSource(env, 'evaluatePolicy');
  if (env !== undefined && typeof env !== 'string') {
    const got = describeValue(env);
    throw new WorkbenchError('usage', `expected a function that makes the environment, or an id, got ${got}`);
  }
  if (env !== undefined)
    return registeredSource({ id: env, ...(env === settings?.env.id && { options: settings.env.options }) });
  if (settings) return registeredSource(settings.env);
  throw new WorkbenchError(
    'usage',
    'expected an environment with a policy that is no run, got none, at evaluatePolicy',
  );
}
