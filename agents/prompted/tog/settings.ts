/** Switches of Think-on-Graph. */
import { z } from 'zod';
import { answersSwitch } from '../frontier-steps.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

/** The switches of `tog`, with their defaults. */
export const togSettings = z.strictObject({
  width: z.int().min(1).max(20).default(3).describe('Beams kept after every depth (N).'),
  depth: z.int().min(1).max(8).default(3).describe('Longest path explored (D).'),
  prune: z
    .enum(['model', 'bm25', 'embedding'])
    .default('model')
    .describe('Who scores relations and entities: the language model, word overlap, or sentence vectors (no calls).'),
  ...prefilterSettings,
  share: z
    .enum(['none', 'beams'])
    .default('none')
    .describe('One call per beam for its relations, or one shared by all beams of a depth (as in ToG-2).'),
  hops: hopsOrEndSwitch,
  answers: answersSwitch,
  frontierLimit: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe('Maximum entities of a whole set; of more, those with the most paths are kept.'),
  maxCandidates: z
    .int()
    .min(2)
    .max(500)
    .default(20)
    .describe('Entities of one relation that are scored; more are reduced first.'),
  reduction: z
    .enum(['first', 'sample'])
    .default('first')
    .describe(
      'How more entities than that are reduced: the first by id, or `retain` of them drawn by seed (the reference draws without one).',
    ),
  retain: z.int().min(1).max(100).default(5).describe('Entities kept by `reduction: sample`.'),
  noReturn: z
    .enum(['edge', 'relation'])
    .default('edge')
    .describe(
      'What a path may not do next: walk back the edge it came by, or take the inverse of its last relation at all (the reference), which closes every question about "other films of the same director".',
    ),
  finalPolicy: z
    .enum(['triples', 'cot'])
    .default('triples')
    .describe(
      'What the answer rests on when the depth is exhausted: the facts found, or the model alone (as in the paper).',
    ),
});

export type TogSettings = z.output<typeof togSettings>;
