/** Switches of the reader. */
import { z } from 'zod';
import { answersSwitch } from '../frontier-steps.js';
import { hopsSwitch } from '../hops/hops.js';

/** The switches of `reader`, with their defaults. */
export const readerSettings = z.strictObject({
  walker: z
    .string()
    .default('')
    .describe('Name or folder of the run of a trained relation walker, a checkpoint behind an @; must be given.'),
  beams: z.int().min(1).max(50).default(3).describe('Walks that the walker follows at once and hands on.'),
  hops: hopsSwitch,
  mass: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe('Of these, as many as have this much probability together, one at least; 1 leaves them all.'),
  maxPaths: z.int().min(1).max(1000).default(60).describe('Facts of each walk that the answer is read from.'),
  answers: answersSwitch,
});

export type ReaderSettings = z.output<typeof readerSettings>;
