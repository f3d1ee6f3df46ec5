/** Environments that a policy over vectors fits: vectors of one length, optionally with a mask, and discrete actions. */
import type { Env } from '../../envs/env.js';
import type { MaskedVector, Space, SpaceForm } from '../../envs/spaces.js';
import { WorkbenchError } from '../../src/run/errors.js';

/** Observation: a vector, optionally with a mask of legal actions. */
export type VectorObservation = Float32Array | { observation: Float32Array; actionMask?: Uint8Array };

/** Any environment that a policy may be trained in. */
export type VectorObservationEnv = Env<VectorObservation> | Env<Float32Array> | Env<MaskedVector>;

/** Network shape for an environment. */
export interface PolicyShape {
  /** Numbers of an observation. */
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
    hint: 'What a policy can be trained in: docs/training-your-own.md.',
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

/** Its mask, where it has one. */
export const maskOf = (observation: VectorObservation): Uint8Array | undefined =>
  observation instanceof Float32Array ? undefined : observation.actionMask;
