/** The interface of every environment: Gymnasium's, with its words. */
import { WorkbenchError } from '../src/run/errors.js';
import type { Space } from './spaces.js';

/** Description of an environment; serialisable. */
export interface EnvSpec {
  /** `namespace/Name-v1`; the version rises when results are no longer comparable. */
  id: string;
  maxSteps: number;
}

/** Options of `reset`. */
export interface ResetOptions {
  /** Re-seeds the environment's generator; without it the stream continues. */
  seed?: number;
  /** Options specific to the environment, such as `{ sample: 12 }`. */
  options?: Record<string, unknown>;
}

/** Result of `reset`. */
export type ResetResult<Observation> = { observation: Observation; info: Record<string, unknown> };

/** Result of `step`. */
export interface StepResult<Observation> extends ResetResult<Observation> {
  reward: number;
  /** The task ended: nothing comes after, no bootstrap. */
  terminated: boolean;
  /** The episode was cut from outside: the value of `observation` is still to come. */
  truncated: boolean;
}

/**
 * One environment. An observation with an `actionMask` (uint8, 1 = legal) says which actions are legal now; indices
 * beyond its end are not. Episodes are equal for equal seeds and actions; `checkEnv` checks all of this, refusals where asked.
 */
export interface Env<Observation, Action = number> {
  readonly spec: EnvSpec;
  readonly actionSpace: Space<Action>;
  readonly observationSpace: Space<Observation>;
  reset(options?: ResetOptions): ResetResult<Observation>;
  /** @throws ResetNeeded before the first reset and after an episode's end; InvalidAction, leaving the state as it was */
  step(action: Action): StepResult<Observation>;
  /** The present state as plain text. */
  render(): string;
  close(): void;
}

/** The sample that a reset asks for, or one drawn. @throws WorkbenchError `usage` for an index that there is not */
export function chosenSample(asked: unknown, count: number, draw: () => number): number {
  if (asked === undefined) return draw();
  if (Number.isInteger(asked) && (asked as number) >= 0 && (asked as number) < count) return asked as number;
  throw new WorkbenchError('usage', `expected a sample in [0, ${count}), got ${String(asked)}, at reset`);
}

/** `step` was called where no episode is running. */
export class ResetNeeded extends WorkbenchError {
  constructor(id: string) {
    super('usage', `expected a running episode, got none, at step of ${id}`, { hint: 'Call reset first.' });
    this.name = 'ResetNeeded';
  }
}

/** The action is not legal in the present state. */
export class InvalidAction extends WorkbenchError {
  constructor(id: string, action: unknown, expected: string) {
    super('usage', `expected ${expected}, got action ${String(action)}, at step of ${id}`, {
      hint: "Choose among the ones of the observation's actionMask.",
    });
    this.name = 'InvalidAction';
  }
}
