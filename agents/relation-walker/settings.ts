/** Settings of the relation walker's network and of what it reads. */
import { z } from 'zod';

/** The `relationWalker` section of a configuration file. */
export const relationWalkerSettings = z.strictObject({
  questionWidth: z.int().min(2).max(8192).default(256).describe('Units of the layer over the question vector.'),
  width: z.int().min(2).max(8192).default(256).describe('Units of the layer that joins question and relations walked.'),
  keepName: z
    .boolean()
    .default(false)
    .describe(
      'Whether the question vector sees the name of the topic instead of [E]; for ablations: it costs 16 points on MetaQA.',
    ),
  standardize: z
    .boolean()
    .default(true)
    .describe(
      'Whether every dimension of the question vector is scaled by mean and deviation over the train questions.',
    ),
  maxTokens: z.int().min(1).default(128).describe('Of a question, how many tokens count; the first are dropped.'),
});

export type RelationWalkerSettings = z.output<typeof relationWalkerSettings>;
