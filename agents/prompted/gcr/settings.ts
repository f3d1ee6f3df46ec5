/** Switches of GCR. */
import { z } from 'zod';
import { answersSwitch } from '../frontier-steps.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/settings.js';

/** The switches of `gcr`, with their defaults. */
export const gcrSettings = z.strictObject({
  beams: z.int().min(1).max(50).default(10).describe('Paths that the model names.'),
  level: z
    .enum(['chain', 'path'])
    .default('chain')
    .describe('What a named path stands for: everything that its relations lead to, or itself alone (the reference).'),
  hops: hopsSwitch,
  maxHops: z.int().min(1).max(4).default(2).describe('Longest path where the length is not given.'),
  maxChains: z.int().min(1).max(50_000).default(2000).describe('Relation sequences that are walked.'),
  maxCandidates: z
    .int()
    .min(1)
    .max(5000)
    .default(200)
    .describe('Paths that may be named: each relation sequence gives one in turn until there are so many.'),
  hub: z
    .int()
    .min(1)
    .max(10_000_000)
    .default(10_000)
    .describe('Real paths beyond which relation sequences are chosen first, and paths of these alone.'),
  sequences: z.int().min(1).max(20).default(3).describe('Relation sequences that are chosen at a hub.'),
  maxPaths: z.int().min(1).max(1000).default(60).describe('Facts of each sequence that the answer is read from.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

export type GcrSettings = z.output<typeof gcrSettings>;
