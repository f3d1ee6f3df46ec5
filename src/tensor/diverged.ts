/** A training step whose numbers are not finite, found before it changes a weight. */
import { WorkbenchError } from '../run/errors.js';

export interface NotFinite {
  /** What holds it, such as `logits` or `gradient of trunk.1`. */
  tensor: string;
  /** Its place, row-major. */
  index: number;
  value: number;
}

/** What is known of the step; trainers add to it on the error's way up. Figures may be NaN or infinite. */
export interface DivergedStep {
  first: NotFinite;
  loss?: number;
  /** Global norm of the gradient before clipping. */
  gradNorm?: number;
  /** Which step it is: its numbers by what they count, from 1, such as `update`, `epoch` and `minibatch`. Empty outside training. */
  place: Record<string, number>;
  /** Loss of every sample of the batch. */
  samples?: { id: string; loss: number }[];
}

/** Thrown in the place of the step that would have spoilt the weights; names the first number that is not finite. */
export class Diverged extends WorkbenchError {
  readonly step: DivergedStep;

  constructor(step: Omit<DivergedStep, 'place'>) {
    const { tensor, index, value } = step.first;
    super('failure', `expected finite ${tensor}, got ${value}, at index ${index}`, {
      hint: 'Lower the learning rate or the gradient clip.',
    });
    this.name = 'Diverged';
    this.step = { place: {}, ...step };
  }
}

/** The first of `values` that is not finite. */
export function firstNotFinite(tensor: string, values: ArrayLike<number>): NotFinite | undefined {
  for (let index = 0; index < values.length; index++) {
    if (!Number.isFinite(values[index])) return { tensor, index, value: values[index]! };
  }
  return undefined;
}

/** Runs a part of a step; to an error that it diverged, adds what is known out here and was not said inside. */
export function explained<T>(about: () => Partial<DivergedStep>, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Diverged) addTo(error.step, about());
    throw error;
  }
}

/** The same of a part that waits for tensors to be read. */
export async function explainedLater<T>(
  about: () => Partial<DivergedStep> | Promise<Partial<DivergedStep>>,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Diverged) addTo(error.step, await about());
    throw error;
  }
}

function addTo(step: DivergedStep, more: Partial<DivergedStep>): void {
  Object.assign(step, { ...more, ...step, place: { ...more.place, ...step.place } });
}

/** A loss that may not be finite: then NaN or an infinity instead of the error. */
export function lossOrNot(loss: () => number): number {
  try {
    return loss();
  } catch (error) {
    if (error instanceof Diverged) return error.step.loss ?? NaN;
    throw error;
  }
}

/** @returns the loss itself @throws Diverged for one that is not finite */
export function finiteLoss(loss: number): number {
  if (Number.isFinite(loss)) return loss;
  throw new Diverged({ first: { tensor: 'loss', index: 0, value: loss }, loss });
}
