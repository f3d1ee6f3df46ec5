/** Switches of RoG. */
import { z } from 'zod';
import { answersSwitch } from '../frontier-steps.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/settings.js';

/** The switches of `rog`, with their defaults. */
export const rogSettings = z.strictObject({
  plans: z.int().min(1).max(20).default(3).describe('Relation sequences that are planned.'),
  vocabulary: z
    .enum(['reachable', 'graph', 'free'])
    .default('reachable')
    .describe(
      'What a plan may hold: relations that lead on from the topic, all of the graph, or what the model writes (the paper); where words are scored free is graph.',
    ),
  hops: hopsSwitch,
  maxHops: z.int().min(1).max(4).default(2).describe('Longest plan where the length is not given.'),
  maxChains: z.int().min(1).max(50_000).default(6000).describe('Sequences that the grammar may hold.'),
  maxPaths: z.int().min(1).max(1000).default(60).describe('Facts of each plan that the answer is read from.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

export type RogSettings = z.output<typeof rogSettings>;
