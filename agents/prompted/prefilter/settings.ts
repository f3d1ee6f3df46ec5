/** Switches of the pre-filter; every agent that has one spreads them into its own. */
import { z } from 'zod';

/** To be spread into the `z.strictObject` of an agent's settings. */
export const prefilterSettings = {
  prefilter: z
    .string()
    .regex(/^(?:none|bm25|embedding|walker:.+)$/u, 'expected none, bm25, embedding or walker:RUN')
    .default('none')
    .describe(
      'Relation pre-filter, without model calls: none, word overlap (bm25), sentence vectors (embedding), or a trained relation walker (walker:RUN, walker:RUN@clone).',
    ),
  keep: z.int().min(1).max(1000).default(3).describe('Relations that the pre-filter leaves, best first.'),
  mass: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe('Of these, as many as have this much probability together, the best at least; 1 leaves them all.'),
};

/** Values of `prefilterSettings`. */
export interface PrefilterSettings {
  prefilter: string;
  keep: number;
  mass: number;
}
