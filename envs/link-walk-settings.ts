/** Settings of the walk that answers link queries: the `linkWalk` section of a configuration file. */
import { z } from 'zod';

/** The `linkWalk` section of a configuration file. */
export const linkWalkSettings = z.strictObject({
  horizon: z.int().min(1).max(8).default(3).describe('Steps of every walk, stays included.'),
  bothDirections: z
    .boolean()
    .default(true)
    .describe('Whether training asks for heads too, by inverse relations; else for tails alone.'),
  shaping: z
    .enum(['none', 'terminal', 'potential'])
    .default('none')
    .describe(
      'What training pays beside the hit, from the probability that a pretrained scorer gives: `terminal`: at the end of a walk that missed, that of the triple it claims (MultiHopKG); `potential`: at each step the gain in it, which leaves the best policy what it was.',
    ),
  shapingScorer: z
    .enum(['transe', 'bilinear'])
    .default('bilinear')
    .describe('Embeddings that the probability comes from: the section transe or bilinear trains them.'),
  shapingWeight: z.number().min(0).max(100).default(1).describe('Factor of what shaping pays; a hit pays 1.'),
});

/** Every setting with its value. */
export type LinkWalkSettings = z.output<typeof linkWalkSettings>;
