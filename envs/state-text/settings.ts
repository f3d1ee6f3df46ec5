/** Settings of the text of a state: the `stateText` section of a configuration file. */
import { z } from 'zod';

/** The `stateText` section of a configuration file. */
export const stateTextSettings = z.strictObject({
  encode: z
    .enum(['once', 'per-step'])
    .default('once')
    .describe(
      'What the encoder reads: the last messages, once a turn, or the whole text of every state that a walk comes to (the full textual environment of LLM-ARK; for a Llama set encoder.prefixReuse=auto). The other settings here are of the second.',
    ),
  template: z
    .enum(['normal', 'alpaca', 'none'])
    .default('normal')
    .describe(
      'What stands around the fields: the task and an instruction, the same under headings as Alpaca has them, or nothing.',
    ),
  history: z.boolean().default(true).describe('Whether the messages before the last one are told.'),
  earlierPaths: z.boolean().default(true).describe('Whether the paths that the dialogue took before are told.'),
  outPaths: z
    .int()
    .min(0)
    .max(1000)
    .default(0)
    .describe(
      'Most edges of the current entity that are told, in the graph’s order. They change at every step, so they cost.',
    ),
  maxTokens: z
    .int()
    .min(32)
    .max(131_072)
    .default(320)
    .describe(
      'Tokens of a text. What is too long loses its oldest messages, then its oldest earlier paths; the last message, the walk, the entity and the step are never cut, and where they alone do not fit the model’s context, that is an error.',
    ),
  walkTokens: z
    .int()
    .min(0)
    .max(131_072)
    .default(96)
    .describe('Of them, how many are kept free for the walk, so that all states of a task begin with the same text.'),
});

/** Every setting with its value. */
export type StateTextSettings = z.output<typeof stateTextSettings>;
