/** Settings of the demo’s model; README.md says what the committed one was trained with. */
import { z } from 'zod';
import { trainingSettings } from '../llama/training-settings.js';

/** Settings of the demo model's training. */
export const demoModelSettings = z.strictObject({
  seed: z.int().default(1).describe('Of starting weights, corpus and order.'),
  model: z
    .strictObject({
      vocabSize: z.int().min(300).max(65_535).default(2048).describe('Tokens of the byte-pair vocabulary.'),
      contextLength: z.int().min(64).default(1024).describe('Longest sequence, tokens.'),
      dim: z.int().min(8).default(256).describe('Length of a token’s state; a multiple of `heads`.'),
      layers: z.int().min(1).default(4).describe('Blocks of attention and SwiGLU.'),
      heads: z.int().min(1).default(8).describe('Query heads.'),
      kvHeads: z.int().min(1).default(2).describe('Key and value heads; divides `heads`.'),
      hiddenDim: z.int().min(8).default(640).describe('Width of the SwiGLU layer.'),
      ropeTheta: z.number().positive().default(10_000).describe('Base of the rotary position angles.'),
      normEps: z.number().positive().default(1e-5).describe('Added to the mean square in RMSNorm.'),
    })
    .prefault({}),
  corpus: z
    .strictObject({
      dialogues: z.string().default('demo').describe('Data set of dialogues.'),
      questions: z.string().default('demo-questions').describe('Data set of questions.'),
      moreQuestions: z
        .int()
        .min(0)
        .default(12_000)
        .describe('Questions made for the corpus alone, in addition to those of train.'),
      characters: z.int().min(1000).default(24_000_000).describe('Text to train on.'),
      watchCharacters: z.int().min(1000).default(250_000).describe('Text whose loss is watched.'),
      vocabularyCharacters: z.int().min(1000).default(4_000_000).describe('Text that the vocabulary is learned from.'),
    })
    .prefault({}),
  training: trainingSettings.prefault({}),
});

/** Every setting with its value. */
export type DemoModelSettings = z.output<typeof demoModelSettings>;
