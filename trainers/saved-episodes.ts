/** Checkpoint state of continuing environments: the running episodes and their actions. */
import { z } from 'zod';
import { type Checkpoint, optimizerPrefix } from '../checkpoints/checkpoint.js';
import type { Tensor } from '../checkpoints/safetensors.js';
import { WorkbenchError } from '../src/run/errors.js';

const saved = z.object({
  /** Per copy: number of its episode, and its steps so far. */
  numbers: z.array(z.int().min(0)),
  steps: z.array(z.int().min(0)),
  /** Return and length of the latest episodes. */
  recent: z.array(z.tuple([z.number(), z.int()])),
  /** Per copy: discounted return so far. */
  running: z.array(z.number()),
});
/** JSON part of the state. */
export type EpisodesState = z.output<typeof saved>;

const names = {
  // Needed only for training, like optimizer state.
  actions: `${optimizerPrefix}episodes/actions`,
  shown: `${optimizerPrefix}episodes/shown`,
};

/** All actions of running episodes, concatenated by copy, int32. */
export function actionsTensor(actions: readonly (readonly number[])[]): Record<string, Tensor> {
  const data = Int32Array.from(actions.flat());
  return { [names.actions]: { shape: [data.length], data } };
}

/** Last observation of each copy, float32 [copies, inputs]. */
export function shownTensor(shown: readonly Float32Array[], inputs: number): Record<string, Tensor> {
  const data = new Float32Array(shown.length * inputs);
  shown.forEach((vector, i) => data.set(vector, i * inputs));
  return { [names.shown]: { shape: [shown.length, inputs], data } };
}

/** Saved episodes, checked; undefined for a checkpoint without episodes, such as the initial one of a fork. */
export function episodesState(
  { trainer }: Checkpoint['header'],
  tensors: Checkpoint['tensors'],
  copies: number,
): (EpisodesState & { actions: Int32Array[]; shown: Float32Array[] }) | undefined {
  if (trainer.episodes === undefined) return undefined;
  const read = saved.safeParse(trainer.episodes);
  const [actions, shown] = [tensors[names.actions]?.data, tensors[names.shown]?.data];
  const lists = read.data ? [read.data.numbers, read.data.steps, read.data.running] : [];
  const fits = read.success && lists.every(({ length }) => length === copies);
  const total = read.data?.steps.reduce((sum, steps) => sum + steps, 0);
  if (!fits || !(actions instanceof Int32Array) || !(shown instanceof Float32Array) || actions.length !== total) {
    throw new WorkbenchError('data', `expected running episodes of ${copies} copies in the checkpoint, got others`);
  }
  let end = 0;
  const inputs = shown.length / copies;
  return {
    ...read.data,
    actions: read.data.steps.map((steps) => actions.subarray(end, (end += steps))),
    shown: read.data.steps.map((_, copy) => shown.subarray(copy * inputs, (copy + 1) * inputs)),
  };
}
