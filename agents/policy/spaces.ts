/**
 * Policies over vectors: their settings, and the environments that they fit, with vectors of one length, optionally with a mask, and
 * discrete actions.
 */
import { z } from 'zod';
import type { Env } from '../../envs/env.js';
import type { MaskedVector, Space, SpaceForm } from '../../envs/spaces.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { flag, whole } from '../registry.js';

/** The `policy` section of a configuration file. */
export const policySettings = z.strictObject({
  hidden: z
    .array(z.int().min(1).max(4096))
    .max(8)
    .default([64, 64])
    .describe('Units of the hidden layers, of actor and critic alike, with tanh between them.'),
  totalSteps: whole(1, 1e12, 100_000).describe(
    'Steps of training in all copies together, rounded up to whole rounds of policy.numSteps × policy.numEnvs.',
  ),
  numEnvs: whole(1, 4096, 8).describe('Copies of the environment that are walked at once.'),
  numSteps: whole(1, 1_000_000, 256).describe('Steps that each copy takes in a round.'),
  minibatchSize: whole(1, 1_000_000, 64).describe('Steps in a minibatch; the last one may be smaller.'),
  normalizeObservation: flag(false).describe(
    'Whether observations are centred and scaled by what was seen so far, cut off at ±10; kept with the weights.',
  ),
  normalizeReward: flag(false).describe(
    'Whether rewards are divided in training by the standard deviation of the discounted return so far, cut off at ±10. Metrics use unscaled rewards.',
  ),
  evalEpisodes: whole(1, 100_000, 20).describe(
    'Episodes of each evaluation while training: always the same ones, with the most likely actions.',
  ),
});

/** Every setting with its value. */
export type PolicySettings = z.output<typeof policySettings>;

/** Observation: a vector, optionally with a mask of legal actions. */
export type VectorObservation = Float32Array | { observation: Float32Array; actionMask?: Uint8Array };

/** Any environment that a policy may be trained in. */
export type VectorObservationEnv = Env<VectorObservation> | Env<Float32Array> | Env<MaskedVector>;

/** Network shape for an environment. */
export interface PolicyShape {
  inputs: number;
  /** Numbered `firstAction …`. */
  numActions: number;
  firstAction: number;
  /** True where observations have an action mask. */
  masked: boolean;
}

/** @throws WorkbenchError `config` that names everything that does not fit */
export function policyShapeOf({
  spec,
  observationSpace,
  actionSpace,
}: Pick<VectorObservationEnv, 'spec' | 'observationSpace' | 'actionSpace'>): PolicyShape {
  const problems: string[] = [];
  const [shown, actions] = [formOf(observationSpace), formOf(actionSpace)];
  const fields = shown?.kind === 'dict' ? shown.fields : { observation: shown };
  const { observation, actionMask, ...others } = fields as Record<string, SpaceForm | undefined>;
  if (observation?.kind !== 'vector' || observation.length < 1) {
    problems.push(
      shown?.kind === 'dict'
        ? `expected a field observation, vectors of one length, got ${saidOf(observation)} among ${Object.keys(shown.fields).join(', ')}`
        : `expected an observationSpace of vectors of one length (box or vector, alone or by masked), got ${saidOf(shown)}`,
    );
  }
  if (actions?.kind !== 'discrete')
    problems.push(`expected an actionSpace of discrete actions, got ${saidOf(actions)}`);
  else if (actionMask !== undefined && (actionMask.kind !== 'list' || actionMask.maxLength !== actions.n)) {
    problems.push(`expected an actionMask of ${actions.n}, one for each action, got ${saidOf(actionMask)}`);
  }
  const unread = Object.keys(others);
  if (unread.length > 0) problems.push(`expected observation and actionMask alone, got ${unread.join(', ')} too`);
  if (problems.length === 0 && observation?.kind === 'vector' && actions?.kind === 'discrete') {
    const { n: numActions, first: firstAction } = actions;
    return { inputs: observation.length, numActions, firstAction, masked: actionMask !== undefined };
  }
  throw new WorkbenchError('config', `${problems.join('; ')}, at ${spec?.id ?? 'an environment'}`, {
    hint: 'What a policy can be trained in: docs/tutorials/your-environment.md.',
  });
}

const formOf = (space: unknown): SpaceForm | undefined => (space as Space<unknown> | undefined)?.form;

function saidOf(form: SpaceForm | undefined): string {
  if (!form) return 'none of a known form';
  if (form.kind === 'dict') return `fields ${Object.keys(form.fields).join(', ')}`;
  return form.kind === 'list' ? `lists of up to ${form.maxLength}` : form.kind;
}

/** The vector of an observation. */
export const vectorOf = (observation: VectorObservation): Float32Array =>
  observation instanceof Float32Array ? observation : observation.observation;

/** The vectors of observations of one kind. */
export const vectorsOf = (observations: readonly VectorObservation[]): readonly Float32Array[] =>
  observations[0] instanceof Float32Array ? (observations as readonly Float32Array[]) : observations.map(vectorOf);

/** Its mask, where it has one. */
export const maskOf = (observation: VectorObservation): Uint8Array | undefined =>
  observation instanceof Float32Array ? undefined : observation.actionMask;
