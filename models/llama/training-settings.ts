/** Settings of a language model's training. */
import { z } from 'zod';

/** The `training` section of the demo model's settings. */
export const trainingSettings = z.strictObject({
  tokens: z.int().min(1).default(6_500_000).describe('Tokens to see in all; the learning rate falls over them.'),
  stepTokens: z.int().min(64).default(2048).describe('Tokens of an update, about.'),
  partTokens: z
    .int()
    .min(64)
    .default(1536)
    .describe('Tokens that are computed at once; more need more memory and leave the cache of the processor.'),
  learningRate: z.number().positive().default(0.002).describe('Largest rate of AdamW.'),
  lastRate: z.number().min(0).max(1).default(0.05).describe('Part of the rate that is left at the end of the cosine.'),
  warmupTokens: z.int().min(0).default(200_000).describe('Tokens over which the rate rises from 0.'),
  beta2: z.number().min(0).max(1).default(0.98).describe('Decay of the second moment of AdamW.'),
  weightDecay: z.number().min(0).default(0.02).describe('Decoupled weight decay of AdamW.'),
  maxGradNorm: z.number().positive().default(1).describe('Largest norm of an update’s gradient.'),
  shortTokens: z
    .int()
    .min(0)
    .default(400_000)
    .describe('Tokens over which the longest document grows to the context: short ones teach to copy sooner.'),
  windowDocuments: z
    .int()
    .min(1)
    .default(128)
    .describe('Documents that are drawn together and batched by length; a training stops and saves between windows.'),
  logTokens: z.int().min(1).default(25_000).describe('Tokens between two lines of the log.'),
  watchTokens: z
    .int()
    .min(1)
    .default(500_000)
    .describe('Tokens between two looks at documents that are not trained on.'),
  saveTokens: z.int().min(1).default(250_000).describe('Tokens between two checkpoints.'),
});

/** Every setting with its value. */
export type TrainingSettings = z.output<typeof trainingSettings>;
