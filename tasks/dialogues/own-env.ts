/** Environments of the user's own that walk dialogues: tried on one sample before anything is trained. */
import type { WalkSample } from '../../datasets/walk-sample.js';
import { dialogueWalkId } from '../../envs/dialogue-walk/dialogue-walk-env.js';
import { walkRulesOf } from '../../envs/dialogue-walk/rules.js';
import { makeVectorEnv } from '../../envs/registry.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import type { RunGraphs } from './training-data.js';

/** Parts of an observation that walkers over dialogues read. */
const readFields = ['task', 'start', 'current', 'hop', 'path', 'actionMask'];

/** @throws WorkbenchError `config` where an environment cannot be made over dialogues, or shows something else */
export function refuseForeignEnv(
  { env, ppo }: Pick<TrainSettings, 'env' | 'ppo'>,
  { walks }: RunGraphs,
  train: readonly WalkSample[],
): void {
  if (env.id === dialogueWalkId || !ppo.enabled) return;
  const wrong = (expected: string, got: string, cause?: unknown) =>
    new WorkbenchError('config', `expected ${expected}, got ${got}, at env.id=${env.id}`, {
      hint: 'Environments with vector observations and discrete actions are trained by trainPolicy: docs/training-your-own.md.',
      cause,
    });
  let shown: unknown;
  try {
    const envs = makeVectorEnv(
      env.id as typeof dialogueWalkId,
      { graph: walks.graph, samples: train, rules: walkRulesOf(env), reward: env.reward, gamma: ppo.gamma },
      1,
    );
    try {
      shown = envs.reset({ options: [{ sample: 0 }] }).observations[0];
    } finally {
      envs.close();
    }
  } catch (error) {
    throw wrong('an environment over dialogues', `"${(error as Error).message}" when it was made`, error);
  }
  const missing = readFields.filter((field) => !Object.hasOwn(Object(shown) as object, field));
  if (missing.length === 0) return;
  throw wrong(`an observation with ${readFields.join(', ')}`, `${nameOf(shown)} without ${missing.join(', ')}`);
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { name } = value.constructor;
  return name === 'Object' ? 'one' : `a ${name}`;
}
