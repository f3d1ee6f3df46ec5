/** The `data` section of a configuration. */
import { z } from 'zod';

/** A number of samples; null: all. */
const sampleCount = z.int().min(1).nullable().default(null);

/** Schema of the section. */
export const dataSettings = z.strictObject({
  dataset: z.string().min(1).default('opendialkg').describe('Name of an imported data set (`kgwalk datasets list`).'),
  graph: z
    .string()
    .min(1)
    .default('dialogue')
    .describe(
      'Graph of the dialogues (questions have their own): for opendialkg `dialogue` (only entities of its dialogues, so unrealistically easy) or `wide` (with real distractors). Results on different graphs are not comparable.',
    ),
  turns: z
    .enum(['all', 'assistant'])
    .default('all')
    .describe('Paths used as samples: of both speakers, or only those chosen by the assistant.'),
  maxDialogues: sampleCount.describe(
    'Maximum number of dialogues per split, for quick trials; null: all. Scores on a part are not representative.',
  ),
  oracle: z
    .enum(['reply'])
    .nullable()
    .default(null)
    .describe(
      'Diagnostic: `reply` appends the message written after the path choice, in training and evaluation, which real use does not have; records are marked. It measures how much of the gold its reply reveals. null: the real task.',
    ),
  fold: z
    .string()
    .regex(/^[1-9]\d*\/[1-9]\d*$/, 'expected K/N such as 1/2')
    .refine((text) => Number(text.split('/')[0]) <= Number(text.split('/')[1]), 'expected K of at most N')
    .refine((text) => !text.endsWith('/1'), 'expected two folds or more')
    .nullable()
    .default(null)
    .describe(
      'K/N: leave fold K of N out of training and of all train counts, so that its turns can be judged by a run that has not seen them; folds are hashed from dialogue ids; null: none.',
    ),
  trainSamples: sampleCount.describe(
    'Number of train samples (dialogues, questions or link triples), drawn by a fixed seed; null: all. Train counts (popular targets, seen targets) use the drawn samples.',
  ),
  validSamples: sampleCount.describe(
    'Number of valid samples (dialogues or link triples), drawn by a fixed seed, in training and in `kgwalk evaluate RUN --split valid`; null: all. Test is never sampled.',
  ),
  subsets: z
    .union([z.literal('all'), z.array(z.string().min(1)).min(1)])
    .default('all')
    .describe('Subsets of a question data set, such as [2-hop, 3-hop].'),
  holdOut: z
    .union([z.enum(['question', 'template', 'type']), z.templateLiteral(['type:', z.int().min(0).max(999_999_999)])])
    .default('question')
    .describe(
      'Hold-out, shared by train with neither valid nor test: questions, templates (text without topic), or (test only) question types: those of the data set, or type:N for draw N.',
    ),
});

/** All settings with their values. */
export type DataSettings = z.output<typeof dataSettings>;

/** Walks suggested by turns without annotation: `clone.linkedTurns`, also read when loading a run. */
export const linkedTurnSettings = z.strictObject({
  weight: z
    .number()
    .positive()
    .max(1)
    .default(0.5)
    .describe('Weight of a linked turn in the loss; annotated turns have 1.'),
  inCounts: z
    .boolean()
    .default(true)
    .describe('Include their walks in the counts of train walks (walker.trainCounts).'),
});

/** All settings with their values. */
export type LinkedTurnSettings = z.output<typeof linkedTurnSettings>;
