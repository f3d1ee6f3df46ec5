/** Switches of KG-GPT. */
import { z } from 'zod';
import { answersSwitch } from '../frontier-steps.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/settings.js';

/** The switches of `kg-gpt`, with their defaults. */
export const kgGptSettings = z.strictObject({
  relations: z.int().min(1).max(20).default(3).describe('Relations chosen for a part of the question, at most (K).'),
  split: z
    .enum(['auto', 'model', 'question'])
    .default('auto')
    .describe(
      'What each hop is asked with: a part of the question as the model splits it, or the question itself; auto is the latter where candidates are scored by likelihood.',
    ),
  hops: hopsSwitch,
  maxHops: z.int().min(1).max(8).default(3).describe('Most parts, and so the longest walk, where nobody tells.'),
  direction: z
    .enum(['dropped', 'kept'])
    .default('dropped')
    .describe(
      'Whether relations are offered by their bare names, either way (as in the paper), or each way for itself.',
    ),
  offered: z
    .enum(['hop', 'reached'])
    .default('hop')
    .describe(
      'What a later part may choose among: relations at that many steps from the topic (as in the paper), or those that lead on from what the parts before it reached.',
    ),
  evidence: z
    .enum(['all', 'reference'])
    .default('all')
    .describe('Which facts the walks give: all, or from the second hop on one tail a node, as in the reference.'),
  facts: z.int().min(1).max(1000).default(60).describe('Facts in the answer prompt, one way to each entity reached.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

export type KgGptSettings = z.output<typeof kgGptSettings>;
