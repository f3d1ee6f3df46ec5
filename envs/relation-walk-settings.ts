/** Settings of the walk over relations: the `relationWalk` section of a configuration file. */
import { z } from 'zod';

/** The `relationWalk` section of a configuration file. */
export const relationWalkSettings = z.strictObject({
  horizon: z.int().min(1).max(8).default(3).describe('Relations a walk may take.'),
  hops: z
    .enum(['learned', 'given'])
    .default('learned')
    .describe(
      'Who ends a walk: the walker, by STOP, or the number of hops that the data set tells (MetaQA); questions of unknown length are always ended by the walker.',
    ),
  reward: z
    .enum(['f1', 'exact', 'hit'])
    .default('f1')
    .describe(
      'What the last frontier earns: F1 against the answers, 1 for the exact set, or 1 where its first entity is right (which teaches supersets: worse on long questions).',
    ),
  memoryMegabytes: z
    .int()
    .min(0)
    .max(65536)
    .default(256)
    .describe('Frontiers remembered, in MiB; topics not asked for longest are forgotten. Changes speed alone.'),
});

/** Every setting with its value. */
export type RelationWalkSettings = z.output<typeof relationWalkSettings>;
