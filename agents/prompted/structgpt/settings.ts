/** Switches of StructGPT. */
import { z } from 'zod';
import { answersSwitch } from '../frontier-steps.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/settings.js';

/** The switches of `structgpt`, with their defaults. */
export const structGptSettings = z.strictObject({
  maxHops: z.int().min(1).max(8).default(3).describe('Longest walk where nothing ends it before.'),
  hops: hopsOrEndSwitch,
  answers: answersSwitch,
  facts: z.int().min(1).max(1000).default(60).describe('Facts in a prompt, one way to each entity reached.'),
  constraints: z
    .boolean()
    .default(true)
    .describe('On nodes that stand for an event: keep those whose facts hold what the question names.'),
  ...prefilterSettings,
});

export type StructGptSettings = z.output<typeof structGptSettings>;
