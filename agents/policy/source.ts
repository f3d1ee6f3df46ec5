/** Copies of an environment: from the registry, by the settings, or from a program's function. */
import type { MakePolicy } from './policy.js';
import { maskOf, type PolicyShape, policyShapeOf, type VectorObservationEnv } from './spaces.js';
import { WatchedEnv } from './watched-env.js';
import { envMembers } from '../../envs/check-env.js';
import type { Env } from '../../envs/env.js';
import { envMaker, registeredEnv } from '../../envs/registry.js';
import { configHash } from '../../src/run/config-values.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { checkGiven } from '../../src/run/read-json.js';
import type { TrainSettings } from '../train-settings.js';

/** An environment that policies over vectors fit. */
export interface EnvSource {
  id: string;
  /** A new copy; the caller closes it. */
  make(): VectorObservationEnv;
}

/** Environments and networks of a program, instead of those of the settings. */
export interface OwnParts {
  source?: EnvSource | undefined;
  /** Custom networks. */
  policy?: MakePolicy | undefined;
}

/** Part of the settings that makes an environment. */
export type EnvSettings = Pick<TrainSettings['env'], 'id' | 'options'>;

/** Copies of a registered environment. @throws WorkbenchError `usage` for one that is not registered here */
export function registeredSource({ id, options }: EnvSettings): EnvSource {
  registeredEnv(id, 'env.id');
  let make: (() => Env<unknown>) | undefined;
  return { id, make: () => made(() => (make ??= envMaker(id, options))(), `env.id=${id}, with its env.options`) };
}

/** A program's own, by what makes a copy. @throws WorkbenchError `config` for what is no environment */
export function ownSource(make: () => VectorObservationEnv, place: string): EnvSource {
  const env = made(make, place);
  env.close();
  return { id: env.spec.id, make: () => made(make, place) };
}

/** A new copy, with all that an environment has. */
function made(make: () => unknown, place: string): VectorObservationEnv {
  let env: unknown;
  try {
    env = make();
  } catch (error) {
    if (error instanceof WorkbenchError) throw error;
    const got = `"${(error as Error).message}" when it was made`;
    throw new WorkbenchError('config', `expected an environment, got ${got}, at ${place}`, { cause: error });
  }
  checkGiven(env, envMembers, 'an environment', place);
  return env as VectorObservationEnv;
}

/**
 * Shapes that the networks must fit, from a copy that is reset and takes one step.
 * @throws WorkbenchError `config` for an environment that policies over vectors do not fit, `failure` for one that breaks its promises
 */
export function shapeOf({ make }: EnvSource): PolicyShape {
  const env = make();
  try {
    const shape = policyShapeOf(env);
    const watched = new WatchedEnv(env, shape);
    watched.begin(0);
    watched.step(Math.max(0, maskOf(watched.observation)?.indexOf(1) ?? 0));
    return shape;
  } finally {
    env.close();
  }
}

/** Hash in place of a data set's: weights belong to it. */
export function sourceHash({ id, options }: EnvSettings, shape: PolicyShape): string {
  return configHash({ id, options: options ?? {}, shape });
}

/** True if a registered environment can be made by these settings and its observations are vectors. */
export function showsVectors(env: EnvSettings): boolean {
  try {
    policyShapeOf(registeredSource(env).make());
    return true;
  } catch {
    return false;
  }
}
