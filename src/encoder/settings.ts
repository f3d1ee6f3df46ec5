/** Settings of the text encoder. */
import { z } from 'zod';
import { poolingChoices } from './embedding-model.js';

/** The `encoder` section of a configuration file. */
export const encoderSettings = z.strictObject({
  model: z
    .string()
    .optional()
    .describe(
      'model that turns texts into vectors (also --model): a GGUF file, the name of a downloaded model, demo for the embedded one, http(s)://HOST/v1#MODEL for a server, or hashed:DIM for a model-free encoder for tests',
    ),
  pooling: z
    .enum(poolingChoices)
    .default('model')
    .describe(
      'how one vector is made of those of a text’s tokens: model as the file says (the last token’s where it says nothing), last, or mean of all tokens, which evaluates every text whole',
    ),
  normalize: z.boolean().default(true).describe('scale every vector to length 1 (L2)'),
  lastMessageTokens: z
    .int()
    .min(1)
    .default(96)
    .describe('of the last message, how many tokens count; the oldest are dropped'),
  windowTokens: z
    .int()
    .min(1)
    .default(128)
    .describe('of the last messages together, how many tokens count; the oldest are dropped'),
  windowMessages: z.int().min(1).default(3).describe('how many last messages the window holds'),
  nameTokens: z.int().min(1).default(32).describe('of an entity or relation name, how many tokens count'),
  workers: z
    .int()
    .min(0)
    .max(64)
    .default(0)
    .describe(
      'texts encoded at the same time, one processor thread each; 0 = one a core, at most 4 (more needs UV_THREADPOOL_SIZE). Vectors do not depend on it',
    ),
  prefixReuse: z
    .enum(['off', 'auto'])
    .default('off')
    .describe(
      'auto evaluates what texts begin with alike once, where the model reads from left to right (a Llama, not a BERT): for long texts with a common beginning; its vectors differ in the last digits and are cached apart',
    ),
  gpu: z
    .enum(['off', 'auto'])
    .default('off')
    .describe(
      'auto uses a graphics card when there is one; its vectors differ in the last digits and are cached apart',
    ),
});

/** Settings that vectors and texts depend on; the model is known by its hash. */
export const vectorSettings = encoderSettings.omit({ model: true, workers: true }).strip();

/** Every setting with its value. */
export type EncoderSettings = z.output<typeof encoderSettings>;
