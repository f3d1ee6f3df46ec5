/** The step that a run diverged at: kept with the state before it, so that `kgwalk train --replay-batch` can make it again. */
import { join } from 'node:path';
import { z } from 'zod';
import { writeCheckpoint, type Checkpoint, type JsonObject } from '../checkpoints/checkpoint.js';
import { canonicalJson } from '../src/run/config.js';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Phase } from '../src/run/records.js';
import { Diverged, type DivergedStep } from '../src/tensor/diverged.js';
import type { Session } from './session.js';

/** A figure of a step as JSON keeps it exactly, `NaN` and infinities included. */
const figure = z.string();

/** What was known of the step, under `diverged` in the header's `trainer`. */
const recorded = z.object({
  place: z.record(z.string(), z.int().min(1)),
  first: z.object({ tensor: z.string(), index: z.int().min(0), value: figure }),
  loss: figure.optional(),
  gradNorm: figure.optional(),
  samples: z.array(z.object({ id: z.string(), loss: figure })).optional(),
});

/** A step that diverged, as JSON keeps it. */
export type RecordedStep = z.output<typeof recorded>;

/** Settings that keep a phase's numbers small. */
const remedies: Partial<Record<Phase, string>> = {
  transe: 'Lower transe.learningRate or transe.margin',
  clone: 'Lower clone.learningRate or clone.maxGradNorm',
  fit: 'Lower learningRate or maxGradNorm of reader.fit or exactWalker.messages',
  ppo: 'Lower ppo.learningRate or ppo.maxGradNorm',
};

/** The step in words and figures that JSON keeps. */
export function recordOf({ place, first, loss, gradNorm, samples }: DivergedStep): RecordedStep {
  return {
    place,
    first: { ...first, value: String(first.value) },
    ...(loss !== undefined && { loss: String(loss) }),
    ...(gradNorm !== undefined && { gradNorm: String(gradNorm) }),
    ...(samples && { samples: samples.map(({ id, loss: own }) => ({ id, loss: String(own) })) }),
  };
}

/** What a saved step says of itself; undefined for another checkpoint. @throws WorkbenchError `data` for nonsense */
export function recordedStep({ header }: Checkpoint, file: string): RecordedStep | undefined {
  return header.trainer.diverged === undefined ? undefined : checkedStep(header.trainer.diverged, file);
}

/** @throws WorkbenchError `data` for anything but the record of a step */
export function checkedStep(value: unknown, file: string): RecordedStep {
  const result = recorded.safeParse(value);
  if (result.success) return result.data;
  const got = z.prettifyError(result.error).replaceAll('\n', ' ');
  throw new WorkbenchError('data', `expected the record of a step that diverged, got ${got}, at ${file}`);
}

/** Whether two records tell the same figures, bit by bit. */
export function sameStep(a: RecordedStep, b: RecordedStep): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** What steps are counted by, from the whole to the part; files keep keys in the order of letters. */
const counters = ['update', 'step', 'epoch', 'minibatch', 'triple'];

/** `update 3, epoch 1, minibatch 2` */
export function placeInWords(place: Record<string, number>): string {
  return counters.flatMap((what) => (what in place ? [`${what} ${place[what]}`] : [])).join(', ');
}

/**
 * What a phase throws instead of an error of its training: a step that diverged is saved first. A step that is replayed, and
 * any other error, is returned as it is.
 * @param before the state before the step
 */
export async function endOfStep(
  { run, settings, replayed }: Pick<Session, 'run' | 'settings' | 'replayed'>,
  phase: Phase,
  error: unknown,
  before: () => Checkpoint | Promise<Checkpoint>,
): Promise<unknown> {
  if (replayed || !(error instanceof Diverged) || Object.keys(error.step.place).length === 0) return error;
  const { place } = error.step;
  const numbers = counters.flatMap((what) => (what in place ? [String(place[what]).padStart(6, '0')] : []));
  const file = join(run.files.replay, `${phase}-${numbers.join('-')}.safetensors`);
  const { header, tensors } = await before();
  const diverged = recordOf(error.step) as unknown as JsonObject;
  writeCheckpoint(file, { header: { ...header, trainer: { ...header.trainer, diverged } }, tensors });
  const zero = phase === 'ppo' && settings.ppo.adamEpsilon === 0;
  return stepError(error.step, {
    what: `${phase} ${placeInWords(place)}`,
    file,
    hint: `${zero ? 'Raise ppo.adamEpsilon above 0' : remedies[phase]}. Look at the step: ${commandLine('train', '--replay-batch', shownPath(file))}`,
  });
}

/** What a training ends with at a step that diverged and was saved. */
export function stepError(
  { first }: DivergedStep,
  { what, file, hint }: { what: string; file: string; hint: string },
): WorkbenchError {
  const got = `expected finite ${first.tensor}, got ${first.value} at index ${first.index}`;
  return new WorkbenchError('failure', `${got}, at ${what}; its batch is saved at ${file}`, { hint });
}
