/** Settings of readers: question agents that learn from questions and answers without walking by PPO. */
import { z } from 'zod';
import { entitySettings } from './entities/settings.js';
import { embedKgqaSettings } from './embed-kgqa/settings.js';

/** Names of the kinds, in the order of the documentation; `registry.ts` has a line for each. */
export const readerKinds = [
  'nsm-chains',
  'transfernet-chains',
  'independent',
  'walker-chains',
  'uni-kgqa',
  'embed-kgqa',
  'nsm',
  'kv-mem',
] as const;
/** One of `readerKinds`. */
export type ReaderKindName = (typeof readerKinds)[number];

const fitSettings = z.strictObject({
  steps: z.int().min(1).default(400).describe('Steps down the gradient.'),
  batchSize: z.int().min(1).max(65536).default(64).describe('Questions of train a step.'),
  learningRate: z.number().positive().max(1).default(4e-3).describe('Of the first step; falls linearly from there.'),
  finalLearningRateShare: z.number().min(0).max(1).default(0.05).describe('Share of it that the last step has.'),
  maxGradNorm: z.number().positive().default(1).describe('Largest global gradient norm.'),
  dropout: z
    .number()
    .min(0)
    .max(0.9)
    .default(0.2)
    .describe('Share of numbers that a step leaves out where a reader does so.'),
  evalEvery: z
    .int()
    .min(1)
    .default(50)
    .describe('Steps between evaluations on valid, each of which writes a checkpoint.'),
  evalSamples: z
    .int()
    .min(1)
    .nullable()
    .default(1000)
    .describe('Valid questions that curves and the best checkpoint are made of, a seeded sample; null: all.'),
});

/** The `reader` section of a configuration file. */
export const readerSettings = z.strictObject({
  kind: z.enum(readerKinds).default('nsm-chains').describe('Which reader: see docs/readers.md.'),
  words: z
    .enum(['frozen', 'trained'])
    .default('frozen')
    .describe(
      'Vectors of words: each word encoded by itself by the frozen encoder and projected, or a table that is learned, where words that train lacks share a row.',
    ),
  reads: z
    .enum(['sentence', 'words'])
    .default('sentence')
    .describe(
      'What readers without attention make a question of: the frozen vector of its text, or the ends of a GRU over its words.',
    ),
  hops: z
    .enum(['instructions', 'pooled', 'given'])
    .nullable()
    .default(null)
    .describe(
      'Source of the number of relations of a question: the attended words, the question as one vector, or the data set. null: the kind’s own.',
    ),
  order: z
    .enum(['forward', 'backward'])
    .nullable()
    .default(null)
    .describe(
      'Which relation of a chain is read first: the one at the topic, or the one at the answer. null: the kind’s own.',
    ),
  wordDim: z
    .int()
    .min(1)
    .max(4096)
    .default(64)
    .describe('Numbers of a word’s vector behind the projection, or in the table.'),
  width: z.int().min(2).max(4096).default(64).describe('Units of a GRU each way; attention has twice as many.'),
  hidden: z.int().min(1).max(8192).default(256).describe('Units of the layer that readers of one vector have.'),
  maxWords: z.int().min(1).max(512).default(64).describe('Words of a question that count; the first are dropped.'),
  widest: z
    .int()
    .min(1)
    .default(1000)
    .describe(
      'Largest entity set that chains continue from in training: bounds the chains that are tried of a question.',
    ),
  shots: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Train questions of a template that are learned from; null: all.'),
  pretrain: z
    .strictObject({
      steps: z
        .int()
        .min(0)
        .default(100)
        .describe('Of fit.steps the first, which bring questions near their relations.'),
      temperature: z.number().positive().max(10).default(0.05).describe('What cosines are divided by.'),
    })
    .prefault({})
    .describe('Kind uni-kgqa: contrastive pretraining on the relations of the chains that answer train best.'),
  ...embedKgqaSettings,
  ...entitySettings,
  fit: fitSettings.prefault({}),
});

/** Every setting with its value. */
export type ReaderSettings = z.output<typeof readerSettings>;
