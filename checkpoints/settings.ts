/** Settings of checkpoints: when they are written and which of them stay. */
import { z } from 'zod';

/** The `checkpoint` section of a configuration file. */
export const checkpointSettings = z.strictObject({
  everyUpdates: z
    .int()
    .min(1)
    .default(10)
    .describe(
      'PPO updates between checkpoints; the last update always writes one. Each costs the size of the weights three times over (Adam).',
    ),
  keepLast: z.int().min(1).default(2).describe('How many of the newest checkpoints stay.'),
  keepEvery: z
    .int()
    .min(0)
    .default(0)
    .describe('Checkpoints whose step is a multiple of this many updates stay for good; 0 keeps none for that reason.'),
});

/** Every setting with its value. */
export type CheckpointSettings = z.output<typeof checkpointSettings>;
