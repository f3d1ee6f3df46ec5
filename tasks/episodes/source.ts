/** Copies of an environment: from the registry, by the settings, or from a program's function. */
import type { MakePolicy } from '../../agents/policy/policy.js';
import { type PolicyShape, policyShapeOf, type VectorObservationEnv } from '../../agents/policy/spaces.js';
import type { Env } from '../../envs/env.js';
import { envIds, envMaker } from '../../envs/registry.js';
import { configHash } from '../../src/run/config-values.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { TrainSettings } from '../../trainers/train-settings.js';

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

type EnvSettings = Pick<TrainSettings['env'], 'id' | 'options'>;

/** Copies of a registered environment. @throws WorkbenchError `usage` for one that is not registered here */
export function registeredSource({ id, options }: EnvSettings): EnvSource {
  if (!envIds().includes(id)) {
    throw new WorkbenchError('usage', `expected a known environment, got ${JSON.stringify(id)}, at env.id`, {
      hint: 'A custom environment is registered by a plugin: --plugin FILE; a program passes it to evaluatePolicy.',
    });
  }
  let make: (() => Env<unknown>) | undefined;
  return {
    id,
    make() {
      try {
        make ??= envMaker(id, options);
        return make() as VectorObservationEnv;
      } catch (error) {
        if (error instanceof WorkbenchError) throw error;
        const got = `"${(error as Error).message}"`;
        throw new WorkbenchError('config', `expected an environment, got ${got} when it was made, at env.id=${id}`, {
          hint: 'It is made with env.options.',
          cause: error,
        });
      }
    },
  };
}

/** A program's own, by what makes a copy. */
export function ownSource(make: () => VectorObservationEnv): EnvSource {
  const env = make();
  const { id } = env.spec ?? {};
  env.close();
  if (typeof id === 'string') return { id, make };
  throw new WorkbenchError('config', `expected an environment with a spec.id like mine/Walk-v1, got ${String(id)}`);
}

/** Shapes that the networks must fit. @throws WorkbenchError `config` for an environment that policies over vectors do not fit */
export function shapeOf({ make }: EnvSource): PolicyShape {
  const env = make();
  try {
    return policyShapeOf(env);
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
    shapeOf(registeredSource(env));
    return true;
  } catch {
    return false;
  }
}
