/** Training steps with numbers that are not finite, detected before any weight changes. */
import { WorkbenchError } from '../run/errors.js';

export interface NotFinite {
  /** Name of the tensor, such as `logits` or `gradient of trunk.1`. */
  tensor: string;
  /** Row-major index. */
  index: number;
  value: number;
}

/** Thrown instead of the step that would have spoilt the weights; names the first number that is not finite. */
export class Diverged extends WorkbenchError {
  constructor(readonly first: NotFinite) {
    const { tensor, index, value } = first;
    super('failure', `expected finite ${tensor}, got ${value}, at index ${index}`, {
      hint: 'Lower the learning rate or the gradient clip.',
    });
    this.name = 'Diverged';
  }
}

/** Adds the step (`ppo update 3`) and a sentence of remedy to the error of a step that diverged; returns any other error as it is. */
export function divergedAt(error: unknown, step: string, remedy: string): unknown {
  if (!(error instanceof Diverged)) return error;
  const { tensor, index, value } = error.first;
  return new WorkbenchError('failure', `expected finite ${tensor}, got ${value} at index ${index}, at ${step}`, {
    hint: `${remedy} The checkpoints are intact, but resuming repeats the same step.`,
  });
}

/** First of `values` that is not finite. */
export function firstNotFinite(tensor: string, values: ArrayLike<number>): NotFinite | undefined {
  for (let index = 0; index < values.length; index++) {
    if (!Number.isFinite(values[index])) return { tensor, index, value: values[index]! };
  }
  return undefined;
}

/** @returns the loss itself @throws Diverged for one that is not finite */
export function finiteLoss(loss: number): number {
  if (Number.isFinite(loss)) return loss;
  throw new Diverged({ tensor: 'loss', index: 0, value: loss });
}
